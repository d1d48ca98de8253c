"""Runs as rows of `runs` and back (sql/0003, 0006, 0009, 0014). A column that is null in every run is left out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from otel_toolselect.model.runs import TENANT, NoCall, Run, ToolDefinition
from otel_toolselect.store import columns as c
from otel_toolselect.store.event_rows import event_texts, read_events

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
_LISTS = {"TraceIds": "trace_ids", "History": "history", "Dialects": "dialects", "Expected": "expected"}
# derived from other fields, written for queries and never read back
_DERIVED: dict[str, tuple[str, pa.DataType]] = {
    "FirstAction": ("first_action", c.TEXT),
    "ObservedClass": ("observed_class", c.TEXT),
    "Start": ("start_ns", c.TIME),
}


READ_COLUMNS: dict[str, str] = {
    **{name: name for name in _PLAIN},
    **{
        name: name
        for name in ("TraceIds", "History", "Dialects", "Expected", "ToolsKey", "EventList", "EventTexts", "Tenant")
    },
    **{name: name for name in ("NoCallLabel", "NoCallSignal", "NoCallConfidence")},
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
    found = c.known(runs, _PLAIN | _DERIVED)
    for name, attribute in _LISTS.items():
        rows = [getattr(run, attribute) for run in runs]
        if any(rows):
            found[name] = c.nested(rows, c.TEXT)
    events, texts = zip(*map(event_texts, runs), strict=True)
    no_call = c.attributes([run.no_call for run in runs], ("label", "signal", "confidence"))
    return found | {
        "Version": c.column([version] * len(runs), c.UINT64),
        "ToolsKey": c.column(tool_keys, c.TEXT),
        "NoCallLabel": c.column(no_call["label"], c.TEXT),
        "NoCallSignal": c.column(no_call["signal"], c.TEXT),
        "NoCallConfidence": c.column(no_call["confidence"], c.DOUBLE),
        "EventList": c.column(events, c.TEXT),
        "EventTexts": c.nested(texts, c.TEXT),
        "Tenant": c.column([str(run.attributes.get(TENANT) or "") for run in runs], c.TEXT),
    }


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
            expected=tuple(found["Expected"][i]),
            tools=None if key is None else tools[key],
            no_call=NoCall(found["NoCallLabel"][i], found["NoCallSignal"][i], found["NoCallConfidence"][i]),
            events=read_events(found["EventList"][i], found["EventTexts"][i], fields["final_text"]),
            # of the attributes only this is kept: what is judged again from kept runs stays with its tenant
            attributes={TENANT: found["Tenant"][i]} if found["Tenant"][i] else {},
        )
