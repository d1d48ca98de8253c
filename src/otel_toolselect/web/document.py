"""JSON values and texts of a trace as a page shows them: in lines, with the parts that evidence is about marked."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

LINES = 2_000
"""Lines of one value on a page; a tool may have returned a whole table."""
_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Line:
    """`depth`: how far it is set in. `marked`: evidence is about it."""

    depth: int
    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A value in lines; `left`: there are more."""

    lines: tuple[Line, ...]
    left: bool = False
    plain: bool = False
    """A text, which is shown as it stands."""


def document(value: Any, marked: Collection[str] = ()) -> Document:
    """`marked`: JSON paths of members ($.name, $.list[0].name), which are marked with all that is in them."""
    if isinstance(value, str):
        return Document((Line(0, value, "$" in marked),), plain=True)
    lines: list[Line] = []
    for line in _lines(value, "$", 0, "", "", frozenset(marked), "$" in marked):
        if len(lines) == LINES:
            return Document(tuple(lines), left=True)
        lines.append(line)
    return Document(tuple(lines))


def _lines(
    value: Any, path: str, depth: int, before: str, after: str, marked: frozenset[str], inside: bool
) -> Iterator[Line]:
    inside = inside or path in marked
    if isinstance(value, dict) and value:
        yield Line(depth, before + "{", inside)
        last = len(value) - 1
        for i, (name, member) in enumerate(value.items()):
            start, end = f"{_text(name)}: ", "," if i < last else ""
            yield from _lines(member, f"{path}.{name}", depth + 1, start, end, marked, inside)
        yield Line(depth, "}" + after, inside)
    elif isinstance(value, list) and value:
        yield Line(depth, before + "[", inside)
        last = len(value) - 1
        for i, item in enumerate(value):
            yield from _lines(item, f"{path}[{i}]", depth + 1, "", "," if i < last else "", marked, inside)
        yield Line(depth, "]" + after, inside)
    else:
        yield Line(depth, before + _text(value) + after, inside)


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _CHARACTERS else f"{text[:_CHARACTERS]}… ({len(text)} characters)"
