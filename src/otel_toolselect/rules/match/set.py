"""`{set: [A, B]}`: a list with exactly these elements in any order, repeats counted (a multiset, never a set).

Elements may be matchers, so one observed element can fit several: the pairing is a maximum one, never greedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope, parse_value
from otel_toolselect.rules.pairing import pair


@dataclass(frozen=True, slots=True)
class SetOf:
    members: tuple[Matcher, ...]
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if not isinstance(value, list):
            return f"expected {self.describe}, got {brief(value)}"
        fits = [[i for i, item in enumerate(value) if m.mismatch(item, scope) is None] for m in self.members]
        taken = pair(fits)
        if len(taken) == len(self.members) == len(value):
            return None
        lacking = [m.describe for n, m in enumerate(self.members) if n not in taken.values()]
        extra = [brief(item, 40) for i, item in enumerate(value) if i not in taken]
        parts = [f"lacks {', '.join(lacking)}"] if lacking else []
        parts += [f"has {', '.join(extra)} too many"] if extra else []
        return f"expected {self.describe}, got {brief(value)}: {'; '.join(parts)}"


class _Kind:
    name = "set"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        before = len(draft.problems.found)
        items = draft.problems.items(node, "set")
        members = [m for m in (parse_value(item, draft) for item in items) if m is not None]
        if len(draft.problems.found) > before:
            return None
        return SetOf(tuple(members), "in any order [" + ", ".join(m.describe for m in members) + "]")


PLUGIN = _Kind()
