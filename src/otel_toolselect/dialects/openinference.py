"""OpenInference semantic conventions (Arize): `openinference.span.kind`, flattened `llm.*` messages, `input.value`.

Spec: openinference/spec, "Semantic Conventions" and "Traces". Frameworks differ in what they put where; the differences
that were seen in captures are told apart by shape, not by library name.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._content import final_text
from otel_toolselect.dialects._indexed import unflatten
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._messages import message
from otel_toolselect.dialects._outcome import outcome
from otel_toolselect.dialects._source import Source
from otel_toolselect.model.observations import Kind, Message, Observation, ToolUse
from otel_toolselect.model.runs import ToolDefinition, Unknown

KIND = "openinference.span.kind"
_KINDS: dict[str, Kind] = {"LLM": "model", "TOOL": "tool", "AGENT": "agent"}
_UNMASK = "unset OPENINFERENCE_HIDE_INPUTS / OPENINFERENCE_HIDE_OUTPUTS (and their TraceConfig fields)"


def flat_messages(source: Source, prefix: str, role: str) -> tuple[Message, ...] | None:
    """Messages below `llm.input_messages` or `llm.output_messages`, each nested as `N.message.*`."""
    found: list[Message] = []
    for item in unflatten(source.span.attributes, prefix):
        inner = item.get("message") if isinstance(item, dict) else None
        if isinstance(inner, dict):
            read = message(_plain(inner), role)
            if read is not None and (read.parts or len(inner) > 1):
                found.append(read)
    return tuple(found) or None


def _plain(inner: dict[str, Any]) -> dict[str, Any]:
    """One flattened message as a plain one: `contents.N.message_content` and `tool_calls.N.tool_call` unpacked.

    A text or call given both in `content`/`tool_calls` and in `contents` is one text and one call.
    """
    value = {k: v for k, v in inner.items() if k not in ("contents", "tool_calls")}
    blocks = [c.get("message_content", c) for c in inner.get("contents", []) if isinstance(c, dict)]
    calls = [c.get("tool_call", c) for c in inner.get("tool_calls", []) if isinstance(c, dict)]
    if calls:
        value["tool_calls"] = calls
    texts = [b for b in blocks if isinstance(b.get("text"), str)]
    if texts and not value.get("content"):
        value["content"] = [{"type": "text", "text": b["text"]} for b in texts]
    if not calls:
        value["tool_calls"] = [b["tool_call"] for b in blocks if isinstance(b.get("tool_call"), dict)]
    return value


def _model(source: Source) -> tuple[tuple[Message, ...] | None, tuple[Message, ...] | None]:
    given = flat_messages(source, "llm.input_messages", "user")
    said = flat_messages(source, "llm.output_messages", "assistant")
    if given is None and _is_json(source, "input"):
        given = messages(source.get("input.value"))
    if said is None and _is_json(source, "output"):
        said = messages(source.get("output.value"), default_role="assistant")
    return given, said


def _is_json(source: Source, side: str) -> bool:
    return isinstance(coerce.structure(source.get(f"{side}.value")), dict)


def _tools(source: Source) -> tuple[ToolDefinition, ...] | None:
    listed = [
        t.get("tool", {}).get("json_schema")
        for t in unflatten(source.span.attributes, "llm.tools")
        if isinstance(t, dict)
    ]
    found = coerce.tools([t for t in listed if t]) if listed else None
    if found:
        return found
    for key in ("llm.invocation_parameters", "input.value"):
        params = coerce.structure(source.get(key))
        if isinstance(params, dict) and isinstance(params.get("tools"), list):
            found = coerce.tools(params["tools"])
            if found:
                return found
    return None


def _common(source: Source) -> dict[str, Any]:
    metadata = coerce.structure(source.get("metadata"))
    named = metadata.get("lc_agent_name") if isinstance(metadata, dict) else None
    return {
        "agent": coerce.string(source.first("agent.name", "gen_ai.agent.name")) or coerce.string(named),
        "conversation_id": coerce.identifier(source.first("session.id", "gen_ai.conversation.id")),
        "provider": coerce.string(source.first("llm.provider", "llm.system", "gen_ai.provider.name")),
        "model": coerce.string(source.first("llm.model_name", "gen_ai.request.model")),
        "input_tokens": coerce.integer(source.get("llm.token_count.prompt")),
        "output_tokens": coerce.integer(source.get("llm.token_count.completion")),
        "cost_usd": coerce.number(source.get("llm.cost.total")),
    }


def _response_id(source: Source) -> str | None:
    output = coerce.structure(source.get("output.value"))
    return coerce.string(output.get("id")) if isinstance(output, dict) else None


def _read_model(source: Source, dialect: str) -> Observation:
    given, said = _model(source)
    system = "\n".join(m.text for m in given or () if m.role == "system") or None
    return Observation(
        span=source.span,
        dialect=dialect,
        kind="model",
        input=given,
        output=said,
        system=system,
        tools=_tools(source),
        response_id=_response_id(source),
        **_common(source),
    )


def _tool_args(source: Source) -> tuple[dict[str, Any] | Unknown, str | None]:
    args, raw = coerce.arguments(source.get("input.value"))
    if isinstance(args, Unknown):
        params = coerce.structure(source.get("tool.parameters"))
        # `tool.parameters` is the schema in some libraries and the arguments in others
        if isinstance(params, dict) and not ({"properties", "type"} & params.keys()):
            described = params and all(isinstance(v, dict) and "type" in v for v in params.values())
            if not described:
                return params, None
    return args, raw


def _read_tool(source: Source, dialect: str) -> Observation:
    args, raw = _tool_args(source)
    value, said = coerce.result(source.get("output.value"))
    ended = outcome(source, said)
    name = coerce.string(source.first("tool.name", "gen_ai.tool.name")) or source.span.name
    envelope = coerce.structure(source.get("output.value"))
    return Observation(
        span=source.span,
        dialect=dialect,
        kind="tool",
        tool=ToolUse(
            name=name,
            args=args,
            raw_args=raw,
            call_id=coerce.string(source.first("tool_call.id", "tool.id", "tool.call_id")) or _envelope_id(envelope),
            result=value,
            ok=ended.ok,
            error_type=ended.error_type,
            error_text=ended.error_text,
        ),
        **_common(source),
    )


def _envelope_id(envelope: Any) -> str | None:
    """The call id inside a serialized tool message."""
    if not isinstance(envelope, dict):
        return None
    for inner in (envelope, envelope.get("data"), envelope.get("kwargs")):
        if isinstance(inner, dict) and isinstance(inner.get("tool_call_id"), str):
            return inner["tool_call_id"] or None
    return None


def listed_messages(value: Any) -> tuple[Message, ...] | None:
    """Messages of an agent's or chain's value: only real message objects, not the reprs that some frameworks write."""
    decoded = coerce.structure(value)
    listed = decoded.get("messages") if isinstance(decoded, dict) else None
    if isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], list):
        listed = listed[0]
    if not isinstance(listed, list) or not all(isinstance(m, dict) for m in listed):
        return None
    if not all(m.keys() & {"role", "lc", "data"} for m in listed):
        return None
    return messages(listed)


def _read_other(source: Source, kind: Kind, dialect: str) -> Observation:
    given = flat_messages(source, "llm.input_messages", "user")
    if given is None or not any(m.text for m in given):
        given = listed_messages(source.get("input.value"))
    said = flat_messages(source, "llm.output_messages", "assistant")
    text = coerce.string(source.get("output.value"))
    if said is None:
        said = listed_messages(source.get("output.value"))
    return Observation(
        span=source.span,
        dialect=dialect,
        kind=kind,
        input=given,
        output=said,
        final_text=final_text(said) or (text if kind == "agent" and coerce.structure(text) is None else None),
        **_common(source),
    )


def kind_of(source: Source) -> Kind:
    """What a span is. LlamaIndex nests up to three LLM spans per answer; the one with messages is the answer."""
    kind = _KINDS.get(str(source.get(KIND) or "").upper(), "other")
    if (
        kind == "model"
        and source.span.scope_name.endswith("llama_index")
        and not source.has_prefix("llm.input_messages.")
    ):
        return "other"
    return kind


def read_span(source: Source, dialect: str) -> Observation:
    """Any span of these conventions; dialects of single frameworks start from it."""
    kind = kind_of(source)
    if kind == "model":
        return _read_model(source, dialect)
    if kind == "tool":
        return _read_tool(source, dialect)
    return _read_other(source, kind, dialect)


@dataclass(frozen=True)
class OpenInference:
    name: str = "openinference"
    priority: int = 40
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": _UNMASK,
            "results": _UNMASK,
            "request": _UNMASK,
            "catalog": "upgrade to an instrumentor that records llm.tools (or llm.invocation_parameters)",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return KIND in keys or scope.startswith("openinference.instrumentation")

    def read(self, source: Source) -> Observation:
        return read_span(source, self.name)


PLUGIN = OpenInference()
