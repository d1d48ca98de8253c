"""Reports side by side: for people, for a pull request, for programs (R22, R45, R53, R56)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from otel_toolselect.model.experiments import Move
from otel_toolselect.model.gating import Against, Comparison, FlippedCase, SideFigures
from otel_toolselect.reports._gating import NOTHING_MOVED, differences_lines, values_of
from otel_toolselect.reports._layout import Block, Cell, Column, Grid, Heading, Line, paint
from otel_toolselect.reports._plain import dumps
from otel_toolselect.reports._text import code, code_cell
from otel_toolselect.reports._words import count, counted, interval, percent
from otel_toolselect.reports.table import columns

SCHEMA = "toolselect.comparison/1"
CASES_SHOWN = 40
MOVED_SHOWN = 5

_HARM = ("lost", "new cell", "broken", "displaced")

Row = tuple[str, Callable[[SideFigures], str]]


def comparison_table(found: Comparison, *, colour: bool = False, width: int = 100) -> str:
    return paint(_blocks(found), colour=colour, width=width)


def comparison_json(found: Comparison) -> str:
    record = {name: getattr(found, name) for name in found.__slots__}
    return dumps({"schema": SCHEMA, **record}, indent=2) + "\n"


def comparison_markdown(found: Comparison) -> str:
    names = [code_cell(side.name) for side in found.sides]
    lines = [f"### toolselect compare {code(found.suite)}", "", f"over {count(len(found.cases), 'identical case')}", ""]
    lines += [f"| | {' | '.join(names)} |", f"| --- |{' ---: |' * len(names)}"]
    lines += [f"| {title} | {' | '.join(code_cell(show(s)) for s in found.sides)} |" for title, show in _ROWS]
    for against in found.against:
        lines += ["", f"**{code(found.sides[0].name)} → {code(against.name)}**", ""]
        lines += [f"- {code(line)}" for line in _lines(against)]
    return "\n".join(lines) + "\n"


def _seconds(value: float | None, n: int) -> str:
    return "not recorded" if value is None else f"{value:.3g} s (n {n})"


_ROWS: tuple[Row, ...] = (
    ("accuracy (runs)", lambda s: counted(s.accuracy.rate, s.accuracy.passed, s.accuracy.n)),
    ("95 % interval", lambda s: interval(s.accuracy) or "-"),
    ("mean of cases", lambda s: percent(s.case_mean)),
    ("cases by majority", lambda s: counted(s.case_majority.rate, s.case_majority.passed, s.case_majority.n)),
    ("flip rate (cases)", lambda s: counted(s.flips.rate, s.flips.passed, s.flips.n)),
    ("worst recall", lambda s: _worst(s)),
    ("runs, lost to infra", lambda s: f"{s.runs}, {s.infra}"),
    ("median duration", lambda s: _seconds(s.seconds_median, s.seconds_n)),
    ("95th percentile", lambda s: _seconds(s.seconds_p95, s.seconds_n)),
    ("tokens per run", lambda s: "not recorded" if s.tokens_mean is None else f"{s.tokens_mean:.0f} (n {s.tokens_n})"),
    ("cost per run", lambda s: "not recorded" if s.cost_mean is None else f"{s.cost_mean:.5f} USD (n {s.cost_n})"),
    ("model", lambda s: values_of(s.identities["model"])),
    ("prompt", lambda s: values_of(s.identities["prompt"])),
    ("catalog", lambda s: values_of(s.identities["catalog"])),
    ("tools offered", lambda s: ", ".join(map(str, s.catalog_sizes)) or "not recorded"),
)


def _worst(side: SideFigures) -> str:
    if side.worst_recall is None:
        return "n/a"
    tool, rate = side.worst_recall
    return f"{tool} {counted(rate.rate, rate.passed, rate.n)}"


def _blocks(found: Comparison) -> Iterator[Block]:
    yield Heading(f"{found.suite}: {count(len(found.sides), 'side')} over {count(len(found.cases), 'identical case')}")
    if len(found.sides) <= 4:
        head = (Column(""), *(Column(side.name, right=True) for side in found.sides))
        rows = tuple((Cell(title, "bold"), *(Cell(show(s)) for s in found.sides)) for title, show in _ROWS)
        yield Grid(head, rows)
    else:  # many sides stand below each other
        kept = [row for row in _ROWS if row[0] not in ("95th percentile", "prompt", "catalog", "runs, lost to infra")]
        head = (Column("side"), *(Column(title, right=True) for title, _ in kept))
        yield Grid(head, tuple((Cell(s.name, "bold"), *(Cell(show(s)) for _, show in kept)) for s in found.sides))
    for against in found.against:
        yield Heading(f"{found.sides[0].name} -> {against.name}")
        for line in _lines(against):
            style = "bad" if line.startswith(_HARM) else "good" if line.startswith(("gained", "fixed")) else ""
            yield Line(line, style, indent=2)  # type: ignore[arg-type]
    yield from _catalog_blocks(found)
    if len(found.sides) > 2:  # of two sides the flipped cases say it all
        yield from _case_blocks(found)


def _lines(against: Against) -> list[str]:
    known = {m.what: m.movement for m in against.differences.identities if m.what != "policy"}
    moved = [what for what, movement in known.items() if movement == "moved"]
    unknown = ", as far as recorded" if "unknown" in known.values() else ""
    lines = [f"moved: {', '.join(moved)}" if moved else f"moved: none of {', '.join(known)}{unknown}"]
    lines += [line for line in differences_lines(against.differences) if not line.startswith(NOTHING_MOVED)]
    lost, gained = len(against.lost), len(against.gained)
    p = "n/a" if against.p is None else f"{against.p:.4f}"
    lines.append(f"cases by majority: {lost} lost, {gained} gained; exact paired test p = {p}")
    for what, cases in (("lost", against.lost), ("gained", against.gained), ("rerouted", against.rerouted)):
        lines += [f"{what} {_flip(case)}" for case in cases]
    lines += [
        f"{m.kind} cell: wanted {m.cell.expected}, got {m.cell.observed}: {_of(m.before)} -> {_of(m.after)}"
        for m in against.cells
    ]
    return lines + [move_line(move) for move in against.moves]


def move_line(move: Move) -> str:
    """`broken: wanted A, took A, now B: 2 cases (x, y)`."""
    shown = ", ".join(move.cases[:MOVED_SHOWN])
    more = f" and {len(move.cases) - MOVED_SHOWN} more" if len(move.cases) > MOVED_SHOWN else ""
    cases = count(len(move.cases), "case")
    return f"{move.kind}: wanted {move.expected}, took {move.before}, now {move.after}: {cases} ({shown}{more})"


def _of(share: tuple[int, int]) -> str:
    return f"{share[0]}/{share[1]}"


def _flip(case: FlippedCase) -> str:
    before, after = _actions(case.actions_before), _actions(case.actions_after)
    return f"{case.case_id}: {case.before[0]}/{case.before[1]} ({before}) -> {case.after[0]}/{case.after[1]} ({after})"


def _actions(actions: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(name if n == 1 else f"{name} x{n}" for name, n in actions)


def _catalog_blocks(found: Comparison) -> Iterator[Block]:
    """Accuracy against catalog size, when there is more than one catalog to tell of."""
    if len({(p.catalog, p.tools) for p in found.catalogs}) < 2:
        return
    yield Heading("accuracy by catalog (all judged runs of a side)")
    rows = sorted(found.catalogs, key=lambda p: (p.tools is None, p.tools or 0))
    yield Grid(
        columns("tools>", "catalog", "side", "accuracy>", "95 % interval"),
        tuple(
            (
                Cell("?" if p.tools is None else str(p.tools)),
                Cell(values_of((p.catalog,))),
                Cell(p.side),
                Cell(counted(p.accuracy.rate, p.accuracy.passed, p.accuracy.n)),
                Cell(interval(p.accuracy)),
            )
            for p in rows
        ),
    )


def _case_blocks(found: Comparison) -> Iterator[Block]:
    """Cases that are not alike on all sides."""
    differing = [case for case, sides in found.outcomes.items() if len({p * 1.0 / n for p, n in sides if n}) > 1]
    if not differing:
        return
    yield Heading("cases that differ (passed/runs)")
    head = (Column("case"), *(Column(side.name, right=True) for side in found.sides))
    shown = differing[:CASES_SHOWN]
    yield Grid(head, tuple((Cell(c), *(Cell(f"{p}/{n}") for p, n in found.outcomes[c])) for c in shown))
    if len(differing) > CASES_SHOWN:
        yield Line(f"and {len(differing) - CASES_SHOWN} more; --format json has them all", "dim", indent=2)
