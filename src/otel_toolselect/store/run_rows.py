"""Runs as rows of `runs` and back (sql/0003). JSON values are canonical JSON text, so that equal values come back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from otel_toolselect.model.runs import (
    AssistantText,
    Event,
    NoCall,
    Run,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Unknown,
)
from otel_toolselect.model.values import canonical
from otel_toolselect.store import columns as c

_TEXT_EVENT, _CALL_EVENT, _RESULT_EVENT = "assistant", "tool_call", "tool_result"
_EVENT_KINDS: dict[type, str] = {AssistantText: _TEXT_EVENT, ToolCall: _CALL_EVENT, ToolResult: _RESULT_EVENT}

# column -> (field of Run, Arrow type); these travel as they are
_PLAIN: dict[str, tuple[str, pa.DataType]] = {
    "RunId": ("run_id", c.TEXT),
    "TraceId": ("trace_id", c.TEXT),
    "ParentRunId": ("parent_run_id", c.TEXT),
    "CaseId": ("case_id", c.TEXT),
    "Suite": ("suite", c.TEXT),
    "Label": ("label", c.TEXT),
    "Attempt": ("attempt", c.INT64),
    "ServiceName": ("service", c.TEXT),
    "Agent": ("agent", c.TEXT),
    "Provider": ("provider", c.TEXT),
    "Model": ("model", c.TEXT),
    "PromptVersion": ("prompt_version", c.TEXT),
    "CatalogId": ("catalog_id", c.TEXT),
    "ConversationId": ("conversation_id", c.TEXT),
    "Request": ("request", c.TEXT),
    "FinalText": ("final_text", c.TEXT),
    "StartNs": ("start_ns", c.UINT64),
    "DurationNs": ("duration_ns", c.INT64),
    "InputTokens": ("input_tokens", c.INT64),
    "OutputTokens": ("output_tokens", c.INT64),
    "CostUsd": ("cost_usd", c.DOUBLE),
    "Incomplete": ("incomplete", c.TEXT),
}
# derived from other fields, written for queries and never read back
_DERIVED: dict[str, tuple[str, pa.DataType]] = {
    "FirstAction": ("first_action", c.TEXT),
    "ObservedClass": ("observed_class", c.TEXT),
    "Start": ("start_ns", c.TIME),
}


def _known_text(value: Any) -> str | None:
    return None if isinstance(value, Unknown) else canonical(value)


def _reason(value: Any) -> str | None:
    return value.reason if isinstance(value, Unknown) else None


def _get(name: str) -> Callable[[Any], Any]:
    return lambda event: getattr(event, name, None)


# column below Events -> (how to get it of an event, null where the kind has no such field, Arrow type)
_EVENTS: dict[str, tuple[Callable[[Any], Any], pa.DataType]] = {
    "Kind": (lambda event: _EVENT_KINDS[type(event)], c.TEXT),
    "Turn": (_get("turn"), c.INT64),
    "Seq": (_get("seq"), c.INT64),
    "Dialect": (_get("dialect"), c.TEXT),
    "Agent": (_get("agent"), c.TEXT),
    "Text": (_get("text"), c.TEXT),
    "Name": (_get("name"), c.TEXT),
    "CallId": (_get("call_id"), c.TEXT),
    "Args": (lambda event: _known_text(event.args) if isinstance(event, ToolCall) else None, c.TEXT),
    "ArgsUnknown": (lambda event: _reason(event.args) if isinstance(event, ToolCall) else None, c.TEXT),
    "ArgsRaw": (_get("args_raw"), c.TEXT),
    "Emitted": (_get("emitted"), c.BOOL),
    "Executed": (_get("executed"), c.BOOL),
    "Server": (_get("server"), c.TEXT),
    "StartNs": (_get("start_ns"), c.UINT64),
    "SpanId": (_get("span_id"), c.TEXT),
    "CallSeq": (_get("call_seq"), c.INT64),
    "Ok": (_get("ok"), c.BOOL),
    "Value": (lambda event: _known_text(event.value) if isinstance(event, ToolResult) else None, c.TEXT),
    "ValueUnknown": (lambda event: _reason(event.value) if isinstance(event, ToolResult) else None, c.TEXT),
    "ErrorType": (_get("error_type"), c.TEXT),
    "Infra": (_get("infra"), c.BOOL),
    "DurationNs": (_get("duration_ns"), c.INT64),
}

READ_COLUMNS: dict[str, str] = {
    **{name: name for name in _PLAIN},
    **{name: name for name in ("TraceIds", "History", "Dialects", "ToolsKey")},
    **{name: name for name in ("NoCallLabel", "NoCallSignal", "NoCallConfidence")},
    **{f"Events.{name}": f"Events.{name}" for name in _EVENTS},
}


def tools_text(tools: Sequence[ToolDefinition]) -> str:
    """Tools as JSON text; the order of the list is kept, the order of an object's members is not."""
    return json.dumps(
        [[tool.name, tool.description, tool.schema] for tool in tools],
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
    )


