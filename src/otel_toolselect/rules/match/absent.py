"""`{absent: true}`: the argument must not be given; null is a value and not absent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope


@dataclass(frozen=True, slots=True)
class Absent:
    absent_ok: bool = True
    describe: str = "no such argument"

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        return f"must not be given, got {brief(value)}"


class _Kind:
    name = "absent"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        flag = draft.problems.boolean(node, "absent")
        if flag is False:
            draft.problems.add(node, "absent: false is not a matcher", "write {any: true}")
        return Absent() if flag else None


PLUGIN = _Kind()
