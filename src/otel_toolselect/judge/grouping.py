"""From traces that are due to groups that are assembled together: each due trace with the traces that something ties it
to, as runs may be stitched across traces (design section 4).

It remembers, within bounds, what it has seen: the ties of traces and the runs that were made of them. What it has
forgotten, or never saw, the store knows.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from otel_toolselect.assemble import Bonds, bonds
from otel_toolselect.dialects import read
from otel_toolselect.judge.seen import SeenBefore
from otel_toolselect.judge.waiting import Slot
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.runs import Run
from otel_toolselect.store import Store

log = logging.getLogger(__name__)

REMEMBERED = 200_000
"""Traces whose runs are remembered, and bonds of traces that are."""
LARGEST_GROUP = 1_000
"""Traces that are assembled together at most; ids that every trace repeats would otherwise tie everything."""


@dataclass(slots=True)
class Group:
    """Traces that are assembled together. `earlier`: runs that were made of them before."""

    trace_ids: list[str] = field(default_factory=list)
    observations: list[Observation] = field(default_factory=list)
    earlier: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Trace:
    observations: list[Observation]
    bonds: Bonds


class Grouping:
    """Not safe for threads. `sole_writer`: see `judge.live`."""

    def __init__(self, store: Store, *, sole_writer: bool) -> None:
        self._store = store
        self._sole_writer = sole_writer
        self._runs: OrderedDict[str, tuple[str, ...]] = OrderedDict()  # trace id -> runs made of it
        self._before = SeenBefore()
        self._offered = _Index()
        self._wanted = _Index()
        self.read_back = 0
        """Traces that were read from the store."""

    def groups(self, slots: Sequence[Slot]) -> list[Group]:
        """Every trace of the slots in one group, and in no other. Raises StoreError."""
        seen = self._see(slots)  # all of them first: a group is closed under the bonds of every trace at hand
        found: list[Group] = []
        done: set[str] = set()
        for slot in slots:
            if slot.trace_id not in done:
                found.append(self._group(slot.trace_id, seen, done))
        return found

    def remember(self, group: Group, runs: Iterable[Run]) -> None:
        """The runs that stand for a group now."""
        made: dict[str, list[str]] = {trace_id: [] for trace_id in group.trace_ids}
        for run in runs:
            for trace_id in run.trace_ids:
                made.setdefault(trace_id, []).append(run.run_id)
        for trace_id in group.trace_ids:
            self._before.add(trace_id)
        for trace_id, ids in made.items():
            self._runs[trace_id] = tuple(ids)
            self._runs.move_to_end(trace_id)
        while len(self._runs) > REMEMBERED:
            self._runs.popitem(last=False)

    def recall(self, trace_ids: Iterable[str]) -> None:
        """Traces that this process did not judge, but another may have."""
        for trace_id in trace_ids:
            self._before.add(trace_id)

    def _group(self, start: str, seen: dict[str, _Trace], done: set[str]) -> Group:
        group = Group()
        frontier = [start]
        while frontier:
            ids = [t for t in dict.fromkeys(frontier) if t not in done]
            done.update(ids)
            missing = [Slot(t, 0.0, held=False) for t in ids if t not in seen]
            if missing:
                seen |= self._see(missing)
            frontier = []
            for trace_id in ids:
                one = seen.pop(trace_id)
                group.trace_ids.append(trace_id)
                group.observations += one.observations
                group.earlier.update(self._runs.get(trace_id, ()))
                frontier += self._offered.holders(one.bonds.wants) + self._wanted.holders(one.bonds.offers)
            if len(group.trace_ids) >= LARGEST_GROUP and frontier:
                log.warning("%d traces are tied together, the rest is assembled apart", len(group.trace_ids))
                break
        return group

    def _see(self, slots: Sequence[Slot]) -> dict[str, _Trace]:
        """Each trace as the dialects read it: from fresh spans where those are all there is, else from the store."""
        found: dict[str, list[Observation]] = {}
        stored: list[str] = []
        for slot in slots:
            if self._sole_writer and slot.whole and slot.trace_id not in self._before:
                found[slot.trace_id] = read(slot.spans, slot.logs)
            else:
                stored.append(slot.trace_id)
        if stored:
            found |= self._read_back(stored)
        return {trace_id: self._noted(trace_id, observations) for trace_id, observations in found.items()}

    def _noted(self, trace_id: str, observations: list[Observation]) -> _Trace:
        own = bonds(observations)
        self._offered.add(own.offers, trace_id)
        self._wanted.add(own.wants, trace_id)
        return _Trace(observations, own)

    def _read_back(self, trace_ids: Sequence[str]) -> dict[str, list[Observation]]:
        self.read_back += len(trace_ids)
        unknown = [t for t in trace_ids if t not in self._runs]
        if unknown:
            self._runs.update(self._store.runs_of_traces(unknown))
        found: dict[str, list[Observation]] = {t: [] for t in trace_ids}
        for spans, logs in self._store.traces(trace_ids=trace_ids):
            found[spans[0].trace_id if spans else logs[0].trace_id] = read(spans, logs)
        return found


class _Index:
    """Which traces hold a key; the oldest keys are forgotten. Keys are kept by hash: two that share one tie two traces
    that need not be, which costs time and changes no run.
    """

    def __init__(self) -> None:
        self._held: dict[int, tuple[str, ...]] = {}

    def add(self, keys: Iterable[str], trace_id: str) -> None:
        for key in map(hash, keys):
            known = self._held.pop(key, ())
            self._held[key] = known if trace_id in known else (*known, trace_id)[-LARGEST_GROUP:]
        while len(self._held) > REMEMBERED:
            del self._held[next(iter(self._held))]

    def holders(self, keys: Iterable[str]) -> list[str]:
        return [trace_id for key in keys for trace_id in self._held.get(hash(key), ())]
