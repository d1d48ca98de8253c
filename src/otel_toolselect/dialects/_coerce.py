"""Shared coercion: every wrapping that instrumentations put around a value, taken off in one place.

All functions are total: any input gives a value or `Unknown` with the reason, never an exception and never a guess
such as `{}` for something that could not be read. Texts are read by `_parsing`.
"""

from __future__ import annotations

import json
import re
from typing import Any

from otel_toolselect.dialects._parsing import parse_json, parse_literal
from otel_toolselect.dialects._texts import Texts
from otel_toolselect.model.runs import ToolDefinition, Unknown
from otel_toolselect.model.values import JSON, counted

REDACTED = frozenset({"__REDACTED__", "[REDACTED]", "<redacted>", "REDACTED"})
NOT_RECORDED = Unknown("not recorded (is content capture on?)")
_MAX_WRAPS = 4  # how many times a whole value may be encoded into a string
_WRAPPER_KEYS = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})


def structure(value: Any) -> Any:
    """A dict or list, whatever string encoding is around it; None when there is none inside. Treat as read-only.

    Only the whole value is decoded, never its members: a member that is a string stays a string.
    """
    if not isinstance(value, str):
        return value if isinstance(value, (dict, list)) else None
    if value[:1] not in _OPENS and value.lstrip()[:1] not in _OPENS:
        return None
    if _cut_off(value):
        return None
    slot = id(value) >> 4 & _SLOTS - 1
    text, known = _lately[slot]
    if text is not value:
        text, known = value, _structure(value)
        if len(value) <= _REMEMBERED:
            _lately[slot] = (text, known)
    return known


# A span's text is asked for by each of a dialect's questions: its arguments, its result, its id. Told by identity, and
# the text is kept beside, so that its id names nothing else meanwhile. A slot is replaced as a whole: safe for threads.
_SLOTS = 8
_REMEMBERED = 1 << 20  # characters
_lately: list[tuple[str, Any]] = [("", None)] * _SLOTS
_OPENS = frozenset('{["(')
_ENDS = frozenset("}]),j \n\r\t\v\f")


def _structure(value: Any) -> Any:
    for _ in range(_MAX_WRAPS):
        if not isinstance(value, str):
            break
        decoded = parse_json(value)
        if decoded is None:
            decoded = parse_literal(value)
        if decoded is None:
            return None
        value = decoded
    return value if isinstance(value, (dict, list)) else None


def _cut_off(text: str) -> bool:
    """Begins as an object and ends within it: traces cut long values, and parsing one only to find that out takes its
    time. (What else a Python literal that begins so may end in: another member of a tuple, a comment.)
    """
    return text[0] == "{" and text[-1] not in _ENDS and "#" not in text


def arguments(value: Any) -> tuple[dict[str, Any] | Unknown, str | None]:
    """A call's arguments as a JSON object, and the raw text when they cannot be read.

    An empty text is a call without arguments; an absent value is unknown.
    """
    if value is None:
        return NOT_RECORDED, None
    decoded = structure(value)
    if isinstance(decoded, dict):
        return unwrap_call(decoded), None
    if isinstance(value, str):
        if not value.strip():
            return {}, None
        if value.strip() in REDACTED:
            return Unknown("redacted by the instrumentation"), None
    if decoded is None and isinstance(value, str) and parse_json(value) is None and value.strip() in ("null", "None"):
        return {}, None
    raw = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, str) and value.strip().startswith(("{", '"{')):
        return Unknown("arguments are cut off or not JSON"), raw
    return Unknown("arguments are not a JSON object"), raw


def unwrap_call(value: dict[str, Any]) -> dict[str, Any]:
    """Takes off `{"args": [], "kwargs": {...}}` and `{"kwargs": {...}}`, which wrap a call of a Python function."""
    kwargs = value.get("kwargs")
    if isinstance(kwargs, dict) and value.keys() <= _WRAPPER_KEYS and not value.get("args"):
        return kwargs
    return value


