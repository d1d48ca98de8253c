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
from otel_toolselect.judge.bonding import Index, wide
from otel_toolselect.judge.crew import Crew
from otel_toolselect.judge.seen import SeenBefore
from otel_toolselect.judge.waiting import Slot
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.runs import Run
from otel_toolselect.store import Store
from otel_toolselect.store.crew_api import TraceBonds

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
    """Not safe for threads. `sole_writer`, `source`: see `judge.live`. `crew`: others that judge
    traces of the same store, with whom bonds are exchanged.
    """

    def __init__(
        self, store: Store, *, sole_writer: bool, source: Store | None = None, crew: Crew | None = None
    ) -> None:
        self._store = store
        self._source = source or store
        self._sole_writer = sole_writer
        self._crew = crew
        self._runs: OrderedDict[str, tuple[str, ...]] = OrderedDict()  # trace id -> runs made of it
        self._before = SeenBefore()
        hashing = hash if crew is None else wide
        self._offered = Index(REMEMBERED, LARGEST_GROUP, hashing)
        self._wanted = Index(REMEMBERED, LARGEST_GROUP, hashing)
        self.as_of: int | None = None
        """With a crew the mark of what was grouped last."""
        self.read_back = 0
        """Traces that were read from the store."""

    def groups(self, slots: Sequence[Slot]) -> list[Group]:
        """Every trace of the slots in one group, and in no other. Raises StoreError."""
        seen = self._see(slots)  # all of them first: a group is closed under the bonds of every trace at hand
        if self._crew is not None:
            self.as_of, others = self._crew.meet({trace_id: trace.bonds for trace_id, trace in seen.items()})
            self._hear(others)
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

    def outdated(self, groups: Sequence[Group]) -> list[str]:
        """Traces of those groups that another worker may have judged meanwhile, and of which other runs stand than were
        made here, or some that were read later. Raises StoreError.
        """
        crew = self._crew
        if crew is None:
            return []
        met = self._hear(crew.hear())
        touched = [g for g in groups if not (met.isdisjoint(g.trace_ids) and all(map(crew.owns, g.trace_ids)))]
        return self._otherwise(touched)

    def _hear(self, others: Iterable[TraceBonds]) -> set[str]:
        """Remembers the bonds of traces that others read; which traces are tied to those."""
        met: set[str] = set()
        for other in others:
            met.update(self._offered.holders_hashed(other.wants), self._wanted.holders_hashed(other.offers))
            self._offered.add_hashed(other.offers, other.trace_id)
            self._wanted.add_hashed(other.wants, other.trace_id)
        return met

    def _otherwise(self, groups: Sequence[Group]) -> list[str]:
        found: list[str] = []
        for group in groups:
            made = {run_id for trace_id in group.trace_ids for run_id in self._runs.get(trace_id, ())}
            standing = self._store.crews.runs(group.trace_ids)
            if made != standing.keys() or any(mark > (self.as_of or 0) for mark in standing.values()):
                found += group.trace_ids
        return found

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
        if self._crew is not None:  # another may have judged them since
            for trace_id in trace_ids:
                self._runs.pop(trace_id, None)
        unknown = [t for t in trace_ids if t not in self._runs]
        if unknown:
            self._runs.update(self._store.runs_of_traces(unknown))
        found: dict[str, list[Observation]] = {t: [] for t in trace_ids}
        for spans, logs in self._source.traces(trace_ids=trace_ids):
            found[spans[0].trace_id if spans else logs[0].trace_id] = read(spans, logs)
        return found
