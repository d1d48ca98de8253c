"""Texts from traces and suites in places where some characters mean something.

Every format calls these; nothing that came from a trace may steer the reader's page, terminal or job log.
"""

from __future__ import annotations

import re

from otel_toolselect.reports._plain import short

_TICKS = re.compile(r"`+")


def visible(text: str) -> str:
    """Line breaks and tabs stay; control characters, bidirectional overrides and lone surrogates become their escapes.

    What is left is valid in XML 1.0 and HTML.
    """
    if text.isprintable():
        return text
    return "".join(_shown(ch) for ch in text.replace("\r\n", "\n"))


def _shown(ch: str) -> str:
    if ch.isprintable() or ch in "\n\t":
        return ch
    if ch.isspace():
        return " "
    return ch.encode("unicode_escape", "backslashreplace").decode("ascii")


def code(text: str, limit: int = 0) -> str:
    """Markdown: one line as a code span, in which no HTML, mention, link or image is alive."""
    flat = visible(short(text, limit) if limit else " ".join(text.split()))
    if not flat:
        return "` `"
    fence = "`" * (max((len(run) for run in _TICKS.findall(flat)), default=0) + 1)
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def code_cell(text: str, limit: int = 0) -> str:
    """`code` inside a Markdown table, where a bar would end the cell."""
    return code(text, limit).replace("|", "\\|")
