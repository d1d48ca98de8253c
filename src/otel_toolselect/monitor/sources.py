"""Observations out of a store (`monitor.alerts.source`): figures over windows, with what they are compared with.

`ingest_lag_p95` is the one signal whose windows are those of arrival: how late things come is seen when they come.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from otel_toolselect.model.alerting import Observed, Query, Reference, Series, Window, WindowSpec
from otel_toolselect.model.gating import Baseline
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.monitor.alerts.drifting import confusion_drifted, tools_drifted
from otel_toolselect.monitor.alerts.wording import instant
from otel_toolselect.monitor.references import (
    HORIZON_NS,
    Baselines,
    Place,
    before_release,
    cells_of,
    figure_of,
    mix_of,
    name_of,
)
from otel_toolselect.stats.windows import Windows
from otel_toolselect.store import Store

WINDOWS_PER_QUERY = 96
"""Their bounds go into the address of a request, which has a limit."""
LAG = "ingest_lag_p95"
DRIFTS = ("drift_tools", "drift_confusion")
_REMEMBERED_S = 600.0
Mix: TypeAlias = Mapping[str, int]
Against: TypeAlias = Place | Baseline | None


@dataclass(slots=True)
class Memory:
    """Figures of stretches that many windows are compared with, kept for ten minutes: late data reach them by then."""

    clock: Callable[[], float] = time.monotonic
    _kept: dict[tuple[Query, Window], tuple[float, object]] = field(default_factory=dict)

    def get(self, key: tuple[Query, Window]) -> object | None:
        found = self._kept.get(key)
        return found[1] if found is not None and self.clock() - found[0] < _REMEMBERED_S else None

    def put(self, key: tuple[Query, Window], value: object) -> None:
        now = self.clock()
        self._kept = {k: v for k, v in self._kept.items() if now - v[0] < _REMEMBERED_S}
        self._kept[key] = (now, value)


@dataclass(frozen=True, slots=True)
class StoreSource:
    """`alerts.Source` of the alerts whose windows are cut by `spec`."""

    store: Store
    spec: WindowSpec
    baselines: Baselines = field(default_factory=lambda: Baselines({}))
    memory: Memory = field(default_factory=Memory)

    def observe(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Observed, ...]]:
        """Raises StoreError, and InputError for what a signal cannot be asked."""
        found: dict[Series, dict[Window, Observed]] = {}
        for start in range(0, len(windows), WINDOWS_PER_QUERY):
            part = windows[start : start + WINDOWS_PER_QUERY]
            seen = self._drifts(query, part) if query.signal in DRIFTS else self._figures(query, part)
            for series, observed in seen.items():
                found.setdefault(series, {}).update(zip(part, observed, strict=True))
        return {
            series: tuple(by_window.get(window) or _nothing(query, window) for window in windows)
            for series, by_window in found.items()
        }

    # figures

    def _figures(self, query: Query, windows: Sequence[Window]) -> dict[Series, tuple[Observed, ...]]:
        plain = replace(query, against=None, period=None)
        found = self._plain(plain, windows)
        if query.against is None:
            return dict(found)
        against = self._against(query, windows, found)
        kept = query.against != "previous"
        behind = self._behind(plain, against, kept=kept)
        return {
            series: tuple(
                replace(o, reference=_reference(query, series, o, against[series, w], behind))
                for w, o in zip(windows, observed, strict=True)
            )
            for series, observed in found.items()
        }

    def _plain(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Observed, ...]]:
        return (self.store.alerts.lag if query.signal == LAG else self.store.observe)(query, windows)

    def _behind(
        self, query: Query, against: Mapping[tuple[Series, Window], Against], *, kept: bool
    ) -> dict[Window, Mapping[Series, Observed]]:
        """The figures of the stretches that are compared with."""
        wanted = sorted({place.window for place in against.values() if isinstance(place, Place)})
        found: dict[Window, Mapping[Series, Observed]] = {}
        for window in wanted:
            remembered = self.memory.get((query, window)) if kept else None
            if isinstance(remembered, Mapping):
                found[window] = remembered
        missing = [window for window in wanted if window not in found]
        for start in range(0, len(missing), WINDOWS_PER_QUERY):
            part = missing[start : start + WINDOWS_PER_QUERY]
            rows = self._plain(query, part)
            for i, window in enumerate(part):
                found[window] = {series: observed[i] for series, observed in rows.items()}
                if kept:
                    self.memory.put((query, window), found[window])
        return found

    # drift

    def _drifts(self, query: Query, windows: Sequence[Window]) -> dict[Series, tuple[Observed, ...]]:
        plain = replace(query, against=None, period=None)
        found = self.store.mixes(plain, windows)
        against = self._against(query, windows, found)
        places = sorted({place.window for place in against.values() if isinstance(place, Place)})
        behind: dict[tuple[Series, Window], Mix] = {}
        for start in range(0, len(places), WINDOWS_PER_QUERY):
            part = places[start : start + WINDOWS_PER_QUERY]
            for series, mixes in self.store.mixes(plain, part).items():
                behind |= {(series, window): mix for window, mix in zip(part, mixes, strict=True)}
        return {
            series: tuple(
                _drifted(query, series, window, mix, against[series, window], behind)
                for window, mix in zip(windows, mixes, strict=True)
            )
            for series, mixes in found.items()
        }

    # what to compare with

    def _against(
        self, query: Query, windows: Sequence[Window], found: Mapping[Series, object]
    ) -> dict[tuple[Series, Window], Against]:
        if query.against == "previous":
            back = {w: Windows(self.spec).back(w, query.period) for w in windows}
            return {
                (series, w): Place(back[w], f"the window of {instant(back[w].start_ns)}")
                for series in found
                for w in windows
            }
        if query.against == "baseline":
            place = self.baselines.place()
            return {(s, w): self.baselines.of(query, s) or place for s in found for w in windows}
        if query.against is None or query.signal == LAG or not windows:
            return {(series, w): None for series in found for w in windows}
        since, until = min(w.end_ns for w in windows) - HORIZON_NS, max(w.end_ns for w in windows)
        seen = self.store.alerts.sightings(query, since_ns=since, until_ns=until)
        groups = {series: seen.get(tuple(pair for pair in series if pair[0] != "tool"), ()) for series in found}
        return {(series, w): before_release(groups[series], w) for series in found for w in windows}


def _reference(
    query: Query,
    series: Series,
    observed: Observed,
    against: Against,
    behind: Mapping[Window, Mapping[Series, Observed]],
) -> Reference | None:
    if against is None:
        return None
    if isinstance(against, Baseline):
        return figure_of(against, query, series)
    before = behind[against.window].get(series) or _nothing(query, against.window)
    length = (observed.end_ns - observed.start_ns) / (before.end_ns - before.start_ns)
    return Reference(before.value, before.n, before.numerator, against.name, length)


def _drifted(
    query: Query,
    series: Series,
    window: Window,
    mix: Mix,
    against: Against,
    behind: Mapping[tuple[Series, Window], Mix],
) -> Observed:
    name = name_of(against) if isinstance(against, Baseline) else against.name if against is not None else ""
    before = behind.get((series, against.window), {}) if isinstance(against, Place) else {}
    if query.signal == "drift_tools":
        return tools_drifted(window, mix_of(against) if isinstance(against, Baseline) else before, mix, name)
    cells = cells_of(against) if isinstance(against, Baseline) else _cells(before)
    return confusion_drifted(window, cells, _cells(mix), name)


def _cells(mix: Mix) -> dict[Cell, int]:
    """Pairs as ClickHouse writes a tuple of texts, which is how Python does."""
    return {Cell(*ast.literal_eval(pair)): n for pair, n in mix.items()}


def _nothing(query: Query, window: Window) -> Observed:
    return Observed(window.start_ns, window.end_ns, 0.0 if SIGNALS[query.signal].empty_is_zero else None, 0)
