"""Worst per-tool recall at or above the baseline's worst (R43): a strong tool cannot mask a collapsed one.

recall of a tool = right / times expected, over identical cases. Only tools that were expected `min_support` times or
more on both sides are compared, the same tools on both; the others are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from otel_toolselect.gates.condition import Option, View, counted, listed, percent, result, verdict
from otel_toolselect.model.gating import ConditionResult
from otel_toolselect.stats import rate

MIN_SUPPORT = Option("count", 5, "times that a tool must have been expected to be compared")


@dataclass(frozen=True, slots=True)
class WorstRecall:
    name: str = "worst_recall"
    help: str = "the lowest recall of a tool is below the baseline's lowest minus the tolerance"
    on: bool = True
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "tolerance": Option("tolerance", 0.0, "how far it may fall: a share, or from_flip_rate"),
            "min_support": MIN_SUPPORT,
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        pairs, small = comparable(view, options["min_support"])
        details = small_tools(small, options["min_support"])
        if not pairs:
            return nothing_comparable(self.name, view, details)
        tool, worst = min(((t, share(now)) for t, (_, now) in pairs.items()), key=lambda item: (item[1], item[0]))
        then, before = min(((t, share(was)) for t, (was, _) in pairs.items()), key=lambda item: (item[1], item[0]))
        tolerance = view.tolerance(options["tolerance"])
        limit = before - tolerance.value
        right, n = pairs[tool][1]
        return result(
            self.name, verdict(worst >= limit),
            f"the weakest tool is {tool}; the baseline's weakest was {then} with {counted(*pairs[then][0])}",
            saw=f"{tool} {counted(right, n)}", limit=f">= {percent(limit)}", n=n, unit=f"runs that wanted {tool}",
            rate=rate(right, n), details=details,
        )  # fmt: skip


def nothing_comparable(name: str, view: View, details: list[str]) -> ConditionResult:
    """No tool to compare: for want of observations, or because there is nothing of the kind."""
    if not view.accepted.recall:
        return result(name, "n/a", "the baseline has no recall of any tool", unit="tools")
    said = "no tool was expected often enough on both sides; add cases, or lower min_support"
    return result(name, "inconclusive", said, unit="tools", details=details)


Pairs = dict[str, tuple[tuple[int, int], tuple[int, int]]]


def comparable(view: View, least: int) -> tuple[Pairs, list[str]]:
    """Per tool (right, expected) before and now; and the tools with too little support on a side."""
    before, now = view.baseline.recall, view.candidate.recall
    pairs: Pairs = {}
    small = []
    for tool in sorted(before.keys() | now.keys()):
        a, b = before.get(tool, (0, 0)), now.get(tool, (0, 0))
        if min(a[1], b[1]) >= max(least, 1):
            pairs[tool] = (a, b)
        else:
            small.append(tool)
    return pairs, small


def share(counts: tuple[int, int]) -> Fraction:
    return Fraction(*counts)


def small_tools(small: list[str], least: int) -> list[str]:
    return [f"not compared, expected fewer than {least} times: {listed(small)}"] if small else []


PLUGIN = WorstRecall()
