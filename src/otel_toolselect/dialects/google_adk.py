"""Google Agent Development Kit: its schema 1 (`gcp.vertex.agent.*`) and its GenAI schema, which the conventions cover.

Parallel calls add a bookkeeping span `execute_tool (merged)`. Results that are no object are wrapped in `{"result":
...}`. A failure handled by the reflect-and-retry plugin shows in the result's envelope alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._content import system_text
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._messages import message
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects._tooluse import tool_use
from otel_toolselect.dialects.genai import base_fields, kind_of, read_messages, read_tool
from otel_toolselect.model.observations import Message, Observation, Part, ResultPart, ToolUse

_ARGS, _RESPONSE = "gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"
_REQUEST, _ANSWER = "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"
_CAPTURE = (
    "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT "
    "(schema 1: ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true)"
)


def _tool(source: Source, dialect: str) -> Observation:
    read = read_tool(source, dialect)
    if read.tool is None:
        return read
    use = read.tool
    if source.get(_ARGS) is not None:
        use = tool_use(source, name=use.name, args=source.get(_ARGS), result=source.get(_RESPONSE), call_id=use.call_id)
    return replace(read, tool=_unwrapped(use))


def _unwrapped(use: ToolUse) -> ToolUse:
    value = use.result
    if isinstance(value, dict) and value.keys() == {"result"}:
        return replace(use, result=value["result"])
    if isinstance(value, dict) and use.ok is False and not use.error_type:
        return replace(use, error_type=coerce.string(value.get("error_type")))
    return use


def _plain_results(items: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    """Results in a history, without the wrapping that ADK puts around what is no object."""
    if items is None:
        return None
    return tuple(replace(m, parts=tuple(_plain_part(p) for p in m.parts)) for m in items)


def _plain_part(part: Part) -> Part:
    if isinstance(part, ResultPart) and isinstance(part.value, dict) and part.value.keys() == {"result"}:
        return replace(part, value=part.value["result"])
    return part


def _model(source: Source, dialect: str) -> Observation | None:
    """Schema 1's `call_llm` span: request and response in Gemini's shape."""
    request = coerce.structure(source.get(_REQUEST))
    answer = coerce.structure(source.get(_ANSWER))
    if not isinstance(request, dict) or not request:
        return None
    config = request.get("config") if isinstance(request.get("config"), dict) else {}
    content = answer.get("content") if isinstance(answer, dict) else None
    said = message(content, "assistant") if isinstance(content, dict) else None
    fields = base_fields(source)
    fields["conversation_id"] = fields["conversation_id"] or coerce.identifier(
        source.get("gcp.vertex.agent.session_id")
    )
    return Observation(
        source.span,
        dialect,
        "model",
        input=messages(request.get("contents")),
        output=(said,) if said is not None else None,
        system=system_text(config.get("system_instruction")) if isinstance(config, dict) else None,
        tools=coerce.tools(config.get("tools")) if isinstance(config, dict) else None,
        **fields,
    )


@dataclass(frozen=True)
class GoogleADK:
    name: str = "google-adk"
    priority: int = 50
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": _CAPTURE,
            "results": _CAPTURE,
            "request": _CAPTURE,
            "catalog": _CAPTURE,
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return scope in ("gcp.vertex.agent", "google_adk", "google.adk")

    def read(self, source: Source) -> Observation:
        kind = kind_of(source.span)
        if kind == "tool":
            return _tool(source, self.name)
        read = _model(source, self.name) or read_messages(source, kind, self.name)
        return replace(read, input=_plain_results(read.input))


PLUGIN = GoogleADK()
