"""What a user's file is, before it is read: a suite, a rules file, or tests of them. A cheap look, never a judgement:
the loader of that kind says what is wrong with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import re2

FileKind: TypeAlias = Literal["suite", "rules", "tests"]
_TOP = re2.compile(r"(?m)^[\"']?(suite|rules|tests|files)[\"']?[ \t]*:(?:[ \t\r]|$)")
_FLOW = re2.compile(r"^\s*\{\s*[\"']?(suite|rules|tests|files)[\"']?\s*:")


def kind_of_file(text: str, path: str) -> FileKind:
    """By the first of the keys that name a kind; a suite when there is none, for the tiny forms have none."""
    if Path(path).suffix.lower() == ".jsonl":
        return "suite"
    found = _TOP.search(text) or _FLOW.search(text.removeprefix("\ufeff"))
    key = found.group(1) if found else "suite"
    if key == "rules":
        return "rules"
    return "tests" if key in ("tests", "files") else "suite"
