"""Key pairs must not grow (R43): confusions that the policy names because they are known and dear.

Of a pair [expected, observed]: share = runs that took `observed` / runs that wanted `expected`, over identical cases.
It may not exceed the baseline's share by more than `growth`. Shares, because the sides may be repeated unequally often.
A baseline without records per case has no row totals: then the counts themselves are compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from otel_toolselect.gates.condition import Option, View, counted, result
from otel_toolselect.gates.side import exact
from otel_toolselect.model.gating import ConditionResult, Outcome
from otel_toolselect.model.verdicts import Cell


@dataclass(frozen=True, slots=True)
class KeyPairs:
    name: str = "key_pairs"
    help: str = "a confusion that the policy watches has grown"
    on: bool = True
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "pairs": Option("pairs", (), "the pairs [expected, observed] to watch"),
            "growth": Option("share", 0.0, "by how much the share of a pair may grow"),
            "min_n": Option("count", 5, "runs that want the expected tool below which a pair is inconclusive"),
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        if not options["pairs"]:
            return result(self.name, "n/a", "the policy names no pairs")
        found = [_pair(view, Cell(*pair), options) for pair in options["pairs"]]
        order: dict[Outcome, int] = {"fail": 0, "inconclusive": 1, "pass": 2, "n/a": 3}
        outcome, n, saw, limit = min(((o, n, s, x) for o, n, s, x in found), key=lambda item: order[item[0]])
        said = {"fail": "a pair has grown", "inconclusive": "a pair was wanted too seldom to say"}
        details = [f"{s}, limit {x}: {o}" for o, _, s, x in found]
        return result(
            self.name, outcome, said.get(outcome, "no pair has grown"),
            saw=saw, limit=limit, n=n, unit="runs that wanted it", details=details,
        )  # fmt: skip


def _pair(view: View, cell: Cell, options: Mapping[str, Any]) -> tuple[Outcome, int, str, str]:
    now, wanted = view.candidate.row_share(cell)
    then, before = view.baseline.row_share(cell)
    name = f"{cell.expected} -> {cell.observed}"
    if view.accepted.cases is None:
        good = now <= then
        limit = str(then)
    else:
        share = Fraction(then, before) if before else Fraction(0)
        good = not wanted or Fraction(now, wanted) <= share + exact(options["growth"])
        limit = counted(then, before)
    few = wanted < max(options["min_n"], 1)
    if few and (good or not now):
        return "inconclusive", wanted, f"{name} {counted(now, wanted)}", limit
    return ("pass" if good else "fail"), wanted, f"{name} {counted(now, wanted)}", limit


PLUGIN = KeyPairs()
