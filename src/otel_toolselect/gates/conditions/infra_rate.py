"""Infrastructure error rate under its limit (R36, R43): a suite that could not run has not passed.

rate = runs excluded for infrastructure / all runs of the candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from otel_toolselect.gates.condition import MIN_N, Option, View, counted, percent, result, too_few, verdict
from otel_toolselect.gates.side import exact
from otel_toolselect.model.gating import ConditionResult
from otel_toolselect.stats import rate


@dataclass(frozen=True, slots=True)
class InfraRate:
    name: str = "infra_rate"
    help: str = "too many runs failed for the platform's sake"
    on: bool = True
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "max": Option("share", 0.1, "share of all runs that may be lost to the platform"),
            "min_n": MIN_N,
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        s = view.report.summary
        shown: dict[str, Any] = {
            "saw": counted(s.infra, s.runs),
            "limit": f"<= {percent(options['max'])}",
            "rate": rate(s.infra, s.runs),
        }
        if s.runs < max(options["min_n"], 1):
            return too_few(self.name, s.runs, options["min_n"], **shown)
        good = Fraction(s.infra, s.runs) <= exact(options["max"])
        beside = f"beside them {s.catalog_gap} catalog gaps and {s.incomplete} incomplete"
        return result(self.name, verdict(good), beside, n=s.runs, **shown)


PLUGIN = InfraRate()
