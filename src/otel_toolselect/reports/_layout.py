"""What a text report is made of, apart from how it is painted: headings, lines and grids.

`paint` writes it as plain aligned text (pipes, files, CI logs) or with colours through rich (terminals); only
the latter imports rich. Texts may come from a trace, so control characters never reach the terminal (an
escape sequence in a prompt must not move the reader's cursor).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from unicodedata import combining, east_asian_width

Style: TypeAlias = Literal["", "good", "bad", "warn", "dim", "bold"]


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    style: Style = ""


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text; `indent` in columns. Longer ones are wrapped under their own indent."""

    text: str
    style: Style = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    right: bool = False


@dataclass(frozen=True, slots=True)
class Grid:
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    indent: int = 2

    def widths(self) -> list[int]:
        table = [[c.title for c in self.columns], *([clean(c.text) for c in row] for row in self.rows)]
        return [max(map(width_of, column)) for column in zip(*table, strict=True)]

    def fits(self, width: int) -> bool:
        return self.indent + sum(self.widths()) + 2 * (len(self.columns) - 1) <= width


Block: TypeAlias = Heading | Line | Grid


def paint(blocks: Iterable[Block], *, colour: bool, width: int) -> str:
    """The blocks as text ending in a newline."""
    if colour:
        from otel_toolselect.reports._rich import paint_rich

        return paint_rich(blocks, width)
    lines: list[str] = []
    for block in blocks:
        if isinstance(block, Heading):
            lines += ["", clean(block.text).upper()] if lines else [clean(block.text)]
        elif isinstance(block, Line):
            lines += wrapped(block, width)
        else:
            lines += _grid(block)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _grid(grid: Grid) -> list[str]:
    widths = grid.widths()
    head = [c.title for c in grid.columns]
    body = [[clean(c.text) for c in row] for row in grid.rows]
    return [" " * grid.indent + "  ".join(_aligned(row, grid.columns, widths)) for row in [head, *body]]


def _aligned(row: Sequence[str], columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
    pads = [" " * (w - width_of(text)) for text, w in zip(row, widths, strict=True)]
    return [p + t if c.right else t + p for t, p, c in zip(row, pads, columns, strict=True)]


def wrapped(line: Line, width: int) -> list[str]:
    """The line cut at spaces so that it fits; a word that is longer than the line stays whole."""
    room = max(20, width - line.indent)
    out: list[str] = []
    current = ""
    for word in clean(line.text).split(" "):
        if current and width_of(current) + 1 + width_of(word) > room:
            out.append(current)
            current = word
        else:
            current = f"{current} {word}" if current else word
    return [" " * line.indent + text for text in [*out, current]]


def clean(text: str) -> str:
    """One printable line: breaks become spaces, control characters and lone surrogates their escapes."""
    if text.isprintable():
        return text
    return "".join(_shown(ch) for ch in text)


def _shown(ch: str) -> str:
    if ch.isprintable():
        return ch
    if ch.isspace():
        return " "
    return ch.encode("unicode_escape", "backslashreplace").decode("ascii")


def width_of(text: str) -> int:
    """Columns in a terminal: wide letters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(ch) else 2 if east_asian_width(ch) in "WF" else 1 for ch in text)