def tools_key(text: str) -> str:
    """The key of a list of tools in `catalogs`: unlike a catalog id it tells one order from another."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def read_tools(text: str) -> tuple[ToolDefinition, ...]:
    return tuple(ToolDefinition(name, description, schema) for name, description, schema in json.loads(text))


def run_columns(runs: Sequence[Run], tool_keys: Sequence[str | None], version: int) -> dict[str, pa.Array]:
    """Columns for an insert into `runs`; `tool_keys`: of each run, the key of its tools in `catalogs`."""
    found = {
        name: c.column([getattr(run, attribute) for run in runs], kind)
        for name, (attribute, kind) in (_PLAIN | _DERIVED).items()
    }
    found |= {
        "Version": c.column([version] * len(runs), c.UINT64),
        "ToolsKey": c.column(tool_keys, c.TEXT),
        "TraceIds": c.nested([run.trace_ids for run in runs], c.TEXT),
        "History": c.nested([run.history for run in runs], c.TEXT),
        "Dialects": c.nested([run.dialects for run in runs], c.TEXT),
        "NoCallLabel": c.column([run.no_call.label for run in runs], c.TEXT),
        "NoCallSignal": c.column([run.no_call.signal for run in runs], c.TEXT),
        "NoCallConfidence": c.column([run.no_call.confidence for run in runs], c.DOUBLE),
    }
    for name, (get, kind) in _EVENTS.items():
        found[f"Events.{name}"] = c.nested([[get(event) for event in run.events] for run in runs], kind)
    return found


def catalog_columns(catalogs: Mapping[str, Run], version: int) -> dict[str, pa.Array]:
    """Columns for an insert into `catalogs`: by key, a run that was offered those tools."""
    runs = list(catalogs.values())
    return {
        "ToolsKey": c.column(list(catalogs), c.TEXT),
        "CatalogId": c.column([run.catalog_id for run in runs], c.TEXT),
        "Names": c.nested([run.tools_offered or () for run in runs], c.TEXT),
        "Tools": c.column([tools_text(run.tools or ()) for run in runs], c.TEXT),
        "Version": c.column([version] * len(runs), c.UINT64),
    }


def read_runs(found: Mapping[str, list[Any]], tools: Mapping[str, tuple[ToolDefinition, ...]]) -> Iterator[Run]:
    """Runs of the columns of `READ_COLUMNS`; `tools` holds every list of tools that they name."""
    for i in range(len(found.get("RunId", ()))):
        fields = {attribute: found[name][i] for name, (attribute, _) in _PLAIN.items()}
        key = found["ToolsKey"][i]
        yield Run(
            **fields,
            trace_ids=tuple(found["TraceIds"][i]),
            history=tuple(found["History"][i]),
            dialects=tuple(found["Dialects"][i]),
            tools=None if key is None else tools[key],
            no_call=NoCall(found["NoCallLabel"][i], found["NoCallSignal"][i], found["NoCallConfidence"][i]),
            events=_events({name: found[f"Events.{name}"][i] for name in _EVENTS}),
        )


def _events(found: Mapping[str, list[Any]]) -> tuple[Event, ...]:
    names = list(found)
    return tuple(_event(dict(zip(names, row, strict=True))) for row in zip(*found.values(), strict=True))


def _event(e: Mapping[str, Any]) -> Event:
    common = {"turn": e["Turn"], "seq": e["Seq"], "dialect": e["Dialect"], "agent": e["Agent"]}
    if e["Kind"] == _TEXT_EVENT:
        return AssistantText(**common, text=e["Text"])
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
