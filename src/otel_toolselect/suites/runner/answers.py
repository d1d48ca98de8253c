"""Calls that an agent states in its answer, for agents that send no spans.

Taken from JSON, in the order of trust:

- a chat completion (`choices[0].message`), or an assistant's message with `tool_calls` as OpenAI writes them;
- `{"calls": [{"name", "args", "result"}], "text"}`: calls in order, `args` an object, `result` optional, `error`
  instead of a result for a call that failed.

`model`, `tools` (definitions that were offered) and `usage` beside them are taken over. An object with none of these
keys states nothing, and so does a text: whether tools were called is not known then, which is not the same as no call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.suites.runner.catalogs import read_tools

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Call:
    """`args` is an object, or the text that is none. `result` and `error` None: not executed, as far as is stated."""

    name: str
    args: dict[str, Any] | str
    call_id: str | None = None
    result: Any = None
    error: str | None = None
    executed: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    calls: tuple[Call, ...]
    text: str = ""
    model: str | None = None
    provider: str | None = None
    tools: tuple[ToolDefinition, ...] | None = None
    system: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def read_answer(value: Any) -> Answer | None:
    """What a decoded answer states; None when it states nothing of calls."""
    if not isinstance(value, dict):
        return None
    message = _message(value)
    if isinstance(message.get("tool_calls"), list) or (message is not value and "content" in message):
        calls = [_openai(item) for item in message.get("tool_calls") or ()]
        text = _text(message.get("content"))
    elif isinstance(value.get("calls"), list):
        calls = [_own(item) for item in value["calls"]]
        text = _text(value.get("text", value.get("answer", "")))
    else:
        return None
    told = value.get("usage")
    usage: dict[str, Any] = told if isinstance(told, dict) else {}
    return Answer(
        calls=tuple(call for call in calls if call is not None),
        text=text,
        model=_name(value.get("model")),
        tools=read_tools(value["tools"], "tools of the answer") if isinstance(value.get("tools"), list) else None,
        input_tokens=_count(usage, "prompt_tokens", "input_tokens"),
        output_tokens=_count(usage, "completion_tokens", "output_tokens"),
    )


def find_answer(text: str) -> Answer | None:
    """In what a program printed: the whole of it, else its last line that is a JSON object."""
    for part in (text, *reversed(text.strip().splitlines())):
        if part.strip().startswith("{"):
            try:
                return read_answer(json.loads(part))
            except (ValueError, RecursionError):
                continue
    return None


def _message(value: Mapping[str, Any]) -> Mapping[str, Any]:
    choices = value.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        return message if isinstance(message, dict) else value
    return value


def _openai(item: Any) -> Call | None:
    function = item.get("function") if isinstance(item, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        return None
    return Call(function["name"], arguments(function.get("arguments")), _name(item.get("id")))


def _own(item: Any) -> Call | None:
    if not isinstance(item, dict) or not isinstance(item.get("name"), str):
        return None
    result = item.get("result", _ABSENT)
    error = item.get("error")
    return Call(
        name=item["name"],
        args=arguments(item.get("args", item.get("arguments", {}))),
        call_id=_name(item.get("id")),
        result=None if result is _ABSENT else result,
        error=None if error is None else str(error),
        executed=result is not _ABSENT or error is not None,
    )


def arguments(value: Any) -> dict[str, Any] | str:
    """Arguments as models write them: JSON text or an object; what is no object stays as its text."""
    if isinstance(value, dict):
        return value
    if value in (None, ""):
        return {}
    text = value if isinstance(value, str) else json.dumps(value)
    try:
        decoded = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return decoded if isinstance(decoded, dict) else text


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(p["text"] for p in value if isinstance(p, dict) and isinstance(p.get("text"), str))
    return value if isinstance(value, str) else ""


def _name(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    found = next((usage[name] for name in names if isinstance(usage.get(name), int)), None)
    return found if found is not None and not isinstance(found, bool) else None
