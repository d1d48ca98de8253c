"""The short way for messages as the GenAI conventions have them now: what `_messages` would read, read at once.

Spec: semantic-conventions-genai, input and output message schemas. Nearly all messages in traffic look like
that. Anything else, be it one more member, is left to the long way.
"""

from __future__ import annotations

from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.model.observations import CallPart, Message, Part, ResultPart, TextPart
from otel_toolselect.model.quick import maker

_make_message, _make_text = maker(Message), maker(TextPart)
_make_call, _make_result = maker(CallPart), maker(ResultPart)
_ROLES = frozenset({"system", "user", "assistant", "tool"})


def conventional(value: Any) -> Message | None:
    """A message with a role, parts and at most a finish reason; None when it is another one."""
    if not isinstance(value, dict):
        return None
    role, listed = value.get("role"), value.get("parts")
    if not listed or len(value) != (3 if "finish_reason" in value else 2):
        return None
    if not isinstance(listed, list) or not isinstance(role, str) or role not in _ROLES:
        return None
    parts: list[Part] = []
    for block in listed:
        part = _part(block)
        if part is None:
            return None
        parts.append(part)
    if role == "tool" and not isinstance(parts[0], ResultPart):
        return None
    return _make_message(role, tuple(parts))


def _part(block: Any) -> Part | None:
    if not isinstance(block, dict):
        return None
    kind = block.get("type")
    if kind == "text":
        text = block.get("content")
        return _make_text(text) if len(block) == 2 and isinstance(text, str) and text else None
    call_id = block.get("id")
    if not isinstance(call_id, str) or not call_id:
        return None
    if kind == "tool_call":
        name = block.get("name")
        if len(block) != 4 or "arguments" not in block or not isinstance(name, str) or not name:
            return None
        args, raw = coerce.arguments(block["arguments"])
        return _make_call(name, args, call_id, raw)
    if kind == "tool_call_response" and len(block) == 3:
        given = block.get("response", block.get("result"))
        if isinstance(given, str):
            result, said = coerce.result(given)
            return _make_result(call_id, result, None, said)
    return None
