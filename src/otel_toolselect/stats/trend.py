"""Figures per tool over runs, by label or by day (R47).

A point is all judged runs of one label, or of one day in a time zone; its figures are those of `stats.confusion` and
the observation-level accuracy over just these runs. Labels stand in the order of their first run, days in their own.
A day without runs is no point: no data is not zero.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from otel_toolselect.model.figures import Confusion, Rate
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.stats.confusion import confusion
from otel_toolselect.stats.rates import rate_of
from otel_toolselect.stats.repeats import selected


@dataclass(frozen=True, slots=True)
class Point:
    name: str
    runs: int
    accuracy: Rate
    confusion: Confusion


def trend(runs: Iterable[RunVerdict], name: Callable[[RunVerdict], str]) -> tuple[Point, ...]:
    """One point per name, in order of the first run (runs without a time first), then of the name."""
    points: dict[str, list[RunVerdict]] = defaultdict(list)
    for run in runs:
        if run.excluded is None:
            points[name(run)].append(run)
    order = sorted(points, key=lambda key: (min(run.start_ns for run in points[key]), key))
    return tuple(_point(key, points[key]) for key in order)


def by_label(run: RunVerdict) -> str:
    return run.label or "(no label)"


def by_day(zone: tzinfo = UTC) -> Callable[[RunVerdict], str]:
    """The day on which a run began, as YYYY-MM-DD in a time zone."""

    def day(run: RunVerdict) -> str:
        if not run.start_ns:
            return "(no time)"
        try:
            return f"{datetime.fromtimestamp(run.start_ns // 10**9, zone):%Y-%m-%d}"
        except (OverflowError, ValueError, OSError):  # a broken clock
            return "(no time)"

    return day


def _point(name: str, runs: list[RunVerdict]) -> Point:
    accuracy = rate_of(passed for passed in map(selected, runs) if passed is not None)
    return Point(name, len(runs), accuracy, confusion(cell for run in runs for cell in run.cells))
