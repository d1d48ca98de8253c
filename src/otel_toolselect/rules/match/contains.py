"""`{contains: X}`: a text that holds this text (code points as they are), or a list that holds this value.

A list of expectations means all of them: `{contains: [a, b]}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import Literal, brief
from otel_toolselect.rules._nodes import Items, Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope, parse_value


@dataclass(frozen=True, slots=True)
class Contains:
    parts: tuple[Matcher, ...]
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        lacking = next((p for p in self.parts if not _holds(value, p, scope)), None)
        return None if lacking is None else f"expected to hold {lacking.describe}, got {brief(value)}"


def _holds(value: JSON, part: Matcher, scope: Scope) -> bool:
    if isinstance(value, str):
        return isinstance(part, Literal) and isinstance(part.value, str) and part.value in value
    return isinstance(value, list) and any(part.mismatch(item, scope) is None for item in value)


class _Kind:
    name = "contains"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        wanted = node.items if isinstance(node, Items) else (node,)
        if not wanted:
            draft.problems.add(node, "contains lists nothing: everything would match")
            return None
        parts = [m for m in (parse_value(n, draft) for n in wanted) if m is not None]
        if len(parts) < len(wanted):
            return None
        return Contains(tuple(parts), "a value that holds " + " and ".join(p.describe for p in parts))


PLUGIN = _Kind()
