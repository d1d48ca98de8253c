"""No clarification regression (R43): asking, where a case wants a question, at or above the baseline.

clarification = runs that asked / runs whose case wants a question (status pass or fail), over identical cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from otel_toolselect.gates.condition import Option, View, counted, percent, result, too_few, verdict
from otel_toolselect.model.gating import ConditionResult
from otel_toolselect.stats import rate


@dataclass(frozen=True, slots=True)
class Clarification:
    name: str = "clarification"
    help: str = "fewer of the wanted questions are asked than in the baseline"
    on: bool = True
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "tolerance": Option("tolerance", 0.0, "how far it may fall: a share, or from_flip_rate"),
            "min_n": Option("count", 5, "runs that want a question below which it is inconclusive"),
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        before, now = view.baseline.clarification, view.candidate.clarification
        if not view.accepted.clarification[1] and not now[1]:
            return result(self.name, "n/a", "no case wants a question")
        if not view.accepted.clarification[1]:
            return result(
                self.name, "n/a", "the baseline has no run that wants a question", saw=counted(*now), n=now[1]
            )
        tolerance = view.tolerance(options["tolerance"])
        if not before[1]:
            return too_few(self.name, 0, options["min_n"], unit="runs that want a question", saw=counted(*now))
        limit = Fraction(*before) - tolerance.value
        shown: dict[str, Any] = {"saw": counted(*now), "limit": f">= {percent(limit)}", "rate": rate(*now)}
        if now[1] < max(options["min_n"], 1):
            return too_few(self.name, now[1], options["min_n"], unit="runs that want a question", **shown)
        return result(
            self.name, verdict(Fraction(*now) >= limit), f"baseline {counted(*before)}",
            n=now[1], unit="runs that want a question", **shown,
        )  # fmt: skip


PLUGIN = Clarification()
