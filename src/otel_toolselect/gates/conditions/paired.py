"""Candidate not significantly worse on identical cases: exact McNemar (R43; `stats.paired`, case level by majority).

Fails when more cases were lost than gained and p < `alpha`. With fewer than `min_n` cases the test cannot find anything
(five lost and none gained have p = 0.0625), so it is inconclusive.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.gates.condition import Option, View, listed, result, too_few, verdict
from otel_toolselect.model.gating import ConditionResult
from otel_toolselect.stats import paired


@dataclass(frozen=True, slots=True)
class PairedTest:
    name: str = "paired"
    help: str = "cases were lost beyond chance, by an exact paired test"
    on: bool = True
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "alpha": Option("share", 0.05, "p below which a loss counts as real"),
            "min_n": Option("count", 6, "cases below which it is inconclusive"),
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        before, now = view.baseline.outcomes, view.candidate.outcomes
        if before is None or now is None:
            return result(self.name, "n/a", "the baseline has no record per case", unit="cases")
        found = paired(before, now)
        limit = f"p >= {options['alpha']}"
        if found.p is None or found.cases < options["min_n"]:
            return too_few(self.name, found.cases, options["min_n"], unit="cases", limit=limit)
        lost, gained = len(found.lost), len(found.gained)
        worse = lost > gained and found.p < options["alpha"]
        details = [f"lost: {listed(found.lost)}"] if lost else []
        details += [f"gained: {listed(found.gained)}"] if gained else []
        said = f"{lost} lost, {gained} gained, {found.both} right and {found.neither} wrong on both sides"
        saw = f"p = {found.p:.4f}"
        return result(
            self.name, verdict(not worse), said, saw=saw, limit=limit, n=found.cases, unit="cases", details=details
        )


PLUGIN = PairedTest()
