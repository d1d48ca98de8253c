"""`{one_of: [A, B]}`: any of these values, each a literal or a matcher."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Items, Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope, parse_value


@dataclass(frozen=True, slots=True)
class OneOf:
    options: tuple[Matcher, ...]
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if any(o.mismatch(value, scope) is None for o in self.options):
            return None
        return f"expected {self.describe}, got {brief(value)}"


class _Kind:
    name = "one_of"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        items = draft.problems.items(node, "one_of")
        found = [m for m in (parse_value(item, draft) for item in items) if m is not None]
        if not found:
            if isinstance(node, Items) and not items:
                draft.problems.add(node, "one_of lists no value: nothing could match")
            return None
        return OneOf(tuple(found), "one of " + ", ".join(m.describe for m in found))


PLUGIN = _Kind()
