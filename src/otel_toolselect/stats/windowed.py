"""Confusion over windows of event time, with n and intervals (R44, R48; issue F point 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otel_toolselect.model.alerting import Series, Window, WindowSpec
from otel_toolselect.model.answers import Windowed as Windowed
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats.confusion import confusion_of
from otel_toolselect.stats.rates import rate
from otel_toolselect.stats.windows import Windows


def windows_between(spec: WindowSpec, since_ns: int, until_ns: int) -> list[Window]:
    """The windows that hold a time in [since_ns, until_ns), in order. Raises ValueError as `Windows` does."""
    cut = Windows(spec)
    found = list(cut.containing(since_ns)) if since_ns < until_ns else []
    for start in cut.boundaries(since_ns, until_ns):
        window = cut.containing(start)[-1]
        if window.start_ns == start and window not in found[-1:]:
            found.append(window)
    return found


def windowed(counts: Mapping[Series, Sequence[Mapping[Cell, int]]], windows: Sequence[Window]) -> tuple[Windowed, ...]:
    """In order of the window, then of the series; a window in which nothing was seen of a series is there, with n 0."""
    return tuple(
        _of(window, series, cells[i]) for i, window in enumerate(windows) for series, cells in sorted(counts.items())
    )


def _of(window: Window, series: Series, cells: Mapping[Cell, int]) -> Windowed:
    right = sum(n for cell, n in cells.items() if cell.expected == cell.observed)
    return Windowed(window, series, rate(right, sum(cells.values())), confusion_of(cells))