def text_of(value: Any) -> str | None:
    """A value as text: strings as they are, other JSON values as JSON, None for None."""
    if value is None:
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def string(value: Any) -> str | None:
    """A non-empty string, or None; never a stringified other type."""
    return value if value and isinstance(value, str) else None


def identifier(value: Any) -> str | None:
    """An id as text; some exporters write it JSON-quoted, and it is the same id."""
    text = string(value)
    if text is not None and text.startswith('"'):
        inner = parse_json(text)
        return string(inner) if isinstance(inner, str) else text
    return text


def integer(value: Any) -> int | None:
    """A count, also from its decimal text (tables keep attributes as text)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return counted(value)
    if isinstance(value, float) and value.is_integer():
        return counted(int(value))
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,19}", value):
        return counted(int(value))
    return None


def number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float, str)):
        try:
            return counted(float(value))
        except (ValueError, OverflowError):
            return None
    return None


def result(value: Any) -> tuple[JSON | Unknown, bool | None]:
    """A tool's result as a JSON value, and whether its envelope says error (None: it says nothing).

    Takes off content blocks, tool messages and string encodings around objects and arrays. A bare scalar in a
    string stays a string: "1.50" is text.
    """
    if value is None:
        return NOT_RECORDED, None
    if not isinstance(value, str):
        return _result(value, 0)
    found = _results.get(value)
    if found is None:
        redacted = value.strip() in REDACTED
        found = (Unknown("redacted by the instrumentation"), None) if redacted else _result(value, 0)
        _results[value] = found
    return found


_results: Texts[tuple[JSON | Unknown, bool | None]] = Texts(4 << 20)
"""A result stands in its tool's span and in every request after it: that of a trace is read once, not four times."""


def _result(value: Any, depth: int) -> tuple[Any, bool | None]:
    if depth > 6:
        return value, None
    if isinstance(value, str):
        decoded = structure(value)
        if decoded is None:
            inner = parse_json(value) if '"' in value[:1] or value[:1].isspace() else None
            return (inner, None) if isinstance(inner, str) else (value, None)
        return _result(decoded, depth + 1)
    if isinstance(value, list):
        blocks = _blocks(value)
        if blocks is not None:
            return _result(blocks, depth + 1) if isinstance(blocks, str) else (blocks, None)
        return value, None
    if isinstance(value, dict):
        return _unwrap_result(value, depth)
    return value, None


def _blocks(value: list[Any]) -> Any:
    """The text or JSON of a list of content blocks; None when it is an ordinary list."""
    if not value:
        return None
    texts: list[str] = []
    for block in value:
        if not isinstance(block, dict):
            return None
        if isinstance(block.get("json"), (dict, list)) and block.keys() <= {"json"}:
            return block["json"] if len(value) == 1 else [b.get("json", b) for b in value]
        text = block.get("text") if "text" in block else block.get("content")
        is_block = block.get("type") in ("text", "output_text", "input_text") or block.keys() <= {"text"}
        if not is_block or not isinstance(text, str):
            return None
        texts.append(text)
    return "".join(texts)


_ENVELOPES = frozenset(
    {"output", "type", "tool_call_id", "isError", "is_error", "content", "result", "response_type", "error"}
)
"""Every envelope has one of these keys."""


def _unwrap_result(value: dict[str, Any], depth: int) -> tuple[Any, bool | None]:
    if _ENVELOPES.isdisjoint(value):
        return value, None
    message = _tool_message(value)
    if message is not None:
        inner, error = _result(message.get("content"), depth + 1)
        status = message.get("status")
        return inner, (status == "error") if status in ("error", "success") else error
    for flag in ("isError", "is_error"):
        if flag in value and ("content" in value or "blocks" in value or "result" in value):
            body = value.get("raw_output", value.get("structuredContent"))
            for key in ("content", "blocks", "result"):
                body = value.get(key) if body is None else body
            inner, error = _result(body, depth + 1)
            return inner, bool(value[flag]) if isinstance(value[flag], bool) else error
    if isinstance(value.get("content"), list) and value.keys() <= {"content", "structuredContent", "_meta", "meta"}:
        blocks = _blocks(value["content"])  # an MCP CallToolResult without the flag
        if blocks is not None:
            return _result(blocks, depth + 1) if isinstance(blocks, str) else (blocks, None)
    if value.keys() == {"result"} and isinstance(value["result"], str) and structure(value["result"]) is not None:
        return _result(value["result"], depth + 1)
    return value, error_envelope(value)


