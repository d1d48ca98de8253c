"""OpenTelemetry GenAI semantic conventions, current and older forms: the dialect of everybody who follows them.

Spec: semantic-conventions-genai, "GenAI spans", "GenAI agent spans", "GenAI events". Older forms read as well: message
events (1.28 to 1.36), numbered prompt/completion attributes (before), `gen_ai.system` for the provider.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._content import DETAILS, content, final_text
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._outcome import outcome
from otel_toolselect.dialects._source import Source
from otel_toolselect.model.observations import Kind, Observation, ToolUse
from otel_toolselect.model.quick import maker
from otel_toolselect.model.runs import ToolDefinition, Unknown
from otel_toolselect.model.spans import Span

MODEL_OPERATIONS = frozenset({"chat", "generate_content", "text_completion", "completion", "response", "responses"})
OTHER_OPERATIONS = frozenset(
    {
        "create_agent",
        "invoke_workflow",
        "execute_task",
        "embeddings",
        "retrieval",
        "agent_step",
        "chain",
        "plan",
        "rerank",
        "evaluate",
        "handoff",
    }
)
PHANTOM_TOOLS = frozenset({"(merged tools)"})  # bookkeeping spans that look like executions
ARGUMENT_KEYS = ("gen_ai.tool.call.arguments", "gen_ai.tool.input", "gen_ai.tool.arguments", "tool_arguments")
RESULT_KEYS = ("gen_ai.tool.call.result", "gen_ai.tool.output", "gen_ai.tool.message", "tool_response")
CAPTURE = (
    "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY (or `true` for older instrumentations) and "
    "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental"
)


_make_observation, _make_tool_use = maker(Observation), maker(ToolUse)


def kind_of(span: Span) -> Kind:
    """What a span of the conventions is, by its operation name; by its attributes where that is missing."""
    operation = str(span.attributes.get("gen_ai.operation.name") or "")
    if operation == "execute_tool":
        return "other" if str(span.attributes.get("gen_ai.tool.name")) in PHANTOM_TOOLS else "tool"
    if operation == "invoke_agent":
        return "agent"
    if operation in MODEL_OPERATIONS:
        return "model"
    if operation in OTHER_OPERATIONS or operation:
        return "other"
    if "gen_ai.tool.name" in span.attributes and "gen_ai.request.model" not in span.attributes:
        return "tool"
    if "gen_ai.request.model" in span.attributes:
        return "model"
    if any(k.startswith(("gen_ai.prompt.", "gen_ai.completion.")) for k in span.attributes):
        return "model"
    return "other"


_BASE: tuple[tuple[str, Callable[[Any], Any], str, str], ...] = (
    ("agent", coerce.string, "gen_ai.agent.name", "gen_ai.agent.name"),
    ("conversation_id", coerce.identifier, "gen_ai.conversation.id", "session.id"),
    ("provider", coerce.string, "gen_ai.provider.name", "gen_ai.system"),
    ("model", coerce.string, "gen_ai.request.model", "gen_ai.response.model"),
    ("response_id", coerce.string, "gen_ai.response.id", "gen_ai.response.id"),
    ("input_tokens", coerce.integer, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    ("output_tokens", coerce.integer, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    ("cost_usd", coerce.number, "gen_ai.usage.cost", "gen_ai.usage.cost_usd"),
)
"""Field, how it is read, its attribute, and the attribute of older versions."""
_NO_FIELDS: dict[str, Any] = dict.fromkeys([f[0] for f in _BASE])


def base_fields(source: Source) -> dict[str, Any]:
    """The fields that every span of the conventions may carry; None for those that it does not."""
    return {**_NO_FIELDS, **_fields(source)}


def _fields(source: Source) -> dict[str, Any]:
    """Those of the base fields that the span's attributes can tell: the others keep the None that they have."""
    attributes = source.span.attributes
    plan = source.plans.get("base")
    if plan is None:
        plan = source.plans["base"] = tuple(f for f in _BASE if f[2] in attributes or f[3] in attributes)
    get = attributes.get
    fields: dict[str, Any] = {}
    for field_name, read, key, older in plan:
        value = get(key)
        if value is None or value == "":
            value = get(older)
        if value is not None:
            fields[field_name] = read(value)
    return fields


