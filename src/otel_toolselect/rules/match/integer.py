"""`{integer: 5}`: this number as an integer, neither 5.0 nor true nor "5"; for tools whose code tells them apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node, Scalar, kind_of
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher


@dataclass(frozen=True, slots=True)
class Integer:
    value: int
    absent_ok: bool = False

    @property
    def describe(self) -> str:
        return f"the integer {self.value}"

    def mismatch(self, value: JSON, scope: object) -> str | None:
        if type(value) is int and value == self.value:
            return None
        said = repr(value) if isinstance(value, float) else brief(value)  # JSON's one spelling would hide 5.0
        return f"expected {self.describe}, got {said}"


class _Kind:
    name = "integer"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        if isinstance(node, Scalar) and type(node.value) is int:
            return Integer(node.value)
        draft.problems.add(node, f"integer must be a whole number, not {kind_of(node)}", "write {integer: 5}")
        return None


PLUGIN = _Kind()
