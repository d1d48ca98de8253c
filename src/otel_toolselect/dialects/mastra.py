"""Mastra's exporter: the GenAI conventions on the outside, the real content in `mastra.<span type>.input` / `.output`.

Its chat spans say an empty text where the model asked for tools; what the model said stands on the step around it.
Tool definitions are names only. Written from a description of its spans, not from a capture.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._messages import call_part
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects.genai import kind_of, read_messages, read_tool
from otel_toolselect.model.observations import Message, Observation, Part, TextPart

_STEP = ("mastra.model_step.output", "mastra.model_generation.output")


def _said(value: Any) -> tuple[Message, ...] | None:
    """The answer of a step: its text and the calls that it asks for."""
    decoded = coerce.structure(value)
    if not isinstance(decoded, dict):
        text = coerce.string(value)
        return (Message("assistant", (TextPart(text),)),) if text and decoded is None else None
    parts: list[Part] = []
    if isinstance(decoded.get("text"), str) and decoded["text"]:
        parts.append(TextPart(decoded["text"]))
    for item in decoded.get("toolCalls") or decoded.get("tool_calls") or ():
        inner = item.get("payload", item) if isinstance(item, dict) else None
        part = call_part(inner)
        if part is not None:
            parts.append(part)
    return (Message("assistant", tuple(parts)),) if parts else None


def _text(value: Any) -> str | None:
    decoded = coerce.structure(value)
    if isinstance(decoded, dict):
        return coerce.string(decoded.get("text"))
    return coerce.string(value) if decoded is None else None


def _asked(value: Any) -> str | None:
    users = [m for m in messages(value) or () if m.role == "user" and m.text]
    return users[-1].text if users else None


@dataclass(frozen=True)
class Mastra:
    name: str = "mastra"
    priority: int = 50
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "catalog": "Mastra records the names of tools only: pin the case's tools in the suite",
            "request": "leave the exporter's input and output serialization on",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return "mastra.span.type" in keys or scope.startswith("@mastra/")

    def read(self, source: Source) -> Observation:
        kind = kind_of(source.span)
        session = coerce.identifier(source.first("mastra.metadata.sessionId", "mastra.metadata.threadId"))
        if kind == "tool":
            read = read_tool(source, self.name)
            return replace(read, conversation_id=read.conversation_id or session)
        read = read_messages(source, kind, self.name)
        read = replace(read, conversation_id=read.conversation_id or session)
        if kind == "agent":
            asked, answer = source.get("mastra.agent_run.input"), source.get("mastra.agent_run.output")
            return replace(read, request=_asked(asked), final_text=read.final_text or _text(answer))
        if kind == "model":  # an empty text stands for calls: not what the model said
            return replace(read, output=read.output if any(m.parts for m in read.output or ()) else None)
        step = _said(source.first(*_STEP)) if source.get(_STEP[0]) is not None else None
        return replace(read, kind="model", output=step, input=None) if step is not None else read


PLUGIN = Mastra()
