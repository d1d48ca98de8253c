"""Vercel AI SDK, versions 4 to 7 with the legacy telemetry: `ai.*` attributes on spans of scope `ai`.

(Version 7's own integration follows the GenAI conventions and needs no dialect.) The root `ai.generateText` /
`ai.streamText` is the agent, `*.doGenerate` / `*.doStream` the model call, `ai.toolCall` the execution.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._messages import call_part
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects._tooluse import tool_use
from otel_toolselect.dialects.genai import base_fields
from otel_toolselect.model.observations import Message, Observation, Part, TextPart

_RECORD = "set experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true } on the call"
_ROOTS = ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject")


def _output(source: Source) -> tuple[Message, ...] | None:
    parts: list[Part] = []
    text = coerce.string(source.first("ai.response.text", "ai.response.object", "ai.result.text"))
    if text:
        parts.append(TextPart(text))
    for item in coerce.structure(source.first("ai.response.toolCalls", "ai.result.toolCalls")) or ():
        part = call_part(item)
        if part is not None:
            parts.append(part)
    if not parts and not source.first("ai.response.finishReason", "ai.response.text"):
        return None
    return (Message("assistant", tuple(parts)),)


def _common(source: Source) -> dict[str, Any]:
    fields = base_fields(source)
    session = next(
        (
            v
            for k, v in source.span.attributes.items()
            if k.rsplit(".", 1)[-1].lower() in ("sessionid", "session_id") and v
        ),
        None,
    )
    fields["agent"] = coerce.string(source.first("ai.telemetry.functionId", "resource.name"))
    fields["conversation_id"] = fields["conversation_id"] or coerce.identifier(session)
    fields["provider"] = fields["provider"] or coerce.string(source.get("ai.model.provider"))
    fields["model"] = fields["model"] or coerce.string(source.get("ai.model.id"))
    return fields


@dataclass(frozen=True)
class VercelAI:
    name: str = "vercel-ai"
    priority: int = 50
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": _RECORD,
            "results": _RECORD,
            "request": _RECORD,
            "catalog": _RECORD,
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return "ai.operationId" in keys

    def read(self, source: Source) -> Observation:
        operation = str(source.get("ai.operationId"))
        if operation == "ai.toolCall":
            use = tool_use(
                source,
                name=coerce.string(source.get("ai.toolCall.name")) or source.span.name,
                args=source.get("ai.toolCall.args"),
                result=source.get("ai.toolCall.result"),
                call_id=source.get("ai.toolCall.id"),
            )
            return Observation(source.span, self.name, "tool", tool=use, **_common(source))
        given = messages(source.first("ai.prompt.messages", "ai.prompt"))
        system = "\n".join(m.text for m in given or () if m.role == "system") or None
        if operation in _ROOTS:
            fields = {
                **_common(source),
                "input_tokens": None,
                "output_tokens": None,
            }  # sums over the model spans below
            text = coerce.string(source.first("ai.response.text", "ai.result.text"))
            return Observation(source.span, self.name, "agent", input=given, final_text=text, system=system, **fields)
        if operation.rsplit(".", 1)[-1] in ("doGenerate", "doStream"):
            return Observation(
                source.span,
                self.name,
                "model",
                input=given,
                output=_output(source),
                system=system,
                tools=coerce.tools(source.get("ai.prompt.tools")),
                **_common(source),
            )
        return Observation(source.span, self.name, "other", **_common(source))


PLUGIN = VercelAI()
