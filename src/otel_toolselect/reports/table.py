"""The report for people: scorecard, confusion matrix, pairs, tools, worst failures (R24, R38, R39, R44)."""

from __future__ import annotations

from collections.abc import Iterator

from otel_toolselect.model.figures import Confusion, Report
from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.reports._layout import Block, Cell, Column, Grid, Heading, Line, Style, paint
from otel_toolselect.reports._plain import short
from otel_toolselect.reports._words import count, counted, interval, percent
from otel_toolselect.reports._worst import failed_layers, worst_failures

WORST_SHOWN = 5
EVIDENCE_LENGTH = 160


class TableWriter:
    """Colours through rich in a terminal, plain aligned text elsewhere."""

    name = "table"

    def __init__(self, worst: int = WORST_SHOWN) -> None:
        self._worst = worst

    def render(self, report: Report, *, colour: bool = False, width: int = 100) -> str:
        return paint(self._blocks(report, width), colour=colour, width=width)

    def _blocks(self, report: Report, width: int) -> Iterator[Block]:
        yield from _head(report)
        yield from scorecard(report)
        if report.confusion.cells:
            yield from matrix(report.confusion, width)
            yield from pairs(report.confusion)
            yield from tools(report.confusion)
        yield from _failures(worst_failures(report, self._worst))


def _head(report: Report) -> Iterator[Block]:
    s = report.summary
    yield Heading(f"{report.suite}: {count(s.runs, 'run')}, {s.judged} judged")
    left_out = f"{s.infra} infrastructure, {s.catalog_gap} catalog gap, {s.incomplete} incomplete"
    yield Line(f"excluded from every figure: {left_out}", "dim" if s.runs == s.judged else "warn")
    unsure = sum(any(v.status == "needs_review" for v in run.layers.values()) for run in report.runs)
    if unsure:
        yield Line(f"{count(unsure, 'run')} to review: the signals do not suffice to decide", "warn")
    if report.unmatched_runs:
        yield Line(f"{count(report.unmatched_runs, 'run')} matched no case and count nowhere", "warn")
    if report.cases_without_run:
        shown = ", ".join(report.cases_without_run[:8])
        more = len(report.cases_without_run) - 8
        rest = f" and {more} more" if more > 0 else ""
        yield Line(f"{count(len(report.cases_without_run), 'case')} without a run: {shown}{rest}", "warn")


def scorecard(report: Report) -> Iterator[Block]:
    """One row per layer; layers that apply to nothing say so."""
    yield Heading("scorecard")
    rows = []
    for layer, rate in report.summary.layers.items():
        unit = "call" if layer == "arguments" else "run"
        if rate.n:
            style: Style = "good" if rate.passed == rate.n else ""
            figures = (percent(rate.rate), f"{rate.passed}/{count(rate.n, unit)}", interval(rate))
        else:
            style, figures = "dim", (f"n/a (0 {unit}s)", "", "")
        rows.append((Cell(layer, "bold" if rate.n else "dim"), *(Cell(f, style) for f in figures)))
    yield Grid(columns("layer", "passed>", "of>", "95 % interval"), tuple(rows))


def columns(*titles: str) -> tuple[Column, ...]:
    """Columns from titles; a title that ends in `>` stands right."""
    return tuple(Column(title.rstrip(">"), right=title.endswith(">")) for title in titles)


def labels(confusion: Confusion) -> list[str]:
    """Tools by name, then the no-call labels that occur."""
    seen = {label for cell, _ in confusion.cells for label in (cell.expected, cell.observed)}
    return sorted(seen - set(NO_CALL_LABELS)) + [label for label in NO_CALL_LABELS if label in seen]


