"""Confusion over windows for people and programs (R44, R48)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from otel_toolselect.model.figures import ToolFigures
from otel_toolselect.reports._figures import rate_record
from otel_toolselect.reports._layout import Block, Cell, Grid, Heading, paint
from otel_toolselect.reports._plain import dumps
from otel_toolselect.reports._records import timestamp
from otel_toolselect.reports._words import count, counted, interval
from otel_toolselect.reports.json import confusion_record
from otel_toolselect.reports.table import columns, matrix, pairs, tools
from otel_toolselect.stats.rates import rate
from otel_toolselect.stats.windowed import Windowed
from otel_toolselect.stats.windows import zone_named

WINDOWS_SCHEMA = "toolselect.windows/1"


def windows_json(found: Sequence[Windowed], zone: str) -> str:
    """Times in UTC; `zone` is the one in which days were cut."""
    return dumps({"schema": WINDOWS_SCHEMA, "zone": zone, "windows": list(map(_record, found))}, indent=2) + "\n"


def windows_table(found: Sequence[Windowed], zone: str, *, colour: bool = False, width: int = 100) -> str:
    return paint(_blocks(found, zone_named(zone), width), colour=colour, width=width)


def _record(one: Windowed) -> dict[str, Any]:
    confusion = confusion_record(one.confusion)
    for name, tool in one.confusion.tools.items():
        confusion["tools"][name] |= {
            "recall_ci95": rate(tool.correct, tool.support).ci95,
            "precision_ci95": rate(tool.correct, tool.chosen).ci95,
        }
    return {
        "start": timestamp(one.window.start_ns),
        "end": timestamp(one.window.end_ns),
        "by": dict(one.series),
        "n": one.right.n,
        "right": rate_record(one.right),
        "confusion": confusion,
    }


def _blocks(found: Sequence[Windowed], zone: tzinfo, width: int) -> Iterator[Block]:
    names = [name for name, _ in found[0].series] if found else []
    yield Heading(f"{count(len({one.window for one in found}), 'window')}, times in {zone}")
    rows = [
        (
            Cell(_time(one.window.start_ns, zone), "bold"),
            *(Cell(value or "(none)") for _, value in one.series),
            Cell(counted(one.right.rate, one.right.passed, one.right.n)),
            Cell(interval(one.right)),
            Cell(_worst(one)),
            Cell(_pair(one)),
        )
        for one in found
    ]
    titles = ("window from", *names, "as expected>", "95 % interval", "worst recall", "most frequent mistake")
    yield Grid(columns(*titles), tuple(rows))
    if len(found) == 1 and found[0].right.n:
        yield from matrix(found[0].confusion, width)
        yield from pairs(found[0].confusion)
        yield from tools(found[0].confusion)


def _time(ns: int, zone: tzinfo) -> str:
    return f"{datetime.fromtimestamp(ns // 10**9, UTC).astimezone(zone):%Y-%m-%d %H:%M %Z}"


def _worst(one: Windowed) -> str:
    worst = one.confusion.worst_recall
    if worst is None:
        return ""
    tool: ToolFigures = one.confusion.tools[worst.tool]
    return f"{worst.tool} {counted(tool.recall, tool.correct, tool.support)}"


def _pair(one: Windowed) -> str:
    wrong = [(n, cell) for cell, n in one.confusion.cells if cell.expected != cell.observed]
    if not wrong:
        return ""
    n, cell = max(wrong, key=lambda item: item[0])
    return f"{cell.expected} -> {cell.observed} ({n})"
