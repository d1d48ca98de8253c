"""Small trace files for the command line's tests: current GenAI conventions, written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

START = 1_760_000_000_000_000_000


def text(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    found = []
    for key, value in values.items():
        shown = value if isinstance(value, (str, bool)) else json.dumps(value)
        found.append({"key": key, "value": {"stringValue": shown}})
    return found


def agent_trace(index: int, request: str, answer: str, *calls: tuple[str, dict[str, Any], Any], **more: str) -> str:
    """One OTLP/JSON line: an agent span, its one or two chat spans, one tool span per call."""
    trace = f"{index:032x}"

    def span(number: int, parent: int, name: str, values: dict[str, Any], at: int) -> dict[str, Any]:
        begin = START + index * 10**9 + at * 10**6
        return {
            "traceId": trace,
            "spanId": f"{number:016x}",
            "parentSpanId": f"{parent:016x}" if parent else "",
            "name": name,
            "kind": 1,
            "startTimeUnixNano": str(begin),
            "endTimeUnixNano": str(begin + 5 * 10**6 if parent else begin + 90 * 10**6),
            "attributes": attributes({**values, **{k.replace("_", "."): v for k, v in more.items()}}),
        }

    asked = [
        {"type": "tool_call", "id": f"c{i}", "name": name, "arguments": args} for i, (name, args, _) in enumerate(calls)
    ]
    responses = [
        {"type": "tool_call_response", "id": f"c{i}", "response": value} for i, (_, _, value) in enumerate(calls)
    ]
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1"}
    spans = [span(1, 0, "invoke_agent shop", {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "shop"}, 0)]
    history = [text("user", request)]
    if calls:
        first = {
            **chat,
            "gen_ai.input.messages": history,
            "gen_ai.output.messages": [{"role": "assistant", "parts": asked}],
        }
        spans.append(span(2, 1, "chat m-1", first, 1))
        for i, (name, args, value) in enumerate(calls):
            tool = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": name,
                "gen_ai.tool.call.id": f"c{i}",
                "gen_ai.tool.call.arguments": args,
                "gen_ai.tool.call.result": value,
            }
            spans.append(span(10 + i, 1, f"execute_tool {name}", tool, 10 + 6 * i))
        history = [*history, {"role": "assistant", "parts": asked}, {"role": "tool", "parts": responses}]
    last = {**chat, "gen_ai.input.messages": history, "gen_ai.output.messages": [text("assistant", answer)]}
    spans.append(span(3, 1, "chat m-1", last, 60))
    resource = {"attributes": attributes({"service.name": "shop"})}
    scope = {"scope": {"name": "hand.made", "version": "1"}, "spans": spans}
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]})


def sample(folder: Path) -> Path:
    """Three runs: a right call, a wrong call, a question."""
    lines = [
        agent_trace(1, "where is my order?", "It is on its way.", ("find", {"q": "order"}, {"id": "A-1"})),
        agent_trace(2, "refund A-1", "Done.", ("find", {"q": "A-1"}, []), ("refund", {"id": "A-1"}, "ok")),
        agent_trace(3, "refund it", "Which order do you mean?"),
    ]
    path = folder / "traces.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


CASES = [
    {"prompt": "where is my order?", "expected": "find"},
    {"prompt": "refund A-1", "expected": "refund"},
    {"prompt": "refund it", "expected": "none"},
]


def suite(folder: Path, cases: list[dict[str, str]] | None = None) -> Path:
    path = folder / "shop.jsonl"
    path.write_text("\n".join(json.dumps(case) for case in cases or CASES) + "\n", "utf-8")
    return path
