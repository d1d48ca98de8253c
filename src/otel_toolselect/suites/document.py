"""A suite as plain data, and its text: YAML 1.2 that is JSON too.

One case a line: a suite of a thousand cases is searched, compared and merged line by line, is read ten times as fast
as block YAML, and holds no spelling that a YAML reader could take for something else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.model.values import JSON
from otel_toolselect.rules.matching import matchers
from otel_toolselect.rules.problems import closest

_LAST_SHORT = 0xFFFF
_SLIP = 80  # the nearness at which the loader takes a lone key for a misspelled matcher


@dataclass(slots=True)
class Imported:
    """What an importer made. `notes` say what could not be carried over, for people."""

    suite: str
    cases: list[dict[str, Any]]
    matching: str | None = None
    policy: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def render(found: Imported) -> Iterator[str]:
    """The suite file, part by part."""
    head: dict[str, Any] = {"suite": found.suite}
    if found.matching is not None:
        head["matching"] = found.matching
    if found.policy:
        head["policy"] = found.policy
    yield "{" + ",\n".join(f"{_text(k)}: {_text(v)}" for k, v in head.items())
    yield ',\n"cases": ['
    for i, case in enumerate(found.cases):
        yield (",\n" if i else "\n") + _text(case)
    yield "\n]}\n"


def _text(value: Any) -> str:
    # what does not print is escaped as JSON and YAML both read it: one escape per 16 bits, so only below U+10000
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or ord(c) > _LAST_SHORT else f"\\u{ord(c):04x}" for c in text)


def exactly(value: JSON) -> JSON:
    """An expected value that means itself: wrapped where one of its objects could be read as a matcher."""
    return {"literal": value} if _ambiguous(value) else value


def _ambiguous(value: JSON) -> bool:
    if isinstance(value, dict):
        return not is_plain(value) or any(_ambiguous(v) for v in value.values())
    return isinstance(value, list) and any(_ambiguous(v) for v in value)


def is_plain(keys: Iterable[str]) -> bool:
    """Whether an object with these keys is read as a nested object, and not as a matcher or a slip."""
    known = set(matchers())
    names = list(keys)
    if "optional" in names or any(n in known for n in names):
        return False
    return len(names) != 1 or closest(names[0], known, cutoff=_SLIP) is None


def unique(name: str, taken: Mapping[str, Any] | set[str]) -> str:
    """The name, or the first of `name-2`, `name-3`, ... that is free."""
    found, n = name, 1
    while found in taken:
        n += 1
        found = f"{name}-{n}"
    return found
