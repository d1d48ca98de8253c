"""Runs for tests in one line: `run(call("search", {"q": "x"}), request="...", final="...")`.

Each call is a turn of its own unless `turn` says otherwise; its result follows when `ok` is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

from otel_toolselect.model.runs import (
    AssistantText,
    Event,
    NoCall,
    NoCallLabel,
    Run,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Unknown,
)


@dataclass(frozen=True)
class Planned:
    name: str
    args: dict[str, Any] | Unknown
    ok: bool | None
    result: bool
    value: Any
    error: str | None
    infra: bool
    turn: int | None


def call(
    name: str,
    args: dict[str, Any] | Unknown | None = None,
    *,
    ok: bool | None = None,
    value: Any = None,
    error: str | None = None,
    infra: bool = False,
    turn: int | None = None,
    result: bool | None = None,
) -> Planned:
    """A call; `ok` None means no result in the trace, unless `result=True` (a result of unknown outcome)."""
    shown = ok is not None if result is None else result
    return Planned(name, {} if args is None else args, ok, shown, value, error, infra, turn)


def run(
    *calls: Planned,
    final: str | None = None,
    reads: NoCallLabel | None = None,
    confidence: float = 0.9,
    run_id: str = "r1",
    tools: Sequence[str | ToolDefinition] | None = None,
    **fields: Any,
) -> Run:
    """A run; a final text without `reads` reads as `ask_followup` when it ends in a question mark, else as `none`."""
    events = _events(calls)
    if final is not None:
        last = max((e.turn for e in events), default=0) + 1
        events.append(AssistantText(last, len(events), final, "test"))
    read = reads or ("ask_followup" if final is not None and final.endswith("?") else "none")
    assert read in get_args(NoCallLabel)
    no_call = NoCall(read, "as the test says", confidence if final is not None or reads else 0.0)
    offered = None if tools is None else tuple(ToolDefinition(t) if isinstance(t, str) else t for t in tools)
    ids: dict[str, Any] = {"trace_id": f"trace-{run_id}", "trace_ids": (f"trace-{run_id}",)} | fields
    return Run(run_id=run_id, events=tuple(events), final_text=final, no_call=no_call, tools=offered, **ids)


def _events(calls: tuple[Planned, ...]) -> list[Event]:
    """Within a turn calls stand before results, as assembly puts them."""
    turns: dict[int, list[Planned]] = {}
    for i, planned in enumerate(calls, start=1):
        turns.setdefault(planned.turn or i, []).append(planned)
    events: list[Event] = []
    for turn in sorted(turns):
        seqs = []
        for p in turns[turn]:
            seqs.append((len(events), p))
            events.append(ToolCall(turn, len(events), p.name, p.args, None, True, p.result, "test"))
        for seq, p in seqs:
            if p.result:
                failed = p.ok is False
                events.append(
                    ToolResult(
                        turn,
                        len(events),
                        seq,
                        p.name,
                        None,
                        p.ok,
                        p.value,
                        "test",
                        error_type=p.error if failed else None,
                        infra=p.infra,
                    )
                )
    return events