def _tool_message(value: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of a LangChain tool message, in any of its serializations."""
    if isinstance(value.get("output"), dict) and value.keys() <= {"output", "kwargs", "tags"}:
        value = value["output"]
    if value.get("type") == "tool" and isinstance(value.get("data"), dict):
        data: dict[str, Any] = value["data"]
        return data
    if value.get("type") == "constructor" and isinstance(value.get("kwargs"), dict):
        kwargs: dict[str, Any] = value["kwargs"]
        return kwargs if "tool_call_id" in kwargs or kwargs.get("type") == "tool" else None
    if "tool_call_id" in value and "content" in value:
        return value
    return None


def error_envelope(value: Any) -> bool | None:
    """True when a result object is itself an error report of its framework; None otherwise.

    Only fields whose meaning is fixed count: a word inside ordinary data never makes a result an error.
    """
    if not isinstance(value, dict):
        return None
    if value.get("isError") is True or value.get("is_error") is True:
        return True
    if isinstance(value.get("response_type"), str) and value["response_type"].startswith("ERROR"):
        return True
    if value.keys() <= {"error", "error_type", "error_details", "message", "code", "status"} and value.get("error"):
        return True
    return None


def tools(value: Any) -> tuple[ToolDefinition, ...] | None:
    """Tool definitions in any shape: JSON text, list of objects, of JSON texts, of names. None when unreadable."""
    if not isinstance(value, str):
        return _tools_in(structure(value)) if value is not None else None
    try:
        return _catalogs[value]
    except KeyError:
        found = _catalogs[value] = _tools_in(structure(value))
        return found


_catalogs: Texts[tuple[ToolDefinition, ...] | None] = Texts(32 << 20)
"""Every model span repeats its catalog, often the largest attribute of all."""


def _tools_in(decoded: Any) -> tuple[ToolDefinition, ...] | None:
    if isinstance(decoded, dict):
        decoded = decoded.get("tools") or decoded.get("function_declarations") or [decoded]
    if not isinstance(decoded, list):
        return None
    found: dict[str, ToolDefinition] = {}
    for item in _flatten_declarations(decoded):
        definition = _tool(item)
        if definition is not None:
            known = found.get(definition.name)
            if known is None or (known.schema is None and definition.schema is not None):
                found[definition.name] = definition
    return tuple(found.values()) if found or not decoded else None


def _flatten_declarations(items: list[Any]) -> list[Any]:
    """Gemini puts several declarations into one tool object."""
    out: list[Any] = []
    for item in items:
        inner = item.get("function_declarations", item.get("functionDeclarations")) if isinstance(item, dict) else None
        out.extend(inner if isinstance(inner, list) else [item])
    return out


def _tool(item: Any) -> ToolDefinition | None:
    if isinstance(item, str):
        decoded = structure(item)
        if decoded is None:
            return ToolDefinition(item) if item.strip() else None
        item = decoded
    if not isinstance(item, dict):
        return None
    inner: dict[str, Any] = next((item[k] for k in ("toolSpec", "function") if isinstance(item.get(k), dict)), item)
    name = inner.get("name") or item.get("name")
    if not isinstance(name, str) or not name:
        return None
    description = inner.get("description")
    return ToolDefinition(name, description if isinstance(description, str) else "", schema_of(inner))


def schema_of(tool: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON Schema of a tool object under any of the names that libraries use."""
    for key in (
        "parameters",
        "inputSchema",
        "input_schema",
        "parameters_json_schema",
        "args_schema",
        "json_schema",
    ):
        schema = structure(tool.get(key))
        if isinstance(schema, dict):
            inner = schema.get("json")
            return inner if isinstance(inner, dict) and "type" not in schema else schema
    return None
