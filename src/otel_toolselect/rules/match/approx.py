"""`{approx: N}`: a number near N. `abs` and `rel` set how near (the wider counts); without them a relative 1e-6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope

_DEFAULT_REL = 1e-6


@dataclass(frozen=True, slots=True)
class Approx:
    value: int | float
    tolerance: float
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and self._is_near(value):
            return None
        return f"expected {self.describe}, got {brief(value)}"

    def _is_near(self, value: int | float) -> bool:
        try:
            return abs(value - self.value) <= self.tolerance
        except OverflowError:  # an integer larger than any float
            return False


class _Kind:
    name = "approx"
    options = frozenset({"abs", "rel"})

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        value = draft.problems.number(node, "approx")
        widths: list[float] = []
        for name, option in options.items():
            width = draft.problems.number(option, name)
            if width is not None and width < 0:
                draft.problems.add(option, f"{name} cannot be negative")
            if width is not None and value is not None:
                widths.append(float(width) if name == "abs" else float(width) * abs(value))
        if value is None:
            return None
        tolerance = max(widths) if widths else _DEFAULT_REL * abs(value)
        return Approx(value, tolerance, f"{value} ± {tolerance:g}")


PLUGIN = _Kind()
