"""Message content of the GenAI conventions, from wherever a version of them puts it.

Sources in order of trust, the first that has anything wins, so that a span written by two versions counts once:
1. attributes `gen_ai.input.messages` / `gen_ai.output.messages` (JSON text or structured values);
2. the event or log record `gen_ai.client.inference.operation.details` with the same keys;
3. one event or log record per message: `gen_ai.{system,user,assistant,tool}.message`, `gen_ai.choice`;
4. numbered attributes `gen_ai.prompt.N.*` / `gen_ai.completion.N.*`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._indexed import unflatten
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._messages import message
from otel_toolselect.dialects._source import Signal, Source
from otel_toolselect.model.observations import Message, TextPart
from otel_toolselect.model.runs import ToolDefinition

DETAILS = ("gen_ai.client.inference.operation.details", "gen_ai.client.inference.details")
_MESSAGE_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}


class Content(NamedTuple):
    input: tuple[Message, ...] | None
    output: tuple[Message, ...] | None
    system: str | None
    tools: tuple[ToolDefinition, ...] | None


def content(source: Source) -> Content:
    """Everything that a model or agent span says of its messages."""
    given = _detail(source, "gen_ai.input.messages")
    said = _detail(source, "gen_ai.output.messages")
    inputs = messages(given, default_role="user")
    outputs = messages(said, default_role="assistant")
    if not inputs and not outputs:
        inputs, outputs = _from_events(source)
    if not outputs or not any(m.parts for m in outputs):  # a newer attribute may be there and say nothing
        indexed_input, indexed_output = _from_indexed(source)
        inputs, outputs = inputs or indexed_input, indexed_output or outputs
    system = system_text(_detail(source, "gen_ai.system_instructions"))
    if system is None and inputs:
        system = "\n".join([m.text for m in inputs if m.role == "system"]) or None
    return Content(inputs, outputs, system, _tools(source))


def _detail(source: Source, key: str) -> Any:
    value = source.span.attributes.get(key)
    if value is not None and value != "":
        return value
    for signal in source.named(*DETAILS) if source.signals else ():
        found = signal.attributes.get(key)
        if found is None and isinstance(signal.body, dict):
            found = signal.body.get(key)
        if found is not None:
            return found
    return None


def system_text(value: Any) -> str | None:
    """System instructions as text: parts, messages or a plain text."""
    if value is None:
        return None
    decoded = coerce.structure(value)
    if isinstance(decoded, list):
        blocks = [b.get("content", b.get("text")) if isinstance(b, dict) else b for b in decoded]
        return "\n".join(b for b in blocks if isinstance(b, str) and b) or None
    text = coerce.text_of(value)
    return text if text and text not in coerce.REDACTED else None


def _tools(source: Source) -> tuple[ToolDefinition, ...] | None:
    for key in ("gen_ai.tool.definitions", "gen_ai.request.tools", "gen_ai.agent.tools"):
        given = _detail(source, key)
        found = coerce.tools(given) if given is not None else None
        if found:
            return found
    found = coerce.tools(unflatten(source.span.attributes, "llm.request.functions") or None)
    return found or (_event_tools(source) if source.signals else None)


def _event_tools(source: Source) -> tuple[ToolDefinition, ...] | None:
    for signal in source.named("gen_ai.user.message"):
        body = coerce.structure(signal.body)
        inner = body.get("content") if isinstance(body, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("tools"), list):
            return coerce.tools(inner["tools"])
    return None


def _from_events(source: Source) -> tuple[tuple[Message, ...] | None, tuple[Message, ...] | None]:
    given: list[Message] = []
    said: list[Message] = []
    for signal in source.signals:
        if signal.name in _MESSAGE_EVENTS:
            given.extend(_event_messages(signal, _MESSAGE_EVENTS[signal.name]))
        elif signal.name == "gen_ai.choice":
            said.extend(_event_messages(signal, "assistant"))
    return tuple(given) or None, tuple(said) or None


def _event_messages(signal: Signal, role: str) -> Iterator[Message]:
    body = coerce.structure(signal.body)
    fields = body if isinstance(body, dict) else dict(signal.attributes)
    inner = fields.get("message")
    if isinstance(inner, str):  # span events carry the message as JSON text of its content blocks
        fields = {**fields, "content": inner}
        fields.pop("message")
    elif isinstance(inner, dict):
        fields = {**inner, **{k: v for k, v in fields.items() if k == "tool_calls" and v}}
    value = {"role": role, **{k: v for k, v in fields.items() if k != "role"}}
    if isinstance(value.get("content"), dict):
        if "tools" in value["content"]:  # a tool catalog dressed up as a message
            return
        inner = value["content"]
        value["content"] = inner["parts"] if isinstance(inner.get("parts"), list) else [inner]
    found = message(value, role)
    if found is not None:
        yield found


def _from_indexed(source: Source) -> tuple[tuple[Message, ...] | None, tuple[Message, ...] | None]:
    attributes = source.span.attributes
    given = [message(m) for m in unflatten(attributes, "gen_ai.prompt")]
    said = _merged([message(m, "assistant") for m in unflatten(attributes, "gen_ai.completion")])
    return tuple(m for m in given if m) or None, said


def _merged(items: list[Message | None]) -> tuple[Message, ...] | None:
    found = [m for m in items if m is not None and m.parts]
    return tuple(found) or None


def final_text(outputs: tuple[Message, ...] | None) -> str | None:
    """The text of the last assistant message."""
    for item in reversed(outputs or ()):
        if item.role == "assistant" and any(isinstance(p, TextPart) for p in item.parts):
            return item.text
    return None
