"""Hand-built spans by the GenAI conventions: fixed ids, seconds since a fixed base."""

from __future__ import annotations

import json
from typing import Any

from otel_toolselect import assemble, dialects
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Span

BASE = 1_790_000_000 * 10**9
TRACE = "a" * 32


def span(
    name: str,
    operation: str,
    *,
    at: float = 0,
    until: float | None = None,
    parent: str = "",
    trace: str = TRACE,
    **more: Any,
) -> Span:
    """A span called `name`, which is its id too. `more`: attributes, with `__` for the dot, values as JSON text
    if not scalar.
    """
    attributes = {"gen_ai.operation.name": operation}
    for key, value in more.items():
        text = value if isinstance(value, (str, int, float, bool)) else json.dumps(value)
        attributes[key.replace("__", ".")] = text
    end = at + 1 if until is None else until
    return Span(
        trace_id=trace,
        span_id=_id(name),
        parent_span_id=_id(parent) if parent else "",
        name=name,
        start_ns=BASE + int(at * 1e9),
        end_ns=BASE + int(end * 1e9) if end else 0,
        attributes=attributes,
        resource={"service.name": "shop"},
    )


def _id(name: str) -> str:
    return name.encode().hex()[:16].ljust(16, "0")


def agent(name: str = "agent", **more: Any) -> Span:
    return span(name, "invoke_agent", **{"until": 100, "gen_ai__agent__name": name, **more})


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"type": "text", "content": text}]}


def says(text: str) -> dict[str, Any]:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}]}


def calls(*items: tuple[str, dict[str, Any], str | None]) -> dict[str, Any]:
    parts = [{"type": "tool_call", "name": n, "arguments": a, **({"id": i} if i else {})} for n, a, i in items]
    return {"role": "assistant", "parts": parts}


def answer(call_id: str, value: Any) -> dict[str, Any]:
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, "response": value}]}


def chat(name: str, given: list[dict[str, Any]], said: list[dict[str, Any]] | None, **more: Any) -> Span:
    output = {} if said is None else {"gen_ai__output__messages": said}
    return span(name, "chat", gen_ai__input__messages=given, gen_ai__request__model="m", **output, **more)


def tool(
    name: str, tool_name: str, args: dict[str, Any] | None = None, call_id: str | None = None, **more: Any
) -> Span:
    known: dict[str, Any] = {} if args is None else {"gen_ai__tool__call__arguments": args}
    if call_id:
        known["gen_ai__tool__call__id"] = call_id
    return span(name, "execute_tool", gen_ai__tool__name=tool_name, **known, **more)


def runs(*spans: Span) -> list[Run]:
    return assemble.assemble(dialects.read(spans))


def run(*spans: Span) -> Run:
    (found,) = runs(*spans)
    return found
