"""Spans that the runner makes: its own around each attempt, and those of an agent that sends none.

They follow the GenAI conventions, so that what is judged goes through the ordinary decoder: `invoke_agent` for the
attempt, `chat` with the request, the offered tools and the calls that were asked for, `execute_tool` for each call that
states a result. The runner's own span carries the case's identity, and `toolselect.infra` when the attempt was lost to
the platform.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.runs import INFRA, ToolDefinition
from otel_toolselect.model.spans import KIND_CLIENT, KIND_INTERNAL, STATUS_ERROR, Attributes, Span
from otel_toolselect.suites.runner.answers import Answer, Call
from otel_toolselect.suites.runner.target import Outcome, Trial

SCOPE = "otel_toolselect.runner"
EMPTY = "(empty answer)"
"""Stands for an answer without calls and without a text: that nothing was called is known, and counts."""


@dataclass(frozen=True, slots=True)
class Frame:
    """The attempt that spans are made for: its identity as attributes, and when it was (nanoseconds UTC)."""

    trial: Trial
    identity: Mapping[str, str]
    service: str
    start_ns: int
    end_ns: int

    def span(self, at: str, parent: str, name: str, attributes: Attributes, **fields: Any) -> Span:
        return Span(
            trace_id=self.trial.trace_id,
            span_id=self.id_of(at),
            parent_span_id=parent,
            name=name,
            start_ns=fields.pop("start_ns", self.start_ns),
            end_ns=fields.pop("end_ns", self.end_ns),
            attributes=attributes,
            resource={"service.name": self.service},
            scope_name=SCOPE,
            **fields,
        )

    def id_of(self, at: str) -> str:
        if not at:
            return self.trial.span_id
        return hashlib.sha256(f"{self.trial.trace_id}/{at}".encode()).hexdigest()[:16]


def own_span(frame: Frame, outcome: Outcome) -> Span:
    """The runner's span: parent of whatever the agent sends under the trace that it was handed."""
    attributes: dict[str, Any] = dict(frame.identity)
    fields: dict[str, Any] = {"kind": KIND_CLIENT}
    wrong = outcome.fault or outcome.trouble
    if outcome.fault:
        attributes[INFRA] = outcome.fault
    if wrong:
        attributes["error.type"] = "infra" if outcome.fault else "agent"
        fields |= {"status_code": STATUS_ERROR, "status_message": wrong}
    return frame.span("", "", "toolselect attempt", attributes, **fields)


def stated_spans(frame: Frame, answer: Answer) -> list[Span]:
    """An agent's run as its answer states it."""
    asked = _message("user", {"type": "text", "content": frame.trial.attempt.prompt})
    calls = [(call, call.call_id or f"call_{n}") for n, call in enumerate(answer.calls, 1)]
    text = answer.text or ("" if calls else EMPTY)
    said = [{"type": "text", "content": text}] if text else []
    parts = [*said, *({"type": "tool_call", "id": i, "name": c.name, "arguments": c.args} for c, i in calls)]
    usage = {"gen_ai.usage.input_tokens": answer.input_tokens, "gen_ai.usage.output_tokens": answer.output_tokens}
    common = {"gen_ai.request.model": answer.model, "gen_ai.provider.name": answer.provider}
    executed = any(call.executed for call in answer.calls)
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": _json([asked]), **common}
    if text and (executed or not calls):
        final = _message("assistant", {"type": "text", "content": text}) | {"finish_reason": "stop"}
        agent["gen_ai.output.messages"] = _json([final])
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": _json([asked]),
        "gen_ai.output.messages": _json([{"role": "assistant", "parts": parts}]),
        "gen_ai.system_instructions": _json([{"type": "text", "content": answer.system}]) if answer.system else None,
        "gen_ai.tool.definitions": None if answer.tools is None else _json([_defined(t) for t in answer.tools]),
        **common,
        **usage,
    }
    root = frame.id_of("agent")
    found = [frame.span("agent", frame.trial.span_id, "invoke_agent", _given(agent), kind=KIND_INTERNAL)]
    found.append(frame.span("chat", root, "chat", _given(chat), kind=KIND_CLIENT))
    found += [_tool(frame, root, n, call, call_id) for n, (call, call_id) in enumerate(calls) if call.executed]
    return found


def silent_spans(frame: Frame, outcome: Outcome) -> list[Span]:
    """A run of which nothing is known but the request."""
    asked = _message("user", {"type": "text", "content": frame.trial.attempt.prompt})
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.input.messages": _json([asked])}
    wrong = outcome.fault or outcome.trouble
    fields: dict[str, Any] = {}
    if wrong:
        attributes["error.type"] = "infra" if outcome.fault else "agent"
        fields = {"status_code": STATUS_ERROR, "status_message": wrong}
    return [frame.span("agent", frame.trial.span_id, "invoke_agent", attributes, kind=KIND_INTERNAL, **fields)]


def _tool(frame: Frame, root: str, n: int, call: Call, call_id: str) -> Span:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.call.arguments": _json(call.args),
        "gen_ai.tool.call.result": None if call.error is not None else _json(call.result),
        "error.type": call.error,
    }
    fields = {"status_code": STATUS_ERROR, "status_message": call.error} if call.error is not None else {}
    return frame.span(f"tool{n}", root, f"execute_tool {call.name}", _given(attributes), **fields)


def _defined(tool: ToolDefinition) -> dict[str, Any]:
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema}


def _message(role: str, part: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": [part]}


def _given(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in attributes.items() if v is not None}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
