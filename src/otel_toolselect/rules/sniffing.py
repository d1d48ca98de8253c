"""What a user's file is, before it is read: a suite, a rules file, alerts, or tests of these. A cheap look, never a
judgement: the loader of that kind says what is wrong with it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import re2

FileKind: TypeAlias = Literal["suite", "rules", "tests", "alerts", "alert tests"]
_TOP = re2.compile(r"(?m)^[\"']?(suite|rules|tests|files|alerts|alerts_file)[\"']?[ \t]*:(?:[ \t\r]|$)")
_FLOW = re2.compile(r"^\s*\{\s*[\"']?(suite|rules|tests|files|alerts|alerts_file)[\"']?\s*:")
_KINDS: dict[str, FileKind] = {
    "suite": "suite",
    "rules": "rules",
    "tests": "tests",
    "files": "tests",
    "alerts": "alerts",
    "alerts_file": "alert tests",
}


def kind_of_file(text: str, path: str) -> FileKind:
    """By the first of the keys that name a kind; a suite when there is none, for the tiny forms have none."""
    if Path(path).suffix.lower() == ".jsonl":
        return "suite"
    found = _TOP.search(text) or _FLOW.search(text.removeprefix("\ufeff"))
    return _KINDS[found.group(1)] if found else "suite"
