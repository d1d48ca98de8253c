"""Trend lines of the HTML report: selection and each tool's recall over labels, else over days in UTC (R47).

There is a trend when the judged runs have two labels or more, or else began on two days or more; its points are those
of `stats.trend`. A figure that is undefined at a point is a gap in the line, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otel_toolselect.model.figures import Report
from otel_toolselect.reports._text import visible
from otel_toolselect.reports._words import counted
from otel_toolselect.stats.trend import Point, by_day, by_label, trend

POINTS_SHOWN = 30  # the latest
Figure = tuple[float | None, int, int]


def trend_view(report: Report) -> dict[str, Any] | None:
    """Columns and rows for the template; None when there is nothing to compare."""
    over, points = "label", trend(report.runs, by_label)
    if len(points) < 2:
        over, points = "day", trend(report.runs, by_day())
    if len(points) < 2:
        return None
    points = points[-POINTS_SHOWN:]
    tools = sorted({name for point in points for name, tool in point.confusion.tools.items() if tool.support})
    rows = [_row("selection", [_accuracy(point) for point in points])]
    rows += [_row(f"recall of {visible(name)}", [_recall(point, name) for point in points]) for name in tools]
    return {"over": over, "columns": [visible(point.name) for point in points], "rows": rows}


def _accuracy(point: Point) -> Figure:
    return point.accuracy.rate, point.accuracy.passed, point.accuracy.n


def _recall(point: Point, name: str) -> Figure:
    tool = point.confusion.tools.get(name)
    return (None, 0, 0) if tool is None else (tool.recall, tool.correct, tool.support)


def _row(name: str, figures: Sequence[Figure]) -> dict[str, Any]:
    return {"name": name, "lines": _lines([share for share, _, _ in figures]), "cells": [counted(*f) for f in figures]}


def _lines(shares: Sequence[float | None]) -> list[str]:
    """Points of polylines in a box of 100 x 30, a new one after each gap; a lone point is a short dash."""
    step = 100 / (len(shares) - 1)
    found: list[list[tuple[float, float]]] = [[]]
    for i, share in enumerate(shares):
        if share is None:
            found.append([])
        else:
            found[-1].append((i * step, 28 - 26 * share))
    dashes = [[(x - 1.5, y), (x + 1.5, y)] if len(line) == 1 else line for line in found if line for x, y in line[:1]]
    return [" ".join(f"{x:.1f},{y:.1f}" for x, y in line) for line in dashes]
