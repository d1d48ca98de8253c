"""Users' patterns: RE2 only (linear time, no back-tracking), bounded in length and memory, compiled once at load."""

from __future__ import annotations

from typing import Protocol, cast

import re2

from otel_toolselect.rules._nodes import Node, clip
from otel_toolselect.rules.problems import Problems

MAX_LENGTH = 4_000
_MAX_MEM = 4 * 1024 * 1024


class Pattern(Protocol):
    """What is used of a compiled pattern: search, found or not."""

    @property
    def pattern(self) -> str: ...

    def search(self, text: str) -> object | None: ...


def compile_text(text: str) -> Pattern:
    """Raises re2.error on what RE2 does not read (look-around, back-references, too large)."""
    options = re2.Options()
    options.max_mem = _MAX_MEM
    options.log_errors = False
    return cast("Pattern", re2.compile(text, options))


def compile_node(node: Node, what: str, problems: Problems) -> Pattern | None:
    text = problems.text(node, what)
    if text is None:
        return None
    if len(text) > MAX_LENGTH:
        problems.add(node, f"{what} is {len(text):,} characters long, the limit is {MAX_LENGTH:,}")
        return None
    try:
        return compile_text(text)
    except re2.error as error:
        said = error.args[0] if error.args else error
        said = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        problems.add(
            node,
            f"{what} {clip(text, 60)!r} is not an RE2 pattern: {clip(said)}",
            "RE2 has no look-around and no back-references",
        )
        return None
