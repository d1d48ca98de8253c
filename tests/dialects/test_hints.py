"""`doctor` names the switch that the library at hand really has."""

from __future__ import annotations

import pytest

from otel_toolselect import dialects

SWITCHES = [
    ("otel-genai", "opentelemetry.instrumentation.genai.anthropic", "arguments", "SPAN_AND_EVENT"),
    ("otel-genai", "opentelemetry.instrumentation.genai.openai_agents", "request", "instrument the client too"),
    ("otel-genai", "opentelemetry.instrumentation.openai_v2", "arguments", "export logs"),
    ("otel-genai", "com.anthropic.sdk.python", "results", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE=content"),
    ("otel-genai", "strands.telemetry.tracer", "catalog", "gen_ai_tool_definitions"),
    ("otel-genai", "agent_framework", "request", "ENABLE_SENSITIVE_DATA=true"),
    ("otel-genai", "my.agent", "arguments", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"),
    ("openllmetry", "opentelemetry.instrumentation.langchain", "arguments", "TRACELOOP_TRACE_CONTENT"),
    ("openinference", "openinference.instrumentation.langchain", "arguments", "OPENINFERENCE_HIDE_INPUTS"),
    ("vercel-ai", "ai", "arguments", "recordInputs: true"),
    ("google-adk", "gcp.vertex.agent", "arguments", "SPAN_AND_EVENT"),
]


@pytest.mark.parametrize(("dialect", "scope", "need", "words"), SWITCHES)
def test_the_switch_is_named(dialect: str, scope: str, need: str, words: str) -> None:
    assert words in dialects.hints(dialect, [scope])[need]


def test_an_unknown_dialect_has_no_hints() -> None:
    assert dialects.hints("none", ["x"]) == {}
