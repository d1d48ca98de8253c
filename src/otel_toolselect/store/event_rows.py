"""The events of a run as two columns of `runs`; the view `events` puts them together again.

`EventList` is JSON text: each event is a list of `FIELDS`, null where its kind has no such field, without the nulls at
its end. What is long in an event stands in `EventTexts`, and its number there, from 1, in its place: what was said, and
arguments and results as canonical JSON text, so that equal values come back whatever a reader in SQL makes of large
numbers. Apart from what is around it, and not quoted, such text compresses to less in less time. A text that is the
run's final text stands in the run already and is null here. Runs that were kept before 0014 have all in `EventList`.

One text of all small fields compresses to a third of what columns of arrays took, and costs a fifth of their time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from otel_toolselect.model.runs import AssistantText, Event, Run, ToolCall, ToolResult, Unknown
from otel_toolselect.model.values import canonical
from otel_toolselect.model.values import quoted as _quoted

FIELDS = (
    "Kind", "Turn", "Seq", "Dialect", "Agent", "Text", "Name", "CallId", "Args", "ArgsUnknown", "ArgsRaw", "Emitted",
    "Executed", "Server", "StartNs", "SpanId", "CallSeq", "Ok", "Value", "ValueUnknown", "ErrorType", "Infra",
    "DurationNs",
)  # fmt: skip
_APART = ("Text", "Args", "Value")
_TEXT_EVENT, _CALL_EVENT = "assistant", "tool_call"


def event_texts(run: Run) -> tuple[str, list[str]]:
    """`EventList` and `EventTexts` of a run. Written piece by piece: lists for an encoder would take twice the time."""
    texts: list[str] = []
    return f"[{','.join([_row(event, run.final_text, texts) for event in run.events])}]", texts


def _row(e: Event, final_text: str | None, texts: list[str]) -> str:
    agent = "null" if e.agent is None else _quoted(e.agent)
    if isinstance(e, AssistantText):
        text = "null" if e.text == final_text else _placed(e.text, texts)
        return f'["assistant",{e.turn},{e.seq},{_quoted(e.dialect)},{agent},{text}]'
    start = f"{e.turn},{e.seq},{_quoted(e.dialect)},{agent},null,{_quoted(e.name)},{_or_null(e.call_id)}"
    if isinstance(e, ToolCall):
        raw, server, span_id = _or_null(e.args_raw), _or_null(e.server), _quoted(e.span_id)
        flags = f"{int(e.emitted)},{int(e.executed)}"
        return f'["tool_call",{start},{_known(e.args, texts)},{raw},{flags},{server},{e.start_ns},{span_id}]'
    ok = "null" if e.ok is None else int(e.ok)
    duration = "null" if e.duration_ns is None else e.duration_ns
    ended = f"{_known(e.value, texts)},{_or_null(e.error_type)},{int(e.infra)},{duration}"
    return f'["tool_result",{start}{",null" * 8},{e.call_seq},{ok},{ended}]'


def _placed(text: str, texts: list[str]) -> int:
    texts.append(text)
    return len(texts)


def _known(value: Any, texts: list[str]) -> str:
    """Where its canonical text is and null, or null and why the value is not known."""
    return f"null,{_quoted(value.reason)}" if isinstance(value, Unknown) else f"{_placed(canonical(value), texts)},null"


def _or_null(text: str | None) -> str:
    return "null" if text is None else _quoted(text)


def read_events(text: str, texts: Sequence[str], final_text: str | None) -> tuple[Event, ...]:
    """The events of a run from `event_texts`, or of one that was kept before there were texts apart."""
    found = []
    for row in json.loads(text):
        event = dict(zip_longest(FIELDS, row))
        for field in _APART:
            if isinstance(event[field], int):
                event[field] = texts[event[field] - 1]
        found.append(_event(event, final_text))
    return tuple(found)


def _event(e: dict[str, Any], final_text: str | None) -> Event:
    common = {"turn": e["Turn"], "seq": e["Seq"], "dialect": e["Dialect"], "agent": e["Agent"]}
    if e["Kind"] == _TEXT_EVENT:
        return AssistantText(**common, text=(final_text or "") if e["Text"] is None else e["Text"])
    if e["Kind"] == _CALL_EVENT:
        return ToolCall(
            **common,
            name=e["Name"],
            args=_json_or_unknown(e["Args"], e["ArgsUnknown"]),
            call_id=e["CallId"],
            emitted=bool(e["Emitted"]),
            executed=bool(e["Executed"]),
            args_raw=e["ArgsRaw"],
            server=e["Server"],
            start_ns=e["StartNs"],
            span_id=e["SpanId"],
        )
    return ToolResult(
        **common,
        call_seq=e["CallSeq"],
        name=e["Name"],
        call_id=e["CallId"],
        ok=None if e["Ok"] is None else bool(e["Ok"]),
        value=_json_or_unknown(e["Value"], e["ValueUnknown"]),
        error_type=e["ErrorType"],
        infra=bool(e["Infra"]),
        duration_ns=e["DurationNs"],
    )


def _json_or_unknown(text: str | None, reason: str | None) -> Any:
    return Unknown(reason or "") if text is None else json.loads(text)
