"""Messages in every shape that instrumentations serialize, read into `model.observations.Message`.

Known shapes: GenAI conventions (role and parts), OpenAI chat and Responses items, Anthropic and Bedrock content blocks,
Gemini contents, Vercel AI SDK model messages, LangChain constructors and dumps, choices. Reasoning parts are dropped
(R6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._parsing import parse_json
from otel_toolselect.model.observations import CallPart, Message, Part, ResultPart, TextPart

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "tool-response": "tool",
    "tool-call": "assistant",
    "systemmessage": "system",
    "humanmessage": "user",
    "aimessage": "assistant",
    "aimessagechunk": "assistant",
    "toolmessage": "tool",
}
_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
_CALL_TYPES = frozenset({"tool_call", "tool_use", "tool-call", "function_call", "toolUse", "server_tool_use"})
_RESULT_TYPES = frozenset(
    {
        "tool_call_response",
        "tool_result",
        "tool-result",
        "function_call_output",
        "toolResult",
        "tool_response",
    }
)
_REASONING = frozenset({"reasoning", "thinking", "redacted_thinking", "reasoning_content"})


_WRAPS = frozenset({"type", "data", "message"})
"""A message without these keys is a plain one: no wrapping, no item of another kind."""
_BESIDE = frozenset({"tool_calls", "additional_kwargs", "function_call"})


def message(value: Any, default_role: str = "user") -> Message | None:
    """One message; None for what is none (a reasoning item, an unknown object)."""
    if isinstance(value, str):
        decoded = coerce.structure(value)
        return (
            message(decoded, default_role) if isinstance(decoded, dict) else Message(default_role, (TextPart(value),))
        )
    if not isinstance(value, dict):
        return None
    if not _WRAPS.isdisjoint(value):
        value = _unwrap(value)
        kind = coerce.string(value.get("type"))
        if kind in _REASONING:
            return None
        if kind in _CALL_TYPES and "role" not in value:
            part = call_part(value)
            return Message("assistant", (part,)) if part else None
        if kind in _RESULT_TYPES and "role" not in value:
            return Message("tool", (result_part(value),))
    written = value.get("role")
    role = ROLES[written] if isinstance(written, str) and written in ROLES else _role(value, default_role)
    parts = _parts(value)
    if role == "tool" and not any(isinstance(p, ResultPart) for p in parts):
        parts = _as_result(value, parts)
    return Message(role, tuple(parts))


def names_its_role(value: dict[str, Any]) -> bool:
    """Whether `message` reads it the same whatever the default role: it is plain, and its role is one that is known."""
    written = value.get("role")
    return isinstance(written, str) and written in ROLES and _WRAPS.isdisjoint(value)


def _unwrap(value: dict[str, Any]) -> dict[str, Any]:
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), dict):
        ids = value.get("id")
        cls = str(ids[-1]).lower() if isinstance(ids, list) and ids else ""
        return {"role": cls, **value["kwargs"]} if cls in ROLES else value["kwargs"]
    if isinstance(value.get("data"), dict) and coerce.string(value.get("type")) in ROLES:
        return {"role": value["type"], **value["data"]}
    inner = value.get("message")
    if isinstance(inner, dict) and "role" not in value and "parts" not in value and "content" not in value:
        return _unwrap(inner)
    return value


def _role(value: dict[str, Any], default: str) -> str:
    for key in ("role", "type"):
        raw = value.get(key)
        if isinstance(raw, str):
            name = ROLES.get(raw.lower().rsplit(".", 1)[-1])
            if name:
                return name
    return default


def _parts(value: dict[str, Any]) -> list[Part]:
    parts: list[Part] = []
    content = value.get("parts")
    if not isinstance(content, list) or (not content and value.get("content")):
        content = value.get("content", value.get("contents"))
    if isinstance(content, str):
        embedded = _embedded_blocks(content)
        content = embedded if embedded is not None else content
    if isinstance(content, str):
        if content:
            parts.append(TextPart(content))
    elif isinstance(content, (list, dict)):
        listed = content if isinstance(content, list) else [content]
        parts = [part for block in listed if (part := block_part(block)) is not None]
    elif isinstance(value.get("text"), str) and value["text"]:
        parts.append(TextPart(value["text"]))
    if not _BESIDE.isdisjoint(value):
        _add_tool_calls(value, parts)
    return parts


def _embedded_blocks(content: str) -> list[Any] | None:
    """Content blocks that were serialized into the content text; a JSON text of another kind stays text."""
    if not content.startswith("[{"):
        return None
    decoded = parse_json(content)
    if isinstance(decoded, list) and decoded and all(isinstance(b, dict) and _is_block(b) for b in decoded):
        return decoded
    return None


def _is_block(block: dict[str, Any]) -> bool:
    kind = coerce.string(block.get("type"))
    if kind in _TEXT_TYPES:
        return isinstance(block.get("text", block.get("content")), str)
    if kind in _CALL_TYPES or kind in _RESULT_TYPES or kind in _REASONING:
        return True
    return bool(block.keys() & {"toolUse", "toolResult", "functionCall", "functionResponse"}) or block.keys() == {
        "text"
    }


def _add_tool_calls(value: dict[str, Any], parts: list[Part]) -> None:
    """Calls kept beside the content (OpenAI, LangChain); those that a content block already showed are the same."""
    calls = value.get("tool_calls")
    if isinstance(calls, str):
        calls = coerce.structure(calls)
    if not isinstance(calls, list) or not calls:
        extra = value.get("additional_kwargs")
        calls = extra.get("tool_calls") if isinstance(extra, dict) else None
    if not isinstance(calls, list):
        legacy = value.get("function_call")
        calls = [legacy] if isinstance(legacy, dict) else []
    seen = {p.call_id for p in parts if isinstance(p, CallPart) and p.call_id}
    shown = any(isinstance(p, CallPart) and not p.call_id for p in parts)
    for item in calls:
        part = call_part(item)
        if part is not None and part.call_id not in seen and not shown:
            parts.append(part)


def _as_result(value: dict[str, Any], parts: list[Part]) -> list[Part]:
    """A tool message whose content is the result itself."""
    call_id = coerce.string(value.get("tool_call_id")) or coerce.string(value.get("id"))
    name = coerce.string(value.get("name"))
    content = value.get("content")
    if content is None and parts:
        content = "\n".join(p.text for p in parts if isinstance(p, TextPart))
    inner, error = coerce.result(content)
    status = value.get("status")
    if status in ("error", "success"):
        error = status == "error"
    return [ResultPart(call_id, inner, name, error)]


def block_part(block: Any) -> Part | None:
    """One content block or message part."""
    if isinstance(block, str):
        return TextPart(block) if block else None
    if not isinstance(block, dict):
        return None
    if not _WRAPPERS.isdisjoint(block):
        for key, read in _WRAPPED.items():
            if isinstance(block.get(key), dict):
                return read(block[key])
    kind = coerce.string(block.get("type"))
    if kind in _REASONING or block.get("thought") is True:
        return None
    if kind in _CALL_TYPES:
        return call_part(block)
    if kind in _RESULT_TYPES:
        return result_part(block)
    text = block.get("text")
    if text is None:
        text = block.get("content") if kind in (None, "text") or kind in _TEXT_TYPES else None
    if text is None and kind == "refusal":
        text = block.get("refusal")
    return TextPart(text) if isinstance(text, str) and text else None


def call_part(item: Any) -> CallPart | None:
    """A tool call in any of its spellings."""
    if not isinstance(item, dict):
        return None
    if isinstance(item.get("tool_call"), dict):
        return call_part(item["tool_call"])
    inner: dict[str, Any] = item
    for key in ("functionCall", "function"):
        if isinstance(item.get(key), dict):
            inner = item[key]
            break
    name = _text(inner, ("name", "toolName", "tool_name"))
    if name is None:
        return None
    raw: Any = None
    for key in ("arguments", "args", "input", "parameters", "tool_args"):
        raw = inner.get(key)
        if raw is not None:
            break
    args, text = coerce.arguments(raw)
    return CallPart(name, args, _call_id(item, inner), text)


def _text(item: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    """The first of these members that is a text and not an empty one."""
    for key in keys:
        value = item.get(key)
        if isinstance(value, str) and value:
            return value
    return None


def _call_id(item: dict[str, Any], inner: dict[str, Any]) -> str | None:
    for key in ("call_id", "id", "toolCallId", "toolUseId", "tool_call_id", "tool_use_id"):
        found = coerce.string(item.get(key)) or coerce.string(inner.get(key))
        if found:
            return found
    return None


def result_part(item: dict[str, Any]) -> ResultPart:
    """A tool result in any of its spellings."""
    call_id = _text(item, ("tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id", "id"))
    name = _text(item, ("name", "toolName"))
    raw: Any = None
    for key in ("response", "result", "output", "content"):
        if key in item:
            raw = item[key]
            break
    error: bool | None = None
    if (
        isinstance(raw, dict)
        and raw.keys() <= {"type", "value"}
        and isinstance(raw.get("type"), str)
        and "value" in raw
    ):
        error = raw["type"].startswith("error")  # Vercel: {"type": "json" | "text" | "error-text", "value": ...}
        value, said = (raw["value"], None) if raw["type"].endswith("json") else coerce.result(raw["value"])
    else:
        value, said = coerce.result(raw)
    for key in ("is_error", "isError"):
        if isinstance(item.get(key), bool):
            error = item[key]
    status = item.get("status")
    if status in ("error", "success"):
        error = status == "error"
    return ResultPart(call_id, value, name, said if error is None else error)


_WRAPPED: dict[str, Callable[[dict[str, Any]], Part | None]] = {
    "toolUse": call_part,
    "toolResult": result_part,
    "functionCall": call_part,
    "functionResponse": result_part,
    "function_call": call_part,
    "function_response": result_part,
    "message_content": block_part,
}
_WRAPPERS = frozenset(_WRAPPED)
