"""Small makers and Hypothesis strategies of what a store keeps."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import (
    AssistantText,
    NoCall,
    Run,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Unknown,
)
from otel_toolselect.model.spans import LogRecord, Span, SpanEvent, SpanLink
from otel_toolselect.model.verdicts import CallScore, Cell, Finding, LayerVerdict, RunVerdict

T0 = 1_793_613_600_000_000_000  # 2026-11-02T10:00:00Z
HOUR = 3_600 * 10**9
DAY = 24 * HOUR

# every example has a trace id of its own, so one store serves them all
on_one_store = settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.differing_executors,  # two implementations run the one suite
    ],
)


def span(trace: int = 1, number: int = 1, **fields: Any) -> Span:
    base: dict[str, Any] = {
        "trace_id": f"{trace:032x}",
        "span_id": f"{number:016x}",
        "name": "chat",
        "start_ns": T0 + number,
        "end_ns": T0 + number + 5,
        "resource": {"service.name": "shop"},
    }
    return Span(**(base | fields))


def log(trace: int = 1, **fields: Any) -> LogRecord:
    return LogRecord(**({"trace_id": f"{trace:032x}", "time_ns": T0, "resource": {"service.name": "shop"}} | fields))


def run(run_id: str = "r1", **fields: Any) -> Run:
    events = (
        AssistantText(0, 0, "let me look", "genai"),
        ToolCall(0, 1, "search", {"q": "boots", "n": 2**60 + 1}, "c1", True, True, "genai", start_ns=T0, span_id="ab"),
        ToolResult(0, 2, 1, "search", "c1", True, {"ids": [1, None, "x"]}, "genai", duration_ns=7),
    )
    base: dict[str, Any] = {
        "run_id": run_id, "trace_id": "t1", "trace_ids": ("t1", "t2"), "events": events, "start_ns": T0,
    }  # fmt: skip
    return Run(**(base | fields))


def verdict(run_id: str = "r1", suite: str = "s", **fields: Any) -> RunVerdict:
    base: dict[str, Any] = {
        "run_id": run_id,
        "trace_id": "t1",
        "suite": suite,
        "case_id": "refund",
        "first_action": "search",
        "observed_class": "call",
        "layers": {
            "selection": LayerVerdict("pass", "the first call is allowed", {"first": "search", "allowed": ["search"]}),
            "arguments": LayerVerdict("n/a", "no expectation"),
        },
        "tags": {"bucket": "core"},
        "cells": (Cell("search", "search"), Cell("none", "refund")),
        "call_scores": (CallScore(1, "search", True),),
        "findings": (Finding("first", "selection", "pass", "as expected", {"n": 1}),),
        "start_ns": T0,
    }
    return RunVerdict(**(base | fields))


def decision(run_id: str = "r1", suite: str = "s", **fields: Any) -> Decision:
    base: dict[str, Any] = {
        "rule": "",
        "trace_id": "t1",
        "case_id": "refund",
        "start_ns": T0,
        "status": "pass",
        "first_action": "search",
        "observed_class": "call",
        "cells": (Cell("search", "search"),),
        "layers": {"selection": "pass"},
        "scored": (("search", True), ("refund", False)),
        "ghosts": ("x", "x"),
        "calls": (("search", False), ("search", True)),
        "duration_ns": 5,
    }
    return Decision(suite=suite, run_id=run_id, **(base | fields))


_text = st.text(max_size=12)
_name = st.text(string.ascii_lowercase + "._é\0'\"\\", max_size=8)
_finite = st.floats(allow_nan=False)
_number = st.floats(allow_nan=False, allow_infinity=False)  # of JSON
_nested = st.recursive(
    st.none() | st.booleans() | st.integers() | _finite | _text | st.binary(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_name | st.just("$bytes"), inner, max_size=3),
    max_leaves=6,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | _number | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_name, inner, max_size=3),
    max_leaves=6,
)
attributes = st.dictionaries(_name, _nested, max_size=4)
_uint64 = st.integers(0, 2**64 - 1)
_time = st.sampled_from([0, 1, T0, T0 + 1, 2**63, 2**64 - 1]) | st.integers(T0, T0 + DAY)
_hex = st.text("0123456789abcdef", max_size=16)


def spans_of(trace_id: str) -> st.SearchStrategy[list[Span]]:
    one = st.builds(
        Span,
        trace_id=st.just(trace_id),
        span_id=_hex,
        parent_span_id=_hex,
        trace_state=_text,
        name=_text,
        kind=st.integers(0, 9),
        start_ns=_time,
        end_ns=_time,
        attributes=attributes,
        events=st.lists(st.builds(SpanEvent, _text, _uint64, attributes), max_size=2).map(tuple),
        links=st.lists(st.builds(SpanLink, _hex, _hex, attributes, _text), max_size=2).map(tuple),
        status_code=st.integers(0, 3),
        status_message=_text,
        resource=attributes,
        scope_name=_text,
        scope_version=_text,
    )
    return st.lists(one, max_size=4)


def logs_of(trace_id: str) -> st.SearchStrategy[list[LogRecord]]:
    one = st.builds(
        LogRecord,
        trace_id=st.just(trace_id),
        span_id=_hex,
        time_ns=_time,
        observed_ns=_time,
        event_name=_text,
        severity_number=st.integers(0, 24),
        severity_text=_text,
        body=_nested,
        attributes=attributes,
        resource=attributes,
        scope_name=_text,
        scope_version=_text,
    )
    return st.lists(one, max_size=3)


_maybe = st.none() | _text
_int64 = st.integers(-(2**63), 2**63 - 1)
_unknown = st.builds(Unknown, _text)
_events = st.one_of(
    st.builds(AssistantText, turn=_int64, seq=_int64, text=_text, dialect=_text, agent=_maybe),
    st.builds(
        ToolCall,
        turn=_int64,
        seq=_int64,
        name=_text,
        args=st.dictionaries(_name, json_values, max_size=3) | _unknown,
        call_id=_maybe,
        emitted=st.booleans(),
        executed=st.booleans(),
        dialect=_text,
        agent=_maybe,
        args_raw=_maybe,
        server=_maybe,
        start_ns=_uint64,
        span_id=_text,
    ),
    st.builds(
        ToolResult,
        turn=_int64,
        seq=_int64,
        call_seq=_int64,
        name=_text,
        call_id=_maybe,
        ok=st.none() | st.booleans(),
        value=json_values | _unknown,
        dialect=_text,
        error_type=_maybe,
        infra=st.booleans(),
        duration_ns=st.none() | _int64,
        agent=_maybe,
    ),
)
_tools = st.builds(ToolDefinition, _text, _text, st.none() | st.dictionaries(_name, json_values, max_size=3))


def runs_of(run_id: str) -> st.SearchStrategy[Run]:
    return st.builds(
        Run,
        run_id=st.just(run_id),
        trace_id=_hex,
        trace_ids=st.lists(_hex, max_size=3).map(tuple),
        events=st.lists(_events, max_size=5).map(tuple),
        parent_run_id=_maybe,
        case_id=_maybe,
        suite=_maybe,
        label=_maybe,
        attempt=st.none() | _int64,
        service=_text,
        agent=_maybe,
        provider=_maybe,
        model=_maybe,
        prompt_version=_maybe,
        catalog_id=_maybe,
        tools=st.none() | st.lists(_tools, max_size=3).map(tuple),
        conversation_id=_maybe,
        request=_maybe,
        history=st.lists(_text, max_size=2).map(tuple),
        final_text=_maybe,
        no_call=st.builds(NoCall, st.sampled_from(["none", "ask_followup"]), _text, st.floats(0, 1)),
        start_ns=_uint64,
        duration_ns=st.none() | _int64,
        input_tokens=st.none() | _int64,
        output_tokens=st.none() | _int64,
        cost_usd=st.none() | _finite,
        incomplete=_maybe,
        dialects=st.lists(_text, max_size=2).map(tuple),
    )
