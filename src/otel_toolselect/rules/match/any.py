"""`{any: true}`: any value, null included; the argument must be there (add `optional: true` if it need not be)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope


@dataclass(frozen=True, slots=True)
class AnyValue:
    absent_ok: bool = False
    describe: str = "any value"

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        return None


class _Kind:
    name = "any"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        flag = draft.problems.boolean(node, "any")
        if flag is False:
            draft.problems.add(node, "any: false would match nothing", "write {absent: true}")
        return AnyValue() if flag else None


PLUGIN = _Kind()
