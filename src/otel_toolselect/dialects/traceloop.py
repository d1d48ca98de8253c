"""OpenLLMetry / Traceloop: `traceloop.*` attributes around the GenAI conventions.

The current releases write the conventions' own message attributes; older ones write numbered `gen_ai.prompt.N.*`.
Tool and task spans keep their values in `traceloop.entity.input` / `.output`, for LangChain wrapped in an envelope of
the callback.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._outcome import outcome
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects.genai import ARGUMENT_KEYS, RESULT_KEYS, base_fields, kind_of, read_messages
from otel_toolselect.model.observations import Kind, Observation, ToolUse
from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.spans import Span

_SCOPES = (
    "openai.v1",
    "anthropic",
    "langchain",
    "openai_agents",
    "mcp",
    "crewai",
    "llamaindex",
    "haystack",
    "agno",
)
_TRACE_CONTENT = "unset TRACELOOP_TRACE_CONTENT=false (content is on by default)"
_ENVELOPE = frozenset({"input_str", "inputs", "tags", "metadata", "kwargs", "args"})


def _kind(span: Span) -> Kind:
    kind = span.attributes.get("traceloop.span.kind")
    if kind == "tool":
        return "tool"
    if kind == "agent":
        return "agent"
    if kind in ("workflow", "task") and "gen_ai.request.model" not in span.attributes:
        operation = span.attributes.get("gen_ai.operation.name")
        return "agent" if operation == "invoke_agent" and kind == "workflow" else "other"
    return kind_of(span)


def _entity_arguments(source: Source) -> tuple[dict[str, Any] | Unknown, str | None]:
    value = source.first(*ARGUMENT_KEYS, "traceloop.entity.input")
    decoded = coerce.structure(value)
    if isinstance(decoded, dict):
        inner = decoded.get("inputs")
        if isinstance(inner, dict) and decoded.keys() <= _ENVELOPE:
            return inner, None
        if "input_str" in decoded and decoded.keys() <= _ENVELOPE:
            return coerce.arguments(decoded["input_str"])
        if isinstance(decoded.get("arguments"), dict) and isinstance(decoded.get("tool_name"), str):
            return decoded["arguments"], None
    return coerce.arguments(value)


def _entity_id(source: Source) -> str | None:
    """The call id, which LangChain tool spans hold only deep inside the envelope."""
    for key in ("traceloop.entity.input", "traceloop.entity.output", *ARGUMENT_KEYS, *RESULT_KEYS):
        decoded = coerce.structure(source.get(key))
        found = _find_id(decoded, 0)
        if found:
            return found
    return None


def _find_id(value: Any, depth: int) -> str | None:
    if not isinstance(value, dict) or depth > 4:
        return None
    if isinstance(value.get("tool_call_id"), str):
        return value["tool_call_id"] or None
    for key in ("kwargs", "output", "data"):
        found = _find_id(value.get(key), depth + 1)
        if found:
            return found
    return None


def _side(source: Source) -> Literal["server"] | None:
    """The MCP instrumentation names the server's workflow on the server's own span only."""
    workflow = source.get("traceloop.workflow.name")
    served = isinstance(workflow, str) and workflow.endswith(".mcp") and ".mcp" in source.span.scope_name
    return "server" if served else None


def _read_tool(source: Source, dialect: str) -> Observation:
    args, raw = _entity_arguments(source)
    value, said = coerce.result(source.first(*RESULT_KEYS, "traceloop.entity.output"))
    ended = outcome(source, said)
    entity = coerce.string(source.first("gen_ai.tool.name", "traceloop.entity.name"))
    return Observation(
        span=source.span,
        dialect=dialect,
        kind="tool",
        tool=ToolUse(
            name=entity or source.span.name.removeprefix("execute_tool ").removesuffix(".tool"),
            args=args,
            raw_args=raw,
            call_id=coerce.string(source.get("gen_ai.tool.call.id")) or _entity_id(source),
            result=value,
            ok=ended.ok,
            error_type=ended.error_type,
            error_text=ended.error_text,
            side=_side(source),
        ),
        **base_fields(source),
    )


def _read_other(source: Source, kind: Kind, dialect: str) -> Observation:
    read = read_messages(source, kind, dialect)
    agent = read.agent or coerce.string(source.get("traceloop.association.properties.lc_agent_name"))
    conversation = read.conversation_id or coerce.string(source.get("traceloop.association.properties.thread_id"))
    given = read.input
    if kind != "model" and given is None:
        entity = coerce.structure(source.get("traceloop.entity.input"))
        inner = entity.get("inputs", entity) if isinstance(entity, dict) else None
        given = messages(inner) if isinstance(inner, dict) and isinstance(inner.get("messages"), list) else None
    return replace(read, agent=agent, conversation_id=conversation, input=given)


def read_span(source: Source, dialect: str) -> Observation:
    """Any span of this dialect; dialects of single frameworks start from it."""
    kind = _kind(source.span)
    if kind == "tool":
        return _read_tool(source, dialect)
    if source.span.name == "tools/list.mcp":
        listed = coerce.tools(source.get("traceloop.entity.output"))
        return Observation(source.span, dialect, "catalog", tools=listed)
    return _read_other(source, kind, dialect)


@dataclass(frozen=True)
class Traceloop:
    name: str = "openllmetry"
    priority: int = 30
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": _TRACE_CONTENT,
            "results": _TRACE_CONTENT,
            "request": _TRACE_CONTENT,
            "catalog": "use an instrumentation release that records gen_ai.tool.definitions",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        if any(k.startswith("traceloop.") for k in keys):
            return True
        prefix = "opentelemetry.instrumentation."
        return scope.startswith(tuple(prefix + s for s in _SCOPES))

    def read(self, source: Source) -> Observation:
        return read_span(source, self.name)


PLUGIN = Traceloop()
