"""Mastra, from hand-written spans after the description of its exporter (there is no capture of it here)."""

from __future__ import annotations

import json
from typing import Any

from otel_toolselect import assemble, dialects
from otel_toolselect.model.spans import Span

CALL = {"type": "tool-call", "payload": {"toolCallId": "c1", "toolName": "search", "args": {"q": 1}}}


def span(name: str, at: int, end: int, parent: str = "", **attributes: Any) -> Span:
    return Span(
        trace_id="c" * 32,
        span_id=name.encode().hex()[:16].ljust(16, "0"),
        parent_span_id=parent.encode().hex()[:16].ljust(16, "0") if parent else "",
        name=name,
        start_ns=at * 10**9,
        end_ns=end * 10**9,
        attributes={k.replace("__", "."): v if isinstance(v, str) else json.dumps(v) for k, v in attributes.items()},
        scope_name="@mastra/otel-exporter",
    )


def test_content_of_steps_and_runs() -> None:
    op = "gen_ai.operation.name"
    spans = [
        span(
            "root",
            1,
            9,
            **{op: "invoke_agent", "gen_ai.agent.name": "support", "mastra.span.type": "agent_run"},
            mastra__agent_run__input=[{"role": "user", "content": "where is it?"}],
            mastra__agent_run__output={"text": "There."},
            gen_ai__tool__definitions=["search", "refund"],
        ),
        span("step1", 2, 5, "root", **{op: "agent_step"}, mastra__model_step__output={"text": "", "toolCalls": [CALL]}),
        span("chat1", 2, 5, "step1", **{op: "chat"}, gen_ai__output__messages=[{"type": "text", "content": ""}]),
        span(
            "tool1",
            3,
            4,
            "step1",
            **{op: "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.id": "c1"},
            gen_ai__tool__call__arguments={"q": 1},
            gen_ai__tool__call__result={"found": True},
        ),
        span("step2", 6, 8, "root", **{op: "agent_step"}, mastra__model_step__output={"text": "There."}),
    ]
    (run,) = assemble.assemble(dialects.read(spans))
    assert [(c.name, c.args, c.emitted, c.executed) for c in run.calls] == [("search", {"q": 1}, True, True)]
    assert [(r.ok, r.value) for r in run.results] == [(True, {"found": True})]
    assert (run.request, run.final_text, run.tools_offered) == ("where is it?", "There.", ("search", "refund"))