def read_messages(source: Source, kind: Kind, dialect: str) -> Observation:
    """A model, agent or other span with its messages."""
    found = content(source)
    outputs = found.output
    return _make_observation(
        span=source.span,
        dialect=dialect,
        kind=kind,
        input=found.input,
        output=outputs,
        system=found.system,
        tools=found.tools,
        final_text=final_text(outputs) if kind != "model" else None,
        **_fields(source),
    )


def read_tool(source: Source, dialect: str, name: str | None = None) -> Observation:
    """An `execute_tool` span; arguments and result from attributes, else from its events."""
    args, raw = coerce.arguments(source.first(*ARGUMENT_KEYS))
    value, said = coerce.result(source.first(*RESULT_KEYS))
    if isinstance(args, Unknown) and raw is None:
        args, raw = _event_arguments(source, args)
    if isinstance(value, Unknown):
        value, event_said = _event_result(source, value)
        said = event_said if said is None else said
    ended = outcome(source, said)
    get = source.span.attributes.get
    tool_name = name or coerce.string(get("gen_ai.tool.name")) or source.span.name.removeprefix("execute_tool ")
    schema = coerce.structure(get("gen_ai.tool.json_schema"))
    known: tuple[ToolDefinition, ...] | None = None
    if isinstance(schema, dict):
        known = (ToolDefinition(tool_name, coerce.string(get("gen_ai.tool.description")) or "", schema),)
    return _make_observation(
        span=source.span,
        dialect=dialect,
        kind="tool",
        tools=known,
        tool=_make_tool_use(
            name=tool_name,
            args=args,
            raw_args=raw,
            call_id=coerce.string(get("gen_ai.tool.call.id")),
            result=value,
            ok=ended.ok,
            error_type=ended.error_type,
            error_text=ended.error_text,
            server=coerce.string(source.first("mcp.server.name", "gen_ai.tool.server")),
        ),
        **_fields(source),
    )


def _event_arguments(source: Source, unknown: Any) -> tuple[Any, str | None]:
    """Arguments in a tool span's events: `gen_ai.tool.message` is the tool's input there."""
    for signal in source.named("gen_ai.tool.message"):
        if signal.body is None:
            return coerce.arguments(signal.attributes.get("content"))
    for signal in source.named(*DETAILS):
        for item in messages(signal.attributes.get("gen_ai.input.messages")) or ():
            if item.calls:
                return item.calls[0].args, item.calls[0].raw
    return unknown, None


def _event_result(source: Source, unknown: Any) -> tuple[Any, bool | None]:
    """Result in a tool span's events: `gen_ai.choice` is the tool's output there, not a model's."""
    for signal in source.named("gen_ai.choice"):
        if signal.body is None:
            return coerce.result(signal.attributes.get("message"))
    for signal in source.named(*DETAILS):
        for item in messages(signal.attributes.get("gen_ai.output.messages"), default_role="tool") or ():
            for part in item.results:
                return part.value, part.is_error
    return unknown, None


@dataclass(frozen=True)
class GenAI:
    name: str = "otel-genai"
    priority: int = 10
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": CAPTURE,
            "results": CAPTURE,
            "request": CAPTURE,
            "catalog": CAPTURE + "; tool definitions need an instrumentation that records gen_ai.tool.definitions",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return any(k.startswith("gen_ai.") for k in keys)

    def read(self, source: Source) -> Observation:
        kind = kind_of(source.span)
        return read_tool(source, self.name) if kind == "tool" else read_messages(source, kind, self.name)


PLUGIN = GenAI()
