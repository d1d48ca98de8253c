"""A field that somebody adds to the model must not be lost in the store: this test says where to add it."""

from __future__ import annotations

import dataclasses

import pytest

from otel_toolselect.model import decisions, runs, spans, verdicts
from otel_toolselect.store import decision_rows, run_rows, verdict_rows

EVENT_FIELDS = {
    "turn", "seq", "text", "dialect", "agent", "name", "args", "call_id", "emitted", "executed", "args_raw", "server",
    "start_ns", "span_id", "call_seq", "ok", "value", "error_type", "infra", "duration_ns",
}  # fmt: skip
KEPT: dict[type, set[str]] = {
    runs.Run: {field for field, _ in run_rows._PLAIN.values()}
    | {"no_call", "tools", "events", "dialects", "trace_ids", "history", "expected"},
    verdicts.RunVerdict: {field for field, _ in verdict_rows._PLAIN.values()}
    | {"cells", "layers", "findings", "tags", "call_scores"},
    decisions.Decision: {
        *decision_rows._TEXTS.values(),
        *decision_rows._OPTIONAL.values(),
        *decision_rows._COUNTS.values(),
        *(key for key, _ in decision_rows._MEASURES.values()),
    }
    | {*decision_rows._LISTS.values(), *decision_rows._FLAGGED, "layers", "cells", "start_ns", "counts"},
    runs.NoCall: {"label", "signal", "confidence"},
    runs.ToolDefinition: {"name", "description", "schema"},
    verdicts.LayerVerdict: {"status", "explanation", "evidence"},
    verdicts.Finding: {"check", "layer", "status", "explanation", "evidence"},
    verdicts.CallScore: {"seq", "name", "passed"},
    verdicts.Cell: {"expected", "observed"},
    spans.SpanEvent: {"name", "time_ns", "attributes"},
    spans.SpanLink: {"trace_id", "span_id", "attributes", "trace_state"},
}


@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
def test_every_field_is_kept(kind: type) -> None:
    # what is no part of a value's identity is not kept with it: a run's attributes stay with its raw spans
    assert {field.name for field in dataclasses.fields(kind) if field.compare} == KEPT[kind]


def test_every_field_of_an_event_is_kept() -> None:
    kinds = (runs.AssistantText, runs.ToolCall, runs.ToolResult)
    assert {field.name for kind in kinds for field in dataclasses.fields(kind)} == EVENT_FIELDS