def matrix(confusion: Confusion, width: int) -> Iterator[Block]:
    """Rows expected, columns observed. Column titles become numbers where the names do not fit."""
    yield Heading("confusion matrix: expected (rows) x observed first action (columns)")
    names = labels(confusion)
    counts = {(cell.expected, cell.observed): n for cell, n in confusion.cells}
    rows = []
    for expected in names:
        total = sum(counts.get((expected, observed), 0) for observed in names)
        cells = [_count_cell(counts.get((expected, seen), 0), expected == seen) for seen in names]
        rows.append((*cells, Cell(str(total), "dim")))
    totals = [sum(counts.get((row, column), 0) for row in names) for column in names]
    foot = tuple(Cell(str(n), "dim") for n in [*totals, sum(totals)])
    named = _grid("expected", names, names, rows, foot)
    if named.fits(width):
        yield named
    else:
        numbers = [str(i + 1) for i in range(len(names))]
        yield _grid("expected", [f"{n:>2} {x}" for n, x in zip(numbers, names, strict=True)], numbers, rows, foot)


def _grid(
    corner: str, rows: list[str], columns: list[str], cells: list[tuple[Cell, ...]], foot: tuple[Cell, ...]
) -> Grid:
    head = (Column(corner), *(Column(c, right=True) for c in columns), Column("total", right=True))
    body = [(Cell(name), *line) for name, line in zip(rows, cells, strict=True)]
    return Grid(head, (*body, (Cell("total", "dim"), *foot)))


def _count_cell(n: int, diagonal: bool) -> Cell:
    if not n:
        return Cell(".", "dim")
    return Cell(str(n), "good" if diagonal else "bad")


def pairs(confusion: Confusion) -> Iterator[Block]:
    wrong = [(cell, n) for cell, n in confusion.cells if cell.expected != cell.observed]
    yield Heading("confusion pairs")
    if not wrong:
        yield Line("none: every first action was the expected one", "good", indent=2)
    rows = [
        (Cell(str(n), "bad"), Cell(f"wanted {cell.expected}"), Cell(f"got {cell.observed}"))
        for cell, n in sorted(wrong, key=lambda item: -item[1])
    ]
    if rows:
        yield Grid(columns("n>", "expected", "observed"), tuple(rows))


def tools(confusion: Confusion) -> Iterator[Block]:
    yield Heading("tools")
    worst = confusion.worst_recall
    rows = []
    for name, tool in confusion.tools.items():
        style: Style = "bad" if worst and worst.tool == name and worst.recall < 1 else ""
        f1 = "n/a" if tool.f1 is None else f"{tool.f1:.3f}"
        recall = counted(tool.recall, tool.correct, tool.support)
        precision = counted(tool.precision, tool.correct, tool.chosen)
        rows.append((Cell(name, style), Cell(recall, style), Cell(precision), Cell(f1)))
    yield Grid(columns("tool", "recall>", "precision>", "F1>"), tuple(rows))
    if worst:
        figures = confusion.tools[worst.tool]
        recall = counted(figures.recall, figures.correct, figures.support)
        yield Line(f"worst recall: {worst.tool} {recall}", "bold", indent=2)


def _failures(runs: list[RunVerdict]) -> Iterator[Block]:
    if not runs:
        return
    yield Heading("worst failures")
    for number, run in enumerate(runs, start=1):
        yield from failure(number, run)


def failure(number: int, run: RunVerdict) -> Iterator[Block]:
    """One failed run: what was wanted, what happened, and the evidence of each failed layer."""
    kind = f"  [{run.failure}; first to look: {run.owner}]" if run.failure else ""
    yield Line(f"{number}. {run.case_id}{kind}", "bad", indent=2)
    if run.request:
        yield Line(f"request: {short(run.request, 200)}", indent=5)
    for cell in run.cells:
        if cell.expected != cell.observed:
            yield Line(f"wanted {cell.expected}, got {cell.observed}", indent=5)
    for layer in failed_layers(run):
        verdict = run.layers[layer]
        yield Line(f"{layer}: {verdict.explanation}", indent=5)
        if verdict.evidence:
            yield Line(f"evidence: {short(dict(verdict.evidence), EVIDENCE_LENGTH)}", "dim", indent=7)
    yield Line(f"run {run.run_id}  trace {run.trace_id}", "dim", indent=5)


PLUGIN = TableWriter()
