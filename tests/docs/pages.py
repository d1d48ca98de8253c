"""The pages of the docs and their blocks of code, with the markers that stand before them (docs/writing.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARKERS = ("file", "not run", "only compiled", "setup", "stop")
LANGUAGES = ("sh", "console", "toml", "yaml", "json", "jsonl", "python", "pycon", "sql", "text")
_MARKER = re.compile(r"\A<!--\s*([a-z]+(?: [a-z]+)?)\s*:\s*(.*?)\s*-->\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fence, or a marker that does something itself (`setup`, `stop`; then that is the language)."""

    page: str
    line: int
    language: str
    text: str
    marker: str = ""
    argument: str = ""

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


def paths() -> list[Path]:
    """Every page of the docs, and the READMEs that people meet first."""
    return [
        ROOT / "README.md",
        *sorted(p for p in DOCS.rglob("*.md") if p.parent != DOCS / "_reference"),
        *sorted((ROOT / "deploy").rglob("README.md")),
        ROOT / "src" / "otel_toolselect" / "examples" / "README.md",
    ]


def names() -> list[str]:
    """The pages that hold something to run, by their paths in the repository."""
    return [str(p.relative_to(ROOT)) for p in paths() if any(b.language != "text" for b in blocks_of(p))]


def blocks_of(path: Path) -> list[Block]:
    page = str(path.relative_to(ROOT))
    return parse(path.read_text("utf-8"), page)


def parse(text: str, page: str) -> list[Block]:
    """All blocks of a page in order. A marker counts for the very next token only."""
    found: list[Block] = []
    marker, argument = "", ""
    for token in MarkdownIt("commonmark").parse(text):
        line = (token.map or [0])[0] + 1
        if token.type in ("fence", "code_block"):
            found.append(Block(page, line, _language(token), token.content, marker, argument))
        marker, argument = "", ""
        if token.type == "html_block" and (match := _MARKER.match(token.content)) and match[1] in MARKERS:
            marker, argument = match[1], match[2]
            if marker in ("setup", "stop"):
                found.append(Block(page, line, marker, argument))
    return found


def _language(token: Token) -> str:
    """What stands behind the fence; directives of the site (`{toctree}`) are no blocks of code."""
    if token.type == "code_block":
        return "indented"
    return "text" if token.info.startswith("{") else token.info.strip()
