"""An experiment: a table for people, for a pull request, for programs; its chart is `_experiment_chart` (R45, R56)."""

from __future__ import annotations

from collections.abc import Iterator

from otel_toolselect.model.experiments import ArmFigures, Experiment
from otel_toolselect.reports._comparing import move_line
from otel_toolselect.reports._layout import Block, Cell, Grid, Heading, Line, paint
from otel_toolselect.reports._plain import dumps
from otel_toolselect.reports._text import code, code_cell
from otel_toolselect.reports._words import count, counted, interval
from otel_toolselect.reports.table import columns

SCHEMA = "toolselect.experiment/1"
_TITLES = (
    "setting",
    "tools>",
    "runs right>",
    "cases right>",
    "95 % interval>",
    "offered a right tool>",
    "flips>",
    "p>",
)
_GROUPS = ("stable groups>", "right pairs>")
MOVES_SHOWN = 8


def experiment_table(found: Experiment, *, colour: bool = False, width: int = 110) -> str:
    return paint(_blocks(found), colour=colour, width=width)


def experiment_json(found: Experiment) -> str:
    record = {name: getattr(found, name) for name in found.__slots__}
    return dumps({"schema": SCHEMA, **record}, indent=2) + "\n"


def experiment_markdown(found: Experiment) -> str:
    lines = [f"### {code(found.name)}", "", said(found), ""]
    heads = titles(found)
    lines += [f"| {' | '.join(t.rstrip('>') for t in heads)} |", f"|{' --- |' * len(heads)}"]
    lines += [f"| {' | '.join(code_cell(text) for text in row(one, found))} |" for one in found.arms]
    for one in found.arms:
        told = list(_against(one))
        if told:
            lines += ["", f"**{code(one.arm.name)}**", "", *(f"- {code(line)}" for line in told)]
    return "\n".join(lines) + "\n"


def _blocks(found: Experiment) -> Iterator[Block]:
    yield Heading(f"{found.name}: {said(found)}")
    rows = tuple(
        tuple(Cell(text, "bold" if i == 0 else "") for i, text in enumerate(row(a, found))) for a in found.arms
    )
    yield Grid(columns(*titles(found)), rows)
    yield Line(
        "right: of all runs, also those that were not offered a right tool; interval: Wilson, over cases", "dim", 2
    )
    yield Line("p: exact paired test against the base, and adjusted for the number of comparisons (Holm)", "dim", 2)
    for one in found.arms:
        told = list(_against(one))
        if told:
            yield Heading(f"{one.against.base if one.against else ''} -> {one.arm.name}")
            for line in told:
                bad = line.startswith(("lost", "broken", "displaced"))
                yield Line(line, "bad" if bad else "good" if line.startswith(("gained", "fixed")) else "", indent=2)
    lost = [one for one in found.arms if one.infra or one.incomplete]
    if lost:
        yield Heading("not counted")
        for one in lost:
            yield Line(
                f"{one.arm.name}: {one.infra} runs lost to infrastructure, {one.incomplete} incomplete", "warn", 2
            )


def said(found: Experiment) -> str:
    attempts = count(found.attempts, "attempt")
    return f"{found.suite}, {count(found.cases, 'case')}, {attempts}, {count(len(found.arms), 'setting')}"


def titles(found: Experiment) -> tuple[str, ...]:
    return _TITLES + tuple(t for t, on in zip(_GROUPS, _groups(found), strict=True) if on)


def _groups(found: Experiment) -> tuple[bool, bool]:
    return any(a.stable_groups.n for a in found.arms), any(a.right_pairs.n for a in found.arms)


def row(one: ArmFigures, found: Experiment) -> tuple[str, ...]:
    against = one.against
    cells = [
        one.arm.name,
        _tools(one),
        counted(one.accuracy.rate, one.accuracy.passed, one.accuracy.n),
        counted(one.majority.rate, one.majority.passed, one.majority.n),
        interval(one.majority),
        counted(one.offered.rate, one.offered.passed, one.offered.n),
        counted(one.flips.rate, one.flips.passed, one.flips.n),
        "base" if against is None else f"{_p(against.p)}, {_p(against.p_holm)}",
    ]
    extra = (one.stable_groups, one.right_pairs)
    cells += [f"{r.passed}/{r.n}" for r, on in zip(extra, _groups(found), strict=True) if on]
    return tuple(cells)


def _tools(one: ArmFigures) -> str:
    if one.tools is None:
        return "?"
    fewest, mean, most = one.tools
    return str(fewest) if fewest == most else f"{mean:.1f} ({fewest}-{most})"


def _p(p: float | None) -> str:
    return "n/a" if p is None else f"{p:.4f}"


def _against(one: ArmFigures) -> Iterator[str]:
    """What moved; nothing for the base, and where nothing did."""
    if one.against is None:
        return
    for what, cases in (("lost", one.against.lost), ("gained", one.against.gained)):
        if cases:
            more = f" and {len(cases) - MOVES_SHOWN} more" if len(cases) > MOVES_SHOWN else ""
            yield f"{what} {count(len(cases), 'case')}: {', '.join(cases[:MOVES_SHOWN])}{more}"
    for move in one.against.moves[:MOVES_SHOWN]:
        yield move_line(move)
    if len(one.against.moves) > MOVES_SHOWN:
        yield f"and {len(one.against.moves) - MOVES_SHOWN} more moves; --format json has them all"
