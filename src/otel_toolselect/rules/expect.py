"""The value of `expect` -> a compiled Expectation: hands each key to its kind, then lets every kind compile."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import cast

from otel_toolselect import registry
from otel_toolselect.rules._nodes import Fields, Node, clip, kind_of
from otel_toolselect.rules.check import Kind, Labelled
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.problems import suggest
from otel_toolselect.rules.suite import Expectation

KINDS_PACKAGE = "otel_toolselect.rules.kinds"


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind of check by its key, found by scanning and by entry points."""
    return cast("Mapping[str, Kind]", registry.discover(KINDS_PACKAGE))


def parse_expect(node: Node, draft: Draft) -> Expectation:
    """All keys read, all problems recorded; the result is only meaningful when no problem was found."""
    if not isinstance(node, Fields):
        draft.problems.add(node, f"expect must be a mapping, not {kind_of(node)}")
        return compile_expectation(draft)
    if not node.entries:
        draft.problems.add(node, "expect is empty: the case expects nothing", "write class or first")
    known = kinds()
    written = [name for name, kind in known.items() if not kind.implicit]
    for key, value in node.entries:
        kind = known.get(key.text)
        if kind is not None and not kind.implicit:
            draft.keys[key.text] = key
            kind.parse(key, value, draft)
        elif kind is not None:
            draft.problems.add(key, f"{key.text!r} is checked in every case and has no setting", "take it out")
        else:
            draft.problems.add(key, f"unknown key {clip(key.text)!r} in expect", suggest(key.text, written))
    return compile_expectation(draft)


def compile_expectation(draft: Draft) -> Expectation:
    """The expectation of what the draft holds: used for YAML and for the tiny forms alike."""
    made = (kind.finish(draft) for kind in kinds().values())
    checks = tuple(check for check in made if check is not None)
    return Expectation(
        decision=draft.decision,
        first=draft.first,
        wanted=tuple(dict.fromkeys([*draft.first, *draft.wanted])),
        forbidden=tuple(dict.fromkeys(draft.forbidden)),
        checks=checks,
        labelled=tuple(cast("Labelled", c) for c in checks if hasattr(c, "cells")),
    )
