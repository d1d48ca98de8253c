"""JSONPath (RFC 9535) into results, compiled at load and bounded: no patterns, few descents, short texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import jsonpath
from jsonpath.exceptions import JSONPathError

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._nodes import Node, clip
from otel_toolselect.rules.problems import Problems

_PLAIN = re.compile(r"\$(?:\.[A-Za-z_][A-Za-z0-9_]*|\.\*|\[\*\]|\[\d{1,6}\])*")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\.\*|\[\*\]")
_LONGEST = 500
_DESCENTS = 2  # each `..` may visit a result once more for each of its nodes
_MOST = 10_000  # values that one path may give


@dataclass(frozen=True, slots=True)
class Path:
    text: str
    steps: tuple[str | int, ...] | None
    compiled: Any = field(compare=False, repr=False)

    def find(self, value: JSON) -> list[Any]:
        """The values at the path, none when it leads nowhere."""
        if not isinstance(value, (dict, list)):
            return [value] if self.text == "$" else []
        if self.steps is not None:
            return _walk(value, self.steps)
        found: list[Any] = []
        try:
            for match in self.compiled.finditer(value):
                found.append(match.obj)
                if len(found) >= _MOST:
                    break
        except JSONPathError:
            return found  # an expression in a filter that does not fit this result selects nothing
        return found


def _walk(value: JSON, steps: tuple[str | int, ...]) -> list[Any]:
    """Names, indexes and `[*]`, which most paths are made of; `*` is no name that a step can have."""
    found: list[Any] = [value]
    for step in steps:
        if isinstance(step, int):
            found = [v[step] for v in found if isinstance(v, list) and step < len(v)]
        elif step == "*":
            found = [m for v in found for m in _members(v)]
        else:
            found = [v[step] for v in found if isinstance(v, dict) and step in v]
        if len(found) > _MOST:
            return found[:_MOST]
    return found


def _members(value: JSON) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _plain_steps(text: str) -> tuple[str | int, ...] | None:
    """The steps of a path of names, indexes and `*` only; None for any other."""
    if not _PLAIN.fullmatch(text):
        return None
    return tuple(int(index) if index else name or "*" for name, index in _STEP.findall(text))


def compile_path(node: Node, what: str, problems: Problems) -> Path | None:
    text = problems.text(node, what)
    if text is None:
        return None
    if not text.startswith("$"):
        problems.add(node, f"{what} {clip(text)!r} does not begin at the result", f"write $.{text.lstrip('.')[:40]}")
        return None
    if len(text) > _LONGEST or text.count("..") > _DESCENTS:
        problems.add(node, f"{what} is too long, or descends ({'..'}) more than {_DESCENTS} times")
        return None
    if "match(" in text or "search(" in text or "=~" in text:
        problems.add(node, f"{what} {clip(text)!r} holds a pattern", "compare with the matcher matches instead")
        return None
    try:
        return Path(text, _plain_steps(text), jsonpath.compile(text))
    except (JSONPathError, ValueError, RecursionError) as error:
        said = str(error).splitlines()[0] if str(error) else "it cannot be read"
        problems.add(node, f"{what} {clip(text)!r} is no JSONPath: {clip(said)}")
        return None
