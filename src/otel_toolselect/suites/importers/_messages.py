"""Message transcripts of OpenAI, Anthropic and LangChain: the calls in them and what the user asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from otel_toolselect.errors import InputError


def request(messages: list[Any]) -> str | None:
    """The first text of the user."""
    for message in messages:
        if isinstance(message, dict) and _role(message) in ("user", "human"):
            text = content_text(message.get("content"))
            if text:
                return text
    return None


def calls(messages: list[Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(tool, arguments) of every call that the assistant made, in order."""
    for message in messages:
        if isinstance(message, dict) and _role(message) in ("assistant", "ai"):
            for call in [*_listed(message.get("tool_calls")), *_blocks(message.get("content"))]:
                yield _call(call, place)


def _role(message: dict[str, Any]) -> str:
    return str(message.get("role") or message.get("type") or "")


def content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = [b for b in _listed(content) if isinstance(b.get("text"), str)]
    return "\n".join(b["text"] for b in blocks)


def _listed(value: Any) -> list[dict[str, Any]]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _blocks(content: Any) -> list[dict[str, Any]]:
    return [b for b in _listed(content) if b.get("type") == "tool_use"]


def _call(call: dict[str, Any], place: str) -> tuple[str, dict[str, Any]]:
    inner = call.get("function")
    named = inner if isinstance(inner, dict) else call
    name = named.get("name")
    if not isinstance(name, str) or not name:
        raise InputError("a tool call has no name", where=place)
    args: Any = next((named[k] for k in ("arguments", "args", "input") if named.get(k) is not None), {})
    if isinstance(args, str):
        try:
            args = json.loads(args or "{}")
        except ValueError as error:
            raise InputError(f"the arguments of {name} are not JSON", where=place) from error
    if not isinstance(args, dict):
        raise InputError(f"the arguments of {name} must be an object", where=place)
    return name, args
