"""What a suite file holds, with positions: the tree between the text and the typed suite.

A plain (unquoted) scalar is a JSON number, boolean or null only in the one spelling that JSON writers give it: `5`,
`-2`, `79.9`, `1.0`, `true`, `false`, `null` (also `~` and nothing at all, which YAML 1.2 calls null and which hold no
text to keep). Everything else keeps its text as a string: `NO`, `yes`, `True`, `00501`, `12:30`, `1.10`, `79.90`,
`0x1F`, `1e3`, `+5`, `2026-11-03`. So a version 1.10 never meets 1.1, and a price in JSON is written `79.9`, or
`{money: ...}` or `{approx: ...}`, never `79.90`. Where the vocabulary itself wants a number (a limit, a turn), any
spelling is read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TypeAlias

from otel_toolselect.model.values import JSON

_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True, slots=True)
class Scalar:
    """`value` after the rule above; `text` as written; `plain` when it was not quoted. Lines and columns from 1."""

    value: bool | int | float | str | None
    text: str
    plain: bool
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Items:
    items: tuple[Node, ...]
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping in the order of the file; keys are unique texts."""

    entries: tuple[tuple[Scalar, Node], ...]
    line: int
    column: int

    def get(self, name: str) -> Node | None:
        return next((value for key, value in self.entries if key.text == name), None)


Node: TypeAlias = "Scalar | Items | Fields"


def plain_value(text: str) -> bool | int | float | str | None:
    """The value of an unquoted scalar (see the module's rule)."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    first = text[0]
    if not (first.isdigit() or first == "-") or len(text) > 400 or not text.isascii():
        return text
    for read in (int, float):
        try:
            value = read(text)
        except ValueError:
            continue
        # "inf", "nan" and "1_000" do not survive: their spelling is not the canonical one
        return value if repr(value) == text and "n" not in text else text
    return text


def to_json(node: Node) -> JSON:
    """The JSON value of a node; depth is bounded by the reader that made it."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Items):
        return [to_json(n) for n in node.items]
    return {key.text: to_json(value) for key, value in node.entries}


def from_json(value: JSON, line: int, column: int) -> Node:
    """A node tree of a JSON value, all at one position (JSON lines have no finer one worth keeping)."""
    if isinstance(value, list):
        return Items(tuple(from_json(v, line, column) for v in value), line, column)
    if isinstance(value, dict):
        entries = tuple((Scalar(k, k, False, line, column), from_json(v, line, column)) for k, v in value.items())
        return Fields(entries, line, column)
    text = value if isinstance(value, str) else json.dumps(value)
    return Scalar(value, text, not isinstance(value, str), line, column)


def kind_of(node: Node) -> str:
    """What a node is, in the words of an error message."""
    if isinstance(node, Items):
        return "a list"
    if isinstance(node, Fields):
        return "a mapping"
    if node.value is None:
        return "nothing"
    if isinstance(node.value, bool):
        return f"the boolean {node.text}"
    return f"the {'number' if isinstance(node.value, (int, float)) else 'text'} {clip(node.text)!r}"


def clip(text: str, width: int = 80) -> str:
    """A text short enough for a message."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"
