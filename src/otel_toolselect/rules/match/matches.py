"""`{matches: PATTERN}`: a text in which the RE2 pattern is found; anchor with ^ and $ to cover the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope
from otel_toolselect.rules.patterns import Pattern, compile_node


@dataclass(frozen=True, slots=True)
class Matches:
    pattern: Pattern
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if isinstance(value, str) and self.pattern.search(value):
            return None
        return f"expected {self.describe}, got {brief(value)}"


class _Kind:
    name = "matches"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        pattern = compile_node(node, "matches", draft.problems)
        return None if pattern is None else Matches(pattern, f"a text that matches {brief(pattern.pattern)}")


PLUGIN = _Kind()
