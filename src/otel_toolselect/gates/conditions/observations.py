"""Enough observations to decide at all (R43, R44): never fails, only passes or is inconclusive.

Two counts over identical cases: judged selections of the candidate, at least `min_n`; and the share of the baseline's
cases that the candidate covers, at least `min_cases`, because a candidate that leaves the hard cases out looks better.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from otel_toolselect.gates.condition import MIN_N, Option, View, counted, listed, percent, result
from otel_toolselect.gates.side import exact
from otel_toolselect.model.gating import ConditionResult


@dataclass(frozen=True, slots=True)
class Observations:
    name: str = "observations"
    help: str = "never fails: inconclusive when too few runs or too few of the baseline's cases were seen"
    on: bool = True
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "min_n": MIN_N,
            "min_cases": Option("share", 0.9, "share of the baseline's cases that the candidate must cover"),
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        n = view.candidate.n or 0
        accepted = view.accepted.cases
        enough = n >= max(options["min_n"], 1)
        saw, limit = f"{n} runs", f">= {options['min_n']} runs"
        details = []
        covered = True
        if accepted is not None:
            known = [name for name, record in accepted.items() if record.n]
            covered = bool(known) and Fraction(len(view.cases), len(known)) >= exact(options["min_cases"])
            saw += f", cases {counted(len(view.cases), len(known))}"
            limit += f", >= {percent(options['min_cases'])} of cases"
            missing = sorted(set(known) - set(view.cases))
            details = [f"not comparable: {listed(missing)}"] if missing else []
        said = "enough was seen" if enough and covered else "too few runs" if not enough else "too few of the cases"
        outcome = "pass" if enough and covered else "inconclusive"
        return result(self.name, outcome, said, saw=saw, limit=limit, n=n, details=details)  # type: ignore[arg-type]


PLUGIN = Observations()
