"""Messages of every known shape with their content taken out: what `dialects` reads structure from, and no more."""

from __future__ import annotations

import json
import re
from typing import Any

GONE = "[REDACTED]"
"""Stands for arguments and results: readers know it as "there was something, it is not recorded"."""

_ROLES = frozenset(
    {
        "system",
        "developer",
        "user",
        "human",
        "assistant",
        "ai",
        "model",
        "tool",
        "function",
        "tool-response",
        "tool-call",
    }
    | {"systemmessage", "humanmessage", "aimessage", "aimessagechunk", "toolmessage"}
)
_TYPES = frozenset(
    {"text", "input_text", "output_text", "refusal", "reasoning", "thinking", "redacted_thinking", "message"}
    | {"tool_call", "tool_use", "tool-call", "function_call", "toolUse", "server_tool_use", "function", "constructor"}
    | {"tool_call_response", "tool_result", "tool-result", "function_call_output", "toolResult", "tool_response"}
)
_RESULT_TYPES = frozenset(
    {"tool_call_response", "tool_result", "tool-result", "function_call_output", "toolResult", "tool_response"}
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_NAME = re.compile(r"[A-Za-z0-9_.:/-]{1,128}")
_ID = re.compile(r"[A-Za-z0-9_.:|/+=-]{1,200}")

_IDS = frozenset(
    {"id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "tool_call.id", "response_id"}
)
_NAMES = frozenset({"name", "toolName", "tool_name"})
_WORDS = frozenset({"finish_reason", "finishReason", "stop_reason", "stopReason", "status"})
_MARKS = frozenset({"is_error", "isError", "index"})
_VALUES = frozenset(
    {"arguments", "args", "input", "result", "results", "response", "output", "args_json", "partial_json", "artifact"}
    | {"structuredContent", "raw_output"}
)
_TEXTS = frozenset({"text", "content", "refusal"})
_INNER = frozenset(
    {
        "messages",
        "contents",
        "content",
        "parts",
        "tool_calls",
        "choices",
        "message",
        "function",
        "function_call",
        "delta",
    }
    | {"toolUse", "toolResult", "functionCall", "functionResponse", "function_response", "tool_call", "message_content"}
    | {"kwargs", "data", "additional_kwargs", "generations", "candidates", "prompt", "input", "output", "inputs"}
    | {"outputs", "system_instruction", "config", "blocks"}
)
_CATALOG = frozenset({"tools", "functions", "function_declarations", "functionDeclarations"})
_SHAPE = frozenset(
    {"role", "parts", "tool_calls", "messages", "contents", "choices", "toolUse", "toolResult", "functionCall"}
    | {"functionResponse", "function_call", "function_response", "generations", "candidates", "tool_call_id", "kwargs"}
    | {"toolCallId", "toolName", "tools", "message", "prompt", "system_instruction"}
)


def emptied(value: Any, *, of_tool: bool = False) -> Any:
    """A decoded value without its content. What is no message, call, result or list of them becomes GONE.

    `of_tool`: it is what a tool was given or gave.
    """
    if isinstance(value, list):
        if of_tool or not any(isinstance(item, (dict, list)) for item in value):
            return GONE
        return [emptied(item) if isinstance(item, (dict, list)) else "" for item in value]
    if isinstance(value, dict) and not of_tool and is_shape(value):
        return _message(value)
    return GONE


def is_shape(value: dict[str, Any]) -> bool:
    """Whether an object is a message, a content block, a call, a result, or holds a list of them."""
    kind = value.get("type")
    if isinstance(kind, str) and (kind in _TYPES or kind.lower() in _ROLES):
        return True
    if isinstance(value.get("role"), str):
        return value["role"].lower().rsplit(".", 1)[-1] in _ROLES
    if value.keys() <= {"text", "content"}:
        return True
    return any(isinstance(value.get(key), (dict, list)) or key == "tool_call_id" for key in _SHAPE & value.keys()) or (
        any(_is_messages(value.get(key)) for key in ("input", "output", "inputs", "outputs", "content", "data"))
    )


def _is_messages(value: Any) -> bool:
    if isinstance(value, dict):
        return is_shape(value)
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) and is_shape(v) for v in value)


