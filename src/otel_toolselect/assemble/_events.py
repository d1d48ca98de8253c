"""What happened in a run, turn by turn, as events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otel_toolselect.assemble._infra import is_infra
from otel_toolselect.assemble._reconcile import Call
from otel_toolselect.assemble._turns import Turn
from otel_toolselect.model.quick import maker
from otel_toolselect.model.runs import AssistantText, Event, ToolCall, ToolResult, Unknown
from otel_toolselect.model.values import JSON

UNKNOWN_RESULT = Unknown("not recorded (is content capture on?)")
_make_text, _make_call, _make_result = maker(AssistantText), maker(ToolCall), maker(ToolResult)


def happened(calls: Sequence[Call], answers: Sequence[Turn], agent: str | None) -> tuple[Event, ...]:
    """Turn by turn what was said, the calls, their results. `calls` are in order of their turns."""
    events: list[Event] = []
    begin = 0
    for index in range(1, max(len(answers), calls[-1].turn if calls else 0) + 1):
        turn = answers[index - 1] if index <= len(answers) else None
        if turn is not None and turn.text:
            events.append(_make_text(index, len(events), turn.text, turn.told.dialect, agent))
        end = begin
        while end < len(calls) and calls[end].turn == index:
            end += 1
        mine, first = calls[begin:end], len(events)
        events += [_call_event(call, seq, agent) for seq, call in enumerate(mine, start=first)]
        for seq, call in enumerate(mine, start=first):
            if call.use is not None or call.result is not None:
                events.append(_result_event(call, len(events), seq, agent))
        begin = end
    return tuple(events)


def _call_event(call: Call, seq: int, agent: str | None) -> ToolCall:
    part, use, span = call.part, call.use, call.span
    args = part.args if part is not None else None
    raw = part.raw if part is not None else None
    if use is not None and use.args is not None and (args is None or _tells_more(use.args, args)):
        args, raw = use.args, use.raw_args
    return _make_call(
        turn=call.turn,
        seq=seq,
        name=call.name,
        args=Unknown("not recorded") if args is None else args,
        call_id=call.call_id,
        emitted=part is not None,
        executed=use is not None,
        dialect=call.dialect,
        agent=agent,
        args_raw=raw if args is None or isinstance(args, Unknown) else None,
        server=use.server if use else None,
        start_ns=span.span.order_ns if span else 0,
        span_id=span.span.span_id if span else "",
    )


def _tells_more(args: dict[str, Any] | Unknown, known: dict[str, Any] | Unknown) -> bool:
    return isinstance(known, Unknown) and not isinstance(args, Unknown)


def _result_event(call: Call, seq: int, call_seq: int, agent: str | None) -> ToolResult:
    use, part, span = call.use, call.result, call.span
    ok = use.ok if use is not None else None
    said = part.is_error if part is not None else None
    if said is True:
        ok = False
    elif ok is None and said is False:
        ok = True
    value: JSON | Unknown = use.result if use is not None else UNKNOWN_RESULT
    if isinstance(value, Unknown) and part is not None and not isinstance(part.value, Unknown):
        value = part.value
    error_text = use.error_text if use is not None else None
    if ok is False and isinstance(value, Unknown) and error_text:
        value = error_text
    error_type = (use.error_type if use is not None else None) or ("tool_error" if ok is False else None)
    shown = value if isinstance(value, str) else None
    return _make_result(
        turn=call.turn,
        seq=seq,
        call_seq=call_seq,
        name=call.name,
        call_id=call.call_id,
        ok=ok,
        value=value,
        dialect=call.dialect,
        error_type=error_type if ok is False else None,
        infra=ok is False and is_infra(error_type, error_text or shown),
        duration_ns=span.span.duration_ns if span else None,
        agent=agent,
    )
