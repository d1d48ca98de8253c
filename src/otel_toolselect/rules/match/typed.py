"""`{typed: 5}`: this number in this type, as code sees it: 5 is an integer, neither 5.0 nor true; `{typed: 5.0}` is a
float and not 5. Bare values follow JSON, where 5 and 5.0 are one number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node, Scalar, kind_of
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher


@dataclass(frozen=True, slots=True)
class Typed:
    value: int | float
    absent_ok: bool = False

    @property
    def describe(self) -> str:
        return f"the {'integer' if type(self.value) is int else 'float'} {self.value!r}"

    def mismatch(self, value: JSON, scope: object) -> str | None:
        if type(value) is type(self.value) and value == self.value:
            return None
        said = repr(value) if isinstance(value, float) else brief(value)  # JSON's one spelling would hide 5.0
        return f"expected {self.describe}, got {said}"


class _Kind:
    name = "typed"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        if isinstance(node, Scalar) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
            return Typed(node.value)
        draft.problems.add(node, f"typed must be a number, not {kind_of(node)}", "write {typed: 5} or {typed: 5.0}")
        return None


PLUGIN = _Kind()