def _message(value: dict[str, Any]) -> dict[str, Any]:
    kind = str(value.get("type") or "")
    role = str(value.get("role") or kind).lower().rsplit(".", 1)[-1]
    of_tool = kind in _RESULT_TYPES or role in ("tool", "function", "toolmessage") or "tool_call_id" in value
    of_tool = of_tool and not any(key in value for key in ("parts", "tool_calls"))
    made: dict[str, Any] = {}
    for key, item in value.items():
        kept = _member(key, item, of_tool=of_tool, of_call=_is_call(value, kind))
        if kept is not _NOTHING:
            made[key] = kept
    return made


_NOTHING = object()


def _is_call(value: dict[str, Any], kind: str) -> bool:
    """A call or a result: its `name` is a tool's, its `input` is arguments."""
    if kind in _TYPES and ("call" in kind or "use" in kind.lower() or "result" in kind.lower() or kind == "function"):
        return True
    names = value.keys() & {"name", "toolName", "tool_name"}
    return bool(names and value.keys() & (_VALUES | {"tool_call_id", "toolCallId", "toolUseId"}))


def _member(key: str, item: Any, *, of_tool: bool, of_call: bool) -> Any:
    if item is None or isinstance(item, bool):
        return item if key in _MARKS or item is None else _NOTHING
    if key in _CATALOG:
        return item
    if isinstance(item, str):
        return _string(key, item, of_tool=of_tool, of_call=of_call)
    if key in _MARKS and isinstance(item, int):
        return item
    if key == "id" and isinstance(item, list):  # a LangChain constructor names its class
        return [part for part in item if isinstance(part, str) and _NAME.fullmatch(part)]
    if key in _TEXTS and of_tool:
        return GONE
    if key in _VALUES and (of_call or of_tool or not _is_messages(item)):
        return GONE
    if key in _INNER and isinstance(item, (dict, list)):
        return _inner(key, item)
    return GONE if key in _TEXTS else _NOTHING


def _inner(key: str, item: dict[str, Any] | list[Any]) -> Any:
    if isinstance(item, list):
        return [_inner(key, part) if isinstance(part, (dict, list)) else "" for part in item]
    wrapped = key in (
        "function",
        "toolUse",
        "toolResult",
        "functionCall",
        "functionResponse",
        "function_call",
        "tool_call",
    )
    if wrapped or key == "function_response":
        return {
            k: v
            for k, v in ((k, _member(k, v, of_tool=True, of_call=True)) for k, v in item.items())
            if v is not _NOTHING
        }
    if key in (
        "parts",
        "content",
        "message",
        "message_content",
        "kwargs",
        "data",
        "delta",
        "config",
        "additional_kwargs",
    ):
        return _message(item)
    if key == "tool_calls":
        return {
            k: v
            for k, v in ((k, _member(k, v, of_tool=False, of_call=True)) for k, v in item.items())
            if v is not _NOTHING
        }
    return emptied(item)


def _string(key: str, item: str, *, of_tool: bool, of_call: bool) -> Any:
    if key == "role":
        return item if item.lower().rsplit(".", 1)[-1] in _ROLES else _NOTHING
    if key == "type":
        return item if item in _TYPES or item.lower() in _ROLES else _NOTHING
    if key in _IDS:
        return item if _ID.fullmatch(item) else _NOTHING
    if key in _NAMES:
        return item if (of_call or of_tool) and _NAME.fullmatch(item) else _NOTHING
    if key in _WORDS:
        return item if _WORD.fullmatch(item) else _NOTHING
    if key in _VALUES:
        return GONE if item else item
    if key in _TEXTS:
        return GONE if of_tool else _blocks(item)
    return _NOTHING


def _blocks(text: str) -> str:
    """A text that is itself content blocks as JSON keeps their structure; any other is empty."""
    if not text.startswith("[{"):
        return ""
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not _is_messages(decoded):
        return ""
    return json.dumps(emptied(decoded), ensure_ascii=False)


def flattened(key: str, value: Any) -> Any:
    """The value of a numbered attribute (`llm.input_messages.0.message.role`), by the last name in its key."""
    last = key.rsplit(".", 1)[-1]
    if not isinstance(value, str):
        return value if last in _MARKS and isinstance(value, (bool, int)) else GONE
    of_call = "tool_call" in key or "function_call" in key
    kept = _string(last, value, of_tool=False, of_call=True if of_call else last in _NAMES)
    if last == "tool_calls":
        return _list_text(value)
    return "" if kept is _NOTHING else kept


def _list_text(text: str) -> str:
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return GONE
    return json.dumps(_inner("tool_calls", decoded)) if isinstance(decoded, (dict, list)) else GONE
