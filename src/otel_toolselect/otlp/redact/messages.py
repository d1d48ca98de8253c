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
    | {"TextMessage", "StopMessage", "HandoffMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent"}  # AutoGen
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
_WORDS = frozenset({"finish_reason", "finishReason", "stop_reason", "stopReason"})
_STATUS = frozenset({"success", "error", "ok", "completed", "failed", "incomplete", "in_progress"})
_SAYS_ERROR = frozenset({"error", "error_type", "error_details", "message", "code", "status"})
_MARKS = frozenset({"is_error", "isError", "index", "lc"})
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
    | {"functionResponse", "function_call", "function_response", "generations", "candidates", "system_instruction"}
    | {"tools", "message", "prompt"}
)
_MARKED = frozenset({"tool_call_id", "toolCallId", "toolUseId", "call_id"})
"""Ids that only a call or a result has."""
_WRAPPERS = frozenset(
    {"function", "toolUse", "toolResult", "functionCall", "functionResponse", "function_call", "function_response"}
    | {"tool_call"}
)
_MESSAGES = frozenset(
    {"parts", "content", "message", "message_content", "kwargs", "data", "delta", "config", "additional_kwargs"}
)
_NOTHING = object()


def parsed(text: str) -> Any:
    """The JSON value of a text; None when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def gone(value: Any) -> Any:
    """What stands for arguments or a result; whether a result said that it is an error stays."""
    if isinstance(value, dict):
        marked = value.get("isError", value.get("is_error"))
        says = value.keys() <= _SAYS_ERROR and value.get("error")
        kind = value.get("response_type")
        if marked is True or says or (isinstance(kind, str) and kind.startswith("ERROR")):
            return {"isError": True, "content": GONE}
    return GONE


def result(value: Any) -> Any:
    """A tool's result; of a message around it the id of its call stays."""
    if isinstance(value, dict):
        if isinstance(value.get("output"), dict) and value.keys() <= {"output", "kwargs", "tags"}:
            return {"output": result(value["output"])}
        if _MARKED & value.keys() or "lc" in value or (value.get("type") == "tool" and "data" in value):
            return message(value)
    return gone(value)


def emptied(value: Any) -> Any:
    """A decoded value without its content. What is no message, call, result or list of them becomes GONE."""
    if isinstance(value, list):
        made = [emptied(item) if isinstance(item, (dict, list)) else "" for item in value]
        return made if any(isinstance(item, (dict, list)) for item in made) else GONE
    return message(value) if isinstance(value, dict) and is_shape(value) else gone(value)


def is_shape(value: dict[str, Any]) -> bool:
    """Whether an object is a message, a content block, a call, a result, or holds a list of them."""
    kind = value.get("type")
    if isinstance(kind, str) and (kind in _TYPES or kind.lower() in _ROLES):
        return True
    if isinstance(value.get("role"), str):
        return value["role"].lower().rsplit(".", 1)[-1] in _ROLES
    if value.keys() <= {"text", "content"} or _MARKED & value.keys():
        return True
    if any(isinstance(value.get(key), (dict, list)) for key in _SHAPE & value.keys()):
        return True
    return any(_is_messages(value.get(key)) for key in ("input", "output", "inputs", "outputs", "content", "data"))


def _is_messages(value: Any) -> bool:
    if isinstance(value, dict):
        return is_shape(value)
    return isinstance(value, list) and bool(value) and all(isinstance(v, dict) and is_shape(v) for v in value)


def message(value: dict[str, Any]) -> dict[str, Any]:
    """An object of one of the known shapes, or one that its place says is one."""
    kind = str(value.get("type") or "")
    role = str(value.get("role") or kind).lower().rsplit(".", 1)[-1]
    of_tool = kind in _RESULT_TYPES or role in ("tool", "function", "toolmessage") or bool(_MARKED & value.keys())
    of_tool = of_tool and not any(key in value for key in ("parts", "tool_calls"))
    of_call = _is_call(value, kind)
    made: dict[str, Any] = {}
    for key, item in value.items():
        if key == "kwargs" and "lc" not in value and kind != "constructor":
            made[key] = gone(item)  # of a function, not of a message
            continue
        kept = _member(key, item, of_tool=of_tool, of_call=of_call)
        if kept is not _NOTHING:
            made[key] = kept
    return made


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
        return [message(block) for block in item] if _is_results(item) else gone(item)
    if key in _VALUES and (of_call or of_tool or not _is_messages(item)):
        return gone(item)
    if key in _INNER and isinstance(item, (dict, list)):
        return _inner(key, item)
    return GONE if key in _TEXTS else _NOTHING


def _is_results(value: Any) -> bool:
    """Whether the content of a tool's message is results, each with the id of its call."""
    return isinstance(value, list) and all(isinstance(v, dict) and v.get("type") in _RESULT_TYPES for v in value)


def _inner(key: str, item: dict[str, Any] | list[Any]) -> Any:
    if isinstance(item, list):
        return [_inner(key, part) if isinstance(part, (dict, list)) else "" for part in item]
    if key in _WRAPPERS:
        return _members(item, of_tool=True)
    if key == "tool_calls":
        return _members(item, of_tool=False)
    return message(item) if key in _MESSAGES else emptied(item)


def _members(item: dict[str, Any], *, of_tool: bool) -> dict[str, Any]:
    kept = ((key, _member(key, value, of_tool=of_tool, of_call=True)) for key, value in item.items())
    return {key: value for key, value in kept if value is not _NOTHING}


def _string(key: str, item: str, *, of_tool: bool, of_call: bool) -> Any:
    if not item or item == GONE:
        return item
    if key in _TEXTS:
        return _of_text(item) if of_tool else _blocks(item)
    if key in _VALUES:
        return _of_text(item)
    if key == "source":  # who sent a message on AutoGen's bus
        return item if item == "user" else "agent"
    return item if _stays(key, item, named=of_call or of_tool) else _NOTHING


def _stays(key: str, item: str, *, named: bool) -> bool:
    """Whether a string is structure: by its member's name and by its own form. `named`: what is named is a tool."""
    if key == "role":
        return item.lower().rsplit(".", 1)[-1] in _ROLES
    if key == "type":
        return item in _TYPES or item.lower() in _ROLES
    if key == "status":
        return item in _STATUS
    if key in _NAMES:
        return named and _NAME.fullmatch(item) is not None
    return (key in _IDS and _ID.fullmatch(item) is not None) or (key in _WORDS and _WORD.fullmatch(item) is not None)


def _of_text(text: str) -> str:
    made = gone(parsed(text))
    return made if isinstance(made, str) else json.dumps(made)


def _blocks(text: str) -> str:
    """A text that is itself content blocks as JSON keeps their structure; any other is empty."""
    decoded = parsed(text) if text.startswith("[{") else None
    return json.dumps(emptied(decoded), ensure_ascii=False) if _is_messages(decoded) else ""


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
    decoded = parsed(text)
    return json.dumps(_inner("tool_calls", decoded)) if isinstance(decoded, (dict, list)) else GONE
