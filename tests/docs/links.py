"""Links of a page, and the anchors that its headings make."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

from docs._reference import filled
from markdown_it import MarkdownIt

_PARSER = MarkdownIt("commonmark").enable("table")


def of(path: Path) -> list[str]:
    """Targets of links and images."""
    found: list[str] = []
    for token in _PARSER.parse(path.read_text("utf-8")):
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src")
            if target is not None:
                found.append(str(target))
    return found


def is_outside(link: str) -> bool:
    return re.match(r"[a-z]+:", link) is not None


@cache
def anchors(path: Path) -> frozenset[str]:
    """Of every heading, as GitHub and the site make them; headings of generated parts too."""
    seen: Counter[str] = Counter()
    found: set[str] = set()
    tokens = _PARSER.parse(filled(path.read_text("utf-8")))
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            text = "".join(child.content for child in inline.children or ())
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return frozenset(found)
