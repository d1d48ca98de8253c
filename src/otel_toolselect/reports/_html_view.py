"""What the HTML template shows, as plain texts and numbers: the template decides nothing, this escapes nothing.

Runs stand in groups, one per cell of the confusion matrix: wrong cells first, by count; then runs that failed in
another way, right cells, excluded runs. A run with several cells (labelled turns) stands in its first wrong one, and
the others link to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.model.figures import Confusion, Rate, Report, ToolFigures
from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.reports._html_run import RunView, state_of, view
from otel_toolselect.reports._html_trend import trend_view
from otel_toolselect.reports._material import Material
from otel_toolselect.reports._text import visible
from otel_toolselect.reports._words import count, counted, interval, percent
from otel_toolselect.reports._worst import failed_layers, worst_failures
from otel_toolselect.reports.table import labels
from otel_toolselect.stats import rate

PASSES_TOLD = 500
"""Up to this many runs, passes come with their timelines; beyond it only what did not pass does (file size)."""
STATES = (("fail", "failed"), ("review", "to review"), ("pass", "passed"), ("excluded", "excluded"))


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of one cell, or of one other reason to stand together."""

    anchor: str
    title: str
    count: str
    runs: list[RunView]
    open: bool = False
    elsewhere: list[dict[str, str]] = field(default_factory=list)


def page(report: Report, material: Material) -> dict[str, Any]:
    """Everything that the template names `v`."""
    anchors = {cell: f"cell-{i}" for i, (cell, _) in enumerate(report.confusion.cells)}
    groups = list(_groups(report, material, anchors))
    return {
        "suite": visible(report.suite),
        "lead": _lead(report),
        "excluded": _excluded(report),
        "warnings": list(_warnings(report)),
        "layers": [_layer(name, figures) for name, figures in report.summary.layers.items()],
        "matrix": _matrix(report.confusion, anchors),
        "worst": _worst(report.confusion),
        "tools": [_tool(name, tool) for name, tool in report.confusion.tools.items()],
        "trend": trend_view(report),
        "states": [s for s in STATES if any(run.state == s[0] for group in groups for run in group.runs)],
        "owners": sorted({run.owner for group in groups for run in group.runs if run.owner}),
        "groups": groups,
    }


def _lead(report: Report) -> str:
    failed = sum(1 for run in report.runs if failed_layers(run))
    return f"{failed} of {count(report.summary.judged, 'judged run')} failed."


def _excluded(report: Report) -> str:
    s = report.summary
    beside = f"{s.infra} infrastructure, {s.catalog_gap} catalog gap, {s.incomplete} incomplete"
    return f"{count(s.runs, 'run')}; excluded from every figure: {beside}."


def _warnings(report: Report) -> Iterator[str]:
    unsure = sum(state_of(run) == "review" for run in report.runs)
    if unsure:
        yield f"{count(unsure, 'run')} to review: the signals do not suffice to decide."
    if report.unmatched_runs:
        yield f"{count(report.unmatched_runs, 'run')} matched no case and count nowhere."
    if report.cases_without_run:
        shown = ", ".join(visible(case) for case in report.cases_without_run[:12])
        more = len(report.cases_without_run) - 12
        rest = f" and {more} more" if more > 0 else ""
        yield f"{count(len(report.cases_without_run), 'case')} without a run: {shown}{rest}."


def _bar(figures: Rate) -> dict[str, Any]:
    """Positions on a bar of 100, rounded so that the file stays small and the same everywhere."""
    low, high = figures.ci95 or (0.0, 0.0)
    at = {"at": figures.rate or 0.0, "low": low, "high": high, "span": high - low}
    shown = {name: f"{100 * value:.1f}" for name, value in at.items()}
    return {"n": figures.n, "interval": interval(figures), **shown}


def _layer(name: str, figures: Rate) -> dict[str, Any]:
    unit = "call" if name == "arguments" else "run"
    counts = f"{figures.passed}/{count(figures.n, unit)}" if figures.n else f"0 {unit}s"
    return {"name": name, "figure": percent(figures.rate), "counts": counts, **_bar(figures)}


def _tool(name: str, tool: ToolFigures) -> dict[str, Any]:
    sides = [
        {"figure": counted(share, tool.correct, whole), **_bar(rate(tool.correct, whole))}
        for share, whole in ((tool.recall, tool.support), (tool.precision, tool.chosen))
    ]
    return {"name": visible(name), "sides": sides, "f1": "n/a" if tool.f1 is None else f"{tool.f1:.3f}"}


