"""Confusion over a window and over time, and how steady repeated runs are (R38-R41, R44, R47)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from otel_toolselect.model.figures import Report
from otel_toolselect.reports._figures import known_facts, rate_record, repeats_record
from otel_toolselect.reports._layout import Block, Cell, Grid, Heading, Line, paint
from otel_toolselect.reports._plain import dumps
from otel_toolselect.reports._words import count, counted, interval, percent
from otel_toolselect.reports.json import confusion_record
from otel_toolselect.reports.table import columns, matrix, pairs, tools
from otel_toolselect.stats import (
    Average,
    Point,
    Repeats,
    RiskView,
    agency,
    group_stability,
    of_labels,
    of_tools,
    redundancy,
    repeats,
    right_pairs,
    risk_view,
    stable_groups,
)
from otel_toolselect.stats.averages import label_figures

CONFUSION_SCHEMA = "toolselect.confusion/1"
MOST_K = 5
FLIPS_SCHEMA = "toolselect.flips/1"


def confusion_table(report: Report, points: Sequence[Point], *, colour: bool = False, width: int = 100) -> str:
    return paint(_confusion_blocks(report, points, width), colour=colour, width=width)


def confusion_json(report: Report, points: Sequence[Point]) -> str:
    labels = label_figures(report.confusion)
    risk = risk_view(report.runs)
    record = {
        "schema": CONFUSION_SCHEMA,
        "suite": report.suite,
        "runs": report.summary.runs,
        "judged": report.summary.judged,
        "confusion": confusion_record(report.confusion),
        "labels": {name: {f: getattr(known, f) for f in known.__slots__} for name, known in labels.items()},
        "risk": {
            "raw": rate_record(risk.raw),
            "weighted": risk.weighted,
            "weights": risk.weights,
            "classes": {name: rate_record(known) for name, known in risk.classes.items()},
        },
        "trend": [
            {"name": p.name, "runs": p.runs, "accuracy": rate_record(p.accuracy), **confusion_record(p.confusion)}
            for p in points
        ],
    }
    return dumps(record, indent=2) + "\n"


def _confusion_blocks(report: Report, points: Sequence[Point], width: int) -> Iterator[Block]:
    s = report.summary
    yield Heading(f"{report.suite}: {count(s.runs, 'run')}, {s.judged} judged")
    if not report.confusion.cells:
        yield Line("no decision was judged", "warn")
        return
    yield from matrix(report.confusion, width)
    yield from pairs(report.confusion)
    yield from tools(report.confusion)
    yield from _averages(report)
    yield from _risk(risk_view(report.runs))
    yield from _agency(report)
    yield from _trend(points)


def _averages(report: Report) -> Iterator[Block]:
    yield Heading("averages")
    rows = []
    for scope, found in (("tools", of_tools(report.confusion)), ("all labels", of_labels(report.confusion))):
        for figure, average in found.items():
            rows.append((Cell(f"{figure}, {scope}"), *_average(average)))
    yield Grid(columns("figure", "macro>", "weighted>", "over>", "undefined, left out"), tuple(rows))


def _average(average: Average) -> tuple[Cell, ...]:
    left_out = ", ".join(average.undefined) or "-"
    return Cell(percent(average.macro)), Cell(percent(average.weighted)), Cell(str(average.n)), Cell(left_out)


def _risk(view: RiskView) -> Iterator[Block]:
    if set(view.classes) <= {"unstated"}:
        return
    yield Heading("selection by risk")
    rows = [
        (Cell(name), Cell(f"{view.weights[name]:g}"), Cell(counted(r.rate, r.passed, r.n)), Cell(interval(r)))
        for name, r in view.classes.items()
    ]
    rows.append((Cell("raw", "bold"), Cell(""), Cell(counted(view.raw.rate, view.raw.passed, view.raw.n)), Cell("")))
    rows.append((Cell("risk-weighted", "bold"), Cell(""), Cell(percent(view.weighted)), Cell("")))
    yield Grid(columns("risk", "weight>", "passed>", "95 % interval"), tuple(rows))


def _agency(report: Report) -> Iterator[Block]:
    """Tools offered against tools used per agent (R49), where the report knows them."""
    rows = agency(known_facts(report))
    if not rows:
        return
    yield Heading("tools offered and used")
    cells = []
    for row in rows:
        gap = counted(row.gap.rate, row.gap.passed, row.gap.n)
        unused, ghosts = ", ".join(row.unused) or "-", ", ".join(row.ghosts) or "-"
        cells.append(
            (Cell(row.agent or "(no name)", "bold"), Cell(str(row.runs)), Cell(gap), Cell(unused), Cell(ghosts))
        )
    yield Grid(columns("agent", "runs>", "never used>", "unused tools", "not offered but called"), tuple(cells))
    calls = redundancy(known_facts(report))
    yield Line(f"redundant calls: {counted(calls.rate, calls.passed, calls.n)}", indent=2)


def _trend(points: Sequence[Point]) -> Iterator[Block]:
    """One row per point, one column per tool: recall with its counts."""
    if not points:
        return
    names = sorted({name for p in points for name, t in p.confusion.tools.items() if t.support})
    yield Heading("trend: recall per tool")
    rows = []
    for p in points:
        known = [p.confusion.tools.get(name) for name in names]
        recalls = [Cell("-" if t is None else counted(t.recall, t.correct, t.support)) for t in known]
        accuracy = Cell(counted(p.accuracy.rate, p.accuracy.passed, p.accuracy.n))
        rows.append((Cell(p.name, "bold"), Cell(str(p.runs)), accuracy, *recalls))
    yield Grid(columns("point", "runs>", "accuracy>", *(f"{name}>" for name in names)), tuple(rows))


def flips_table(report: Report, *, colour: bool = False, width: int = 100) -> str:
    return paint(_flip_blocks(report, repeats(report.runs)), colour=colour, width=width)


def flips_json(report: Report) -> str:
    found = repeats(report.runs)
    cases = [
        {"case_id": c.case_id, "passed": c.passed, "n": c.n, "repeated": c.repeated, "flips": c.flips,
         "majority": c.majority, "actions": dict(c.actions)}
        for c in found.cases
    ]  # fmt: skip
    record = {"schema": FLIPS_SCHEMA, "suite": report.suite, **repeats_record(report.runs), "cases": cases}
    return dumps(record, indent=2) + "\n"


def _flip_blocks(report: Report, found: Repeats) -> Iterator[Block]:
    yield Heading(f"{report.suite}: repeated runs")
    f, o, m = found.flips, found.observations, found.majority
    rows = [
        ("flip rate", "cases with two attempts or more", counted(f.rate, f.passed, f.n), interval(f)),
        ("accuracy", "observations", counted(o.rate, o.passed, o.n), interval(o)),
        ("accuracy, mean of per-case rates", "cases", f"{percent(found.mean)} ({m.n} cases)", ""),
        ("accuracy by majority", "cases", counted(m.rate, m.passed, m.n), interval(m)),
    ]
    rows += [(f"pass^{h.k}", f"cases with {h.k} attempts or more", f"{percent(h.value)} ({h.cases} cases)", "")
             for h in found.pass_hat if 1 < h.k <= MOST_K]  # fmt: skip
    cells = tuple((Cell(a, "bold"), Cell(b), Cell(c), Cell(d)) for a, b, c, d in rows)
    yield Grid(columns("figure", "level", "value>", "95 % interval"), cells)
    if found.one_flip is not None:
        yield Line(f"one flip moves case accuracy by {100 * found.one_flip:.1f} points", indent=2)
    yield from _groups(report)
    yield Heading("flipping cases")
    if not found.flipping:
        yield Line("none" if f.n else "no case was repeated; run a subset three to five times", indent=2)
        return
    yield Line("a flip is a defect of a description or a prompt: split the case, or tighten what overlaps", indent=2)
    yield Grid(
        columns("case", "passed>", "first actions"),
        tuple(
            (Cell(c.case_id, "bad"), Cell(f"{c.passed}/{c.n}"), Cell(", ".join(f"{a} x{n}" for a, n in c.actions)))
            for c in found.flipping
        ),
    )


def _groups(report: Report) -> Iterator[Block]:
    """Stability of the metamorphic groups (R16) and of paired cases (R17), where the report knows them."""
    found = group_stability(report.runs, report.groups)
    if not found:
        return
    yield Heading("groups of cases")
    stable, pairs_right = stable_groups(found), right_pairs(found)
    yield Line(f"stable groups: {counted(stable.rate, stable.passed, stable.n)}", indent=2)
    if pairs_right.n:
        both = counted(pairs_right.rate, pairs_right.passed, pairs_right.n)
        yield Line(f"pairs with both cases right: {both}", indent=2)
    rows = []
    for group in found:
        said = {True: "stable", False: "not stable", None: "too few members seen"}[group.stable]
        routes = ", ".join(f"{case} {route}" for case, route in group.routes.items())
        rows.append(
            (Cell(group.id, "bold"), Cell(group.relation), Cell(said), Cell(percent(group.share)), Cell(routes))
        )
    yield Grid(columns("group", "route", "is", "most frequent action>", "routes by case"), tuple(rows))
