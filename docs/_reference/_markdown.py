"""Docstrings and values as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# where a measure comes from is for those who change the code
_SOURCES = re.compile(r"\s*\((?:R\d+|design section \d+|issue [A-Z])[^()]*\)")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(cell(one) for one in row)} |" for row in rows)]) + "\n"


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def code(text: object) -> str:
    shown = str(text)
    return f"`{shown}`" if shown else ""


def prose(docstring: str | None) -> str:
    """A docstring as Markdown: indented lines become a block, references to our own papers go."""
    text = _SOURCES.sub("", (docstring or "").strip())
    parts = []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = paragraph.splitlines()
        if all(line.startswith("    ") for line in lines):
            parts.append("\n".join(["```text", *(line[4:] for line in lines), "```"]))
        elif len(lines) > 1 and all(line.startswith("    ") for line in lines[1:]):
            parts += [lines[0], "\n".join(["```text", *(line[4:] for line in lines[1:]), "```"])]
        else:
            parts.append("\n".join(lines))
    return "\n\n".join(parts)


def first_paragraph(docstring: str | None) -> str:
    return " ".join(_SOURCES.sub("", (docstring or "").strip()).split("\n\n")[0].split())


def first_sentence(docstring: str | None) -> str:
    """The first sentence of a docstring, in one line."""
    return re.split(r"(?<=\.)\s", first_paragraph(docstring) + " ")[0].rstrip(":. ")