def _worst(confusion: Confusion) -> str:
    worst = confusion.worst_recall
    if worst is None:
        return ""
    tool = confusion.tools[worst.tool]
    return f"Worst recall: {visible(worst.tool)} {counted(tool.recall, tool.correct, tool.support)}."


def _matrix(confusion: Confusion, anchors: dict[Cell, str]) -> dict[str, Any]:
    names = labels(confusion)
    counts = dict(confusion.cells)
    rows = []
    for expected in names:
        line = [Cell(expected, observed) for observed in names]
        total = sum(counts.get(cell, 0) for cell in line)
        cells = [_square(cell, counts.get(cell, 0), total, anchors.get(cell, "")) for cell in line]
        rows.append({"name": visible(expected), "cells": cells, "total": total})
    return {"columns": [visible(name) for name in names], "rows": rows}


def _square(cell: Cell, n: int, total: int, anchor: str) -> dict[str, Any]:
    right = cell.expected == cell.observed
    shade = min(5, 1 + int(5 * n / total)) if n else 0
    style = f"{'d' if right else 'o'}{shade}" if n else ""
    label = f"{count(n, 'run')}: {_said(cell)}; {percent(n / total if total else None)} of the row"
    return {"n": n, "anchor": anchor, "style": f"{style} diagonal".strip() if right else style, "label": label}


def _said(cell: Cell) -> str:
    if cell.expected == cell.observed:
        return f"{visible(cell.expected)}, as expected"
    return f"wanted {visible(cell.expected)}, got {visible(cell.observed)}"


def _groups(report: Report, material: Material, anchors: dict[Cell, str]) -> Iterator[Group]:
    ranked = worst_failures(report, len(report.runs))
    place = {run.run_id: i for i, run in enumerate(ranked)}
    runs = sorted(report.runs, key=lambda run: place.get(run.run_id, len(place)))
    told = {r.run_id for r in runs if len(runs) <= PASSES_TOLD or state_of(r) != "pass"}
    views = {run.run_id: view(run, material, told=run.run_id in told) for run in runs}
    home: dict[Cell | str, list[RunVerdict]] = {}
    for run in runs:
        home.setdefault(_home(run), []).append(run)
    counts = dict(report.confusion.cells)
    wrong = sorted((c for c in counts if c.expected != c.observed), key=lambda c: (-counts[c], c.expected, c.observed))
    right = [c for c in counts if c.expected == c.observed]
    for cell in wrong:
        yield _cell_group(cell, counts[cell], home.get(cell, []), views, anchors[cell], runs)
    for name, title in OTHER[:1]:
        yield from _other(name, title, home, views)
    for cell in right:
        yield _cell_group(cell, counts[cell], home.get(cell, []), views, anchors[cell], runs)
    for name, title in OTHER[1:]:
        yield from _other(name, title, home, views)


OTHER = (
    ("failed", "first action not labelled, failed in another layer"),
    ("unlabelled", "first action not labelled"),
    ("excluded", "excluded from every figure"),
)


def _home(run: RunVerdict) -> Cell | str:
    if run.excluded:
        return "excluded"
    wrong = [cell for cell in run.cells if cell.expected != cell.observed]
    if wrong or run.cells:
        return (wrong or list(run.cells))[0]
    return "failed" if failed_layers(run) else "unlabelled"


def _cell_group(
    cell: Cell,
    n: int,
    here: Sequence[RunVerdict],
    views: dict[str, RunView],
    anchor: str,
    runs: Iterable[RunVerdict],
) -> Group:
    own = {run.run_id for run in here}
    others = [views[r.run_id] for r in runs if not r.excluded and cell in r.cells and r.run_id not in own]
    failed = sum(bool(failed_layers(run)) for run in here)
    note = f", {failed} failed" if failed and cell.expected == cell.observed else ""
    links = [{"anchor": other.anchor, "case": other.case} for other in others]
    shown = [views[run.run_id] for run in here]
    return Group(anchor, _said(cell), f"({n}{note})", shown, cell.expected != cell.observed, links)


def _other(
    name: str, title: str, home: dict[Cell | str, list[RunVerdict]], views: dict[str, RunView]
) -> Iterator[Group]:
    here = home.get(name, [])
    if here:
        shown = [views[run.run_id] for run in here]
        yield Group(f"runs-{name}", title, f"({len(here)})", shown, open=name == "failed")
