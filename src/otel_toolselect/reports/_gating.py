"""What a gate decided: for people, for a pull request, for programs (R43, R44)."""

from __future__ import annotations

from collections.abc import Iterator

from otel_toolselect.model.gating import ConditionResult, Differences, GateResult
from otel_toolselect.reports._layout import Block, Cell, Grid, Heading, Line, Style, paint
from otel_toolselect.reports._plain import dumps
from otel_toolselect.reports._text import code, code_cell
from otel_toolselect.reports._words import count
from otel_toolselect.reports.table import columns

SCHEMA = "toolselect.gate/1"
STYLES: dict[str, Style] = {"pass": "good", "fail": "bad", "inconclusive": "warn", "n/a": "dim"}
NAMES_SHOWN = 8
NOTHING_MOVED = ("did not move: ", "whether anything moved")


def gate_table(result: GateResult, *, colour: bool = False, width: int = 100) -> str:
    return paint(_blocks(result), colour=colour, width=width)


def gate_json(result: GateResult) -> str:
    return dumps({"schema": SCHEMA, **{name: getattr(result, name) for name in result.__slots__}}, indent=2) + "\n"


def gate_markdown(result: GateResult) -> str:
    """Fit for a pull-request comment: names from suites and traces stand in code spans."""
    lines = [f"### toolselect gate {code(result.suite)}: {result.outcome}", "", _compared(result), ""]
    lines += ["| condition | outcome | saw | limit | n | 95 % interval |", "| --- | --- | --- | --- | --- | --- |"]
    for c in result.conditions:
        outcome = f"**{c.outcome}**" if c.outcome in ("fail", "inconclusive") else c.outcome
        cells = [
            c.condition,
            outcome,
            code_cell(c.saw),
            code_cell(c.limit),
            f"{c.n} {code_cell(c.unit)}",
            interval_of(c),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    for c in result.conditions:
        if c.outcome in ("fail", "inconclusive"):
            lines += ["", f"**{c.condition}**: {code(c.explanation)}", *(f"- {code(detail)}" for detail in c.details)]
    said = [*differences_lines(result.differences), *result.notes]
    if said:
        lines += ["", *(f"- {code(line)}" for line in said)]
    return "\n".join(lines) + "\n"


def interval_of(condition: ConditionResult) -> str:
    if condition.ci95 is None:
        return "-"
    low, high = condition.ci95
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def _compared(result: GateResult) -> str:
    return f"compared on {count(result.cases, 'identical case')}"


def _blocks(result: GateResult) -> Iterator[Block]:
    yield Heading(f"gate {result.suite}: {result.outcome}")
    yield Line(_compared(result))
    yield Grid(
        columns("condition", "outcome", "saw", "limit", "n>", "of", "95 % interval"),
        tuple(
            (
                Cell(c.condition, "bold"),
                Cell(c.outcome, STYLES[c.outcome]),
                Cell(c.saw),
                Cell(c.limit),
                Cell(str(c.n)),
                Cell(c.unit),
                Cell(interval_of(c)),
            )
            for c in result.conditions
        ),
    )
    yield Heading("why")
    for c in result.conditions:
        yield Line(f"{c.condition}: {c.explanation}", STYLES[c.outcome], indent=2)
        for detail in c.details:
            yield Line(detail, "dim" if c.outcome == "pass" else "", indent=4)
    yield from differences_blocks(result.differences)
    if result.notes:
        yield Heading("notes")
        for note in result.notes:
            yield Line(note, indent=2)


def differences_blocks(found: Differences) -> Iterator[Block]:
    """What differs between the two sides, besides the figures."""
    lines = differences_lines(found)
    if lines:
        yield Heading("what differs")
        for line in lines:
            yield Line(line, indent=2)


def differences_lines(found: Differences) -> list[str]:
    lines = []
    for identity in found.identities:
        before, after = values_of(identity.before), values_of(identity.after)
        if identity.movement == "moved":
            lines.append(f"{identity.what} moved: {before} -> {after}")
        elif identity.movement == "unknown":
            lines.append(f"{identity.what}: not known whether it moved ({before} -> {after})")
    if found.identities and not found.moved:
        known = [i.what for i in found.identities if i.movement == "same"]
        did_not, unknown = NOTHING_MOVED
        lines.insert(0, f"{did_not}{', '.join(known)}" if known else f"{unknown} is not recorded")
    for names, what in (
        (found.only_before, "judged only before"),
        (found.only_after, "judged only now"),
        (found.changed_request, "with another request"),
    ):
        if names:
            rest = len(names) - NAMES_SHOWN
            more = f" and {rest} more" if rest > 0 else ""
            lines.append(f"{count(len(names), 'case')} {what}, left out: {', '.join(names[:NAMES_SHOWN])}{more}")
    return lines


def values_of(values: tuple[str, ...]) -> str:
    return ", ".join(_brief(value) for value in values) or "not recorded"


def _brief(value: str) -> str:
    """Hashes to twelve digits: enough to tell apart, short enough to read."""
    digits = value.removeprefix("sha256:")
    return f"sha256:{digits[:12]}" if digits != value and len(digits) > 12 else value
