"""Runs and their events for people: one line per event, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from otel_toolselect.model.runs import AssistantText, Event, Run, ToolCall, Unknown
from otel_toolselect.reports._layout import Block, Cell, Column, Grid, Heading, Line, Style, paint
from otel_toolselect.reports._plain import dumps, short
from otel_toolselect.reports._records import in_order, timestamp

TEXT_LENGTH = 110


def timelines(runs: Iterable[Run], *, colour: bool, width: int) -> str:
    """Every run with its events, by start."""
    blocks = [block for run in in_order(runs) for block in timeline(run, width)]
    return paint(blocks, colour=colour, width=width) if blocks else ""


def run_table(runs: Iterable[Run], *, colour: bool, width: int) -> str:
    """One row per run."""
    titles = ("start", "agent", "model", "case", "request", "first action", "calls", "complete")
    rows = []
    for run in in_order(runs):
        words = (
            (timestamp(run.start_ns) or "")[:19],
            run.agent or run.service,
            run.model or "",
            run.case_id or "",
            short(run.request or "", 48),
            run.first_action,
            str(len(run.calls)),
            run.incomplete or "yes",
        )
        style: Style = "" if run.incomplete is None else "warn"
        rows.append(tuple(Cell(word, style) for word in words))
    grid = Grid(tuple(Column(t, right=t == "calls") for t in titles), tuple(rows), indent=0)
    return paint([grid], colour=colour, width=width) if rows else ""


def timeline(run: Run, width: int) -> Iterator[Block]:
    """Head lines of one run, then its events."""
    yield Heading(f"run {run.run_id}")
    facts = [
        f"agent {run.agent}" if run.agent else "",
        f"case {run.case_id}" if run.case_id else "",
        f"model {run.model}" if run.model else "",
        f"sub-run of {run.parent_run_id}" if run.parent_run_id else "",
        "complete" if run.incomplete is None else f"incomplete: {run.incomplete}",
        ", ".join(run.dialects),
    ]
    yield Line(" · ".join(fact for fact in facts if fact), "dim", indent=2)
    if run.request:
        yield Line(f"request: {short(run.request, 400)}", indent=2)
    yield from happened(run, width, indent=2)


def happened(run: Run, width: int, *, indent: int) -> Iterator[Block]:
    """The events of one run in order, and the answer where no event holds it."""
    rows = tuple(_row(event, width - indent) for event in sorted(run.events, key=lambda e: e.seq))
    if rows:
        yield Grid((Column("turn", right=True), Column("event"), Column("what"), Column("how")), rows, indent=indent)
    if run.final_text and all(run.final_text != e.text for e in run.texts):
        yield Line(f"answer: {short(run.final_text, 400)}", indent=indent)


def _row(event: Event, width: int) -> tuple[Cell, ...]:
    room = max(30, min(TEXT_LENGTH, width - 46))
    turn = Cell(str(event.turn), "dim")
    if isinstance(event, AssistantText):
        return turn, Cell("text"), Cell(short(event.text, room)), Cell("")
    if isinstance(event, ToolCall):
        args = _value(event.args)
        return (
            turn,
            Cell("call", "bold"),
            Cell(short(f"{event.name} {args}", room), "bold"),
            Cell(_seen(event)),
        )
    word, style = _outcome(event.ok)
    how = [word, event.error_type or "", "infrastructure" if event.infra else ""]
    if event.duration_ns is not None:
        how.append(f"{event.duration_ns / 1e6:.1f} ms")
    text = short(f"{event.name} {_value(event.value)}", room)
    return turn, Cell("result"), Cell(text), Cell(" ".join(h for h in how if h), style)


def _value(value: object) -> str:
    return f"({value.reason})" if isinstance(value, Unknown) else dumps(value)


def _seen(call: ToolCall) -> str:
    return " ".join(word for word, seen in (("emitted", call.emitted), ("executed", call.executed)) if seen)


def _outcome(ok: bool | None) -> tuple[str, Style]:
    if ok is None:
        return "outcome not recorded", "dim"
    return ("ok", "good") if ok else ("failed", "bad")
