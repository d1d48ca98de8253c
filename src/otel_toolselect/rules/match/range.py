"""`{range: [LOW, HIGH]}`: a number between two, both included; `null` leaves an end open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope


@dataclass(frozen=True, slots=True)
class Range:
    low: int | float | None
    high: int | float | None
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            above = self.low is None or value >= self.low
            if above and (self.high is None or value <= self.high):
                return None
        return f"expected {self.describe}, got {brief(value)}"


class _Kind:
    name = "range"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        ends = draft.problems.items(node, "range", example="[1, 10]")
        if not ends:
            return None
        if len(ends) != 2:
            draft.problems.add(node, f"range needs two ends, not {len(ends)}", "write [1, 10], or null for an open end")
            return None
        before = len(draft.problems.found)
        low, high = (_end(e, draft) for e in ends)
        if len(draft.problems.found) > before:
            return None
        if low is not None and high is not None and low > high:
            draft.problems.add(node, f"range [{low}, {high}] is empty: its ends are the wrong way round")
            return None
        return Range(low, high, _said(low, high))


def _end(node: Node, draft: Draft) -> int | float | None:
    if isinstance(node, Scalar) and node.plain and node.value is None:
        return None
    return draft.problems.number(node, "an end of range")


def _said(low: int | float | None, high: int | float | None) -> str:
    if low is None or high is None:
        return (
            f"a number from {low}" if low is not None else f"a number up to {high}" if high is not None else "a number"
        )
    return f"a number from {low} to {high}"


PLUGIN = _Kind()
