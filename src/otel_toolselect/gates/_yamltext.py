"""Text of YAML files that people review: one line per entry, keys in a fixed order, what reads back as it was written.

A text stands bare only when every YAML reader, of 1.1 too, takes it for that text; else it is double-quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from otel_toolselect.rules.documents import plain_value

Value: TypeAlias = "str | int | float | list[Value] | dict[str, Value] | None"
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_./@+-]*")
_WORDS = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})  # some reader takes them for no text
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


def word(text: str) -> str:
    """A text as a scalar."""
    if _BARE.fullmatch(text) and text.lower() not in _WORDS and plain_value(text) == text:
        return text
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(ch: str) -> str:
    if ch in _SHORT:
        return _SHORT[ch]
    if ch.isprintable():
        return ch
    return f"\\u{ord(ch):04x}" if ord(ch) < 0x10000 else f"\\U{ord(ch):08x}"


def flow(value: Value) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{word(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if isinstance(value, str):
        return word(value)
    return "null" if value is None else repr(value)


def entries(value: Mapping[str, Value], indent: int) -> Iterable[str]:
    """A mapping, one entry a line, its values on one line each."""
    for key, entry in value.items():
        yield f"{' ' * indent}{word(key)}: {flow(entry)}"


def section(name: str, value: Mapping[str, Value] | list[Value]) -> list[str]:
    """A named block; an empty one says so."""
    if not value:
        return [f"{name}: {'[]' if isinstance(value, list) else '{}'}"]
    if isinstance(value, list):
        return [f"{name}:", *(f"  - {flow(item)}" for item in value)]
    return [f"{name}:", *entries(value, 2)]
