"""Langfuse SDK (v3 and later, on OpenTelemetry): `langfuse.observation.type` with input and output as JSON."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects._tooluse import tool_use
from otel_toolselect.dialects.genai import base_fields
from otel_toolselect.model.observations import Kind, Observation

_KINDS: dict[str, Kind] = {"generation": "model", "tool": "tool", "agent": "agent"}
_OBSERVE = 'decorate tools with @observe(as_type="tool") and leave capture_input/capture_output on'


def _asked(value: object) -> str | None:
    """The one text argument of an agent function."""
    decoded = coerce.structure(value)
    if decoded is None:
        return coerce.string(value)
    if not isinstance(decoded, dict):
        return None
    args, kwargs = decoded.get("args"), decoded.get("kwargs")
    given = [*(args if isinstance(args, list) else ()), *(kwargs.values() if isinstance(kwargs, dict) else ())]
    texts = [t for t in given if isinstance(t, str) and t]
    return texts[0] if len(texts) == 1 else None


@dataclass(frozen=True)
class Langfuse:
    name: str = "langfuse"
    priority: int = 50
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": _OBSERVE,
            "results": _OBSERVE,
            "request": _OBSERVE,
            "catalog": "use Langfuse's OpenAI or LangChain integration: the tools are in the generation's input",
            "ids": "Langfuse records no call id on tool observations; calls are tied by name and arguments",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return "langfuse.observation.type" in keys

    def read(self, source: Source) -> Observation:
        kind = _KINDS.get(str(source.get("langfuse.observation.type")), "other")
        fields = base_fields(source)
        fields["conversation_id"] = coerce.identifier(source.first("session.id", "langfuse.session.id"))
        fields["model"] = coerce.string(source.first("langfuse.observation.model.name", "gen_ai.request.model"))
        usage = coerce.structure(source.get("langfuse.observation.usage_details"))
        if isinstance(usage, dict):
            fields["input_tokens"] = coerce.integer(usage.get("input", usage.get("prompt_tokens")))
            fields["output_tokens"] = coerce.integer(usage.get("output", usage.get("completion_tokens")))
        given, said = source.get("langfuse.observation.input"), source.get("langfuse.observation.output")
        if kind == "tool":
            failed = source.get("langfuse.observation.level") == "ERROR"
            use = tool_use(source, name=source.span.name, args=given, result=said, failed=failed)
            return Observation(source.span, self.name, kind, tool=use, **fields)
        if kind == "model":
            decoded = coerce.structure(given)
            tools = coerce.tools(decoded.get("tools")) if isinstance(decoded, dict) else None
            return Observation(
                source.span,
                self.name,
                kind,
                input=messages(given),
                output=messages(said, default_role="assistant"),
                tools=tools,
                **fields,
            )
        if kind == "agent":
            fields["agent"] = source.span.name
        text = coerce.string(said) if coerce.structure(said) is None else None
        return Observation(source.span, self.name, kind, request=_asked(given), final_text=text, **fields)


PLUGIN = Langfuse()
