"""Recall of every tool at or above its own baseline (R39, R43): stricter than the worst recall, off unless asked for.

recall and comparable tools as in `worst_recall`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.gates.condition import Option, View, counted, percent, result, verdict
from otel_toolselect.gates.conditions.worst_recall import (
    MIN_SUPPORT,
    comparable,
    nothing_comparable,
    share,
    small_tools,
)
from otel_toolselect.model.gating import ConditionResult


@dataclass(frozen=True, slots=True)
class ToolRecall:
    name: str = "tool_recall"
    help: str = "some tool's recall is below its own baseline minus the tolerance"
    on: bool = False
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "tolerance": Option("tolerance", 0.0, "how far each may fall: a share, or from_flip_rate"),
            "min_support": MIN_SUPPORT,
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        pairs, small = comparable(view, options["min_support"])
        details = small_tools(small, options["min_support"])
        if not pairs:
            return nothing_comparable(self.name, view, details)
        tolerance = view.tolerance(options["tolerance"]).value
        fallen = [tool for tool, (a, b) in pairs.items() if share(b) < share(a) - tolerance]
        details = [f"{tool}: {counted(*pairs[tool][0])} -> {counted(*pairs[tool][1])}" for tool in fallen] + details
        said = f"{len(fallen)} of {len(pairs)} tools fell by more than {percent(tolerance)}"
        return result(
            self.name, verdict(not fallen), said,
            saw=f"{len(fallen)} fell", limit="0", n=len(pairs), unit="tools", details=details,
        )  # fmt: skip


PLUGIN = ToolRecall()
