"""Texts to values: JSON, and the Python literals that some instrumentations write in its place.

Both readers are total: any text gives a value, or None when it is none. What they give is bounded in depth, and its
texts are whole characters. Python literals are read by `ast.literal_eval` on bounded text.
"""

from __future__ import annotations

import ast
import json
from typing import Any

from pydantic_core import from_json

from otel_toolselect.model.values import whole

MAX_DEPTH = 100  # levels of nesting
_MAX_BITS = 14_000  # of an integer: Python writes no more than 4,300 digits, but reads any number of hexadecimal ones
_MAX_LITERAL = 200_000  # characters; a literal reader is slow on more, and traces cut long values anyway


def parse_json(text: str, levels: int = MAX_DEPTH) -> Any:
    """The JSON value of a text, None when it is not JSON (a JSON null is None too). Big integers stay exact.

    A value of more levels than anything that means something is not read: it would only overflow later.
    """
    try:
        value = from_json(text, cache_strings="keys")  # members repeat, values seldom
    except (ValueError, TypeError):
        value = _read_leniently(text, levels)
    if len(text) > 2 * levels and text.count("{") + text.count("[") > levels and _depth(value) > levels:
        return None  # (each level has two brackets)
    return value


def _read_leniently(text: str, levels: int) -> Any:
    """What Python's own reader takes too: deeper nesting, half a surrogate pair. That is no character (SDKs cut texts
    within an emoji) and becomes U+FFFD, as at the receiver's door: no pattern and no store could read it.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return whole(value) if _depth(value) <= levels else value


def _depth(value: Any) -> int:
    """How deeply dicts and lists are nested, without recursion."""
    deepest, pending = 0, [(value, 1)]
    while pending:
        item, level = pending.pop()
        children = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        deepest = max(deepest, level)
        pending.extend((child, level + 1) for child in children if isinstance(child, (dict, list)))
    return deepest


def parse_literal(text: str) -> Any:
    """The value of a Python literal (dict, list, tuple), None when it is not one. Never evaluates code."""
    stripped = text.strip()
    if len(stripped) > _MAX_LITERAL or not stripped.startswith(("{", "[", "(")):
        return None
    try:
        value = _jsonable(ast.literal_eval(stripped))
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
    return None if _depth(value) > MAX_DEPTH else whole(value)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _jsonable(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_jsonable(v) for v in value]
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise ValueError("an integer that no text can hold")
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
