"""Who reads a span: exactly one dialect, whatever else could (design section 5 of the house style, known trap)."""

from __future__ import annotations

import pytest

from otel_toolselect import dialects
from otel_toolselect.model.spans import Span
from tests.dialects.captures import ALL, Scenario, signals


@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_exactly_one_dialect_wins(scenario: Scenario) -> None:
    for span in signals(scenario)[0]:
        claims = [d for d in dialects.all_dialects() if d.claims(span.scope_name, span.attributes.keys())]
        best = [d.name for d in claims if d.priority == max(c.priority for c in claims)]
        assert len(best) <= 1, f"{span.scope_name} {span.name}: {best} claim it with the same priority"
        chosen = dialects.dialect_of(span)
        assert [chosen.name] == best if chosen else not best


@pytest.mark.parametrize("scenario", [s for s in ALL if s.name == "s1"], ids=str)
def test_every_library_is_recognised(scenario: Scenario) -> None:
    assert any(dialects.dialect_of(span) is not None for span in signals(scenario)[0])


WINNERS = [
    ("openinference.instrumentation.openai", {"openinference.span.kind": "LLM", "gen_ai.system": "x"}, "openinference"),
    ("openinference.instrumentation.crewai", {"openinference.span.kind": "TOOL"}, "crewai"),
    ("opentelemetry.instrumentation.langchain", {"gen_ai.operation.name": "chat"}, "openllmetry"),
    ("opentelemetry.instrumentation.openai_v2", {"gen_ai.operation.name": "chat"}, "otel-genai"),
    ("opentelemetry.instrumentation.genai.openai", {"gen_ai.operation.name": "chat"}, "otel-genai"),
    ("my.own.agent", {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "x"}, "otel-genai"),
    ("my.own.agent", {"traceloop.span.kind": "tool", "gen_ai.operation.name": "execute_tool"}, "openllmetry"),
    ("ai", {"ai.operationId": "ai.toolCall", "gen_ai.system": "x"}, "vercel-ai"),
    ("gcp.vertex.agent", {"gen_ai.operation.name": "chat"}, "google-adk"),
    ("langsmith", {"langsmith.span.kind": "llm", "gen_ai.operation.name": "chat"}, "langsmith"),
    ("opentelemetry.instrumentation.httpx", {"http.method": "POST"}, None),
]


@pytest.mark.parametrize(("scope", "attributes", "winner"), WINNERS)
def test_priorities(scope: str, attributes: dict[str, str], winner: str | None) -> None:
    chosen = dialects.dialect_of(Span("1" * 32, "2" * 16, attributes=attributes, scope_name=scope))
    assert (chosen.name if chosen else None) == winner


def test_each_dialect_has_hints_and_a_capture() -> None:
    seen = {d.name for s in ALL for span in signals(s)[0] if (d := dialects.dialect_of(span)) is not None}
    assert {d.name for d in dialects.all_dialects()} - seen == {"mastra"}, (
        "mastra has hand-written spans (test_mastra.py)"
    )
    for dialect in dialects.all_dialects():
        assert dialect.hints, f"{dialect.name} tells doctor nothing"
