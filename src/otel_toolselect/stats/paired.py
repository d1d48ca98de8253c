"""Paired comparison on identical cases: exact McNemar (R43; design section 7).

Each case gives one pair of outcomes. Only the discordant pairs speak: `lost` (passed before, fails now) and `gained`.
If nothing changed each discordant pair is a fair coin, so p = min(1, 2 x P(X <= min(lost, gained))) with
X ~ Binomial(lost + gained, 1/2): exact, two-sided, summed in whole numbers. Without discordant pairs p is 1: there is
no evidence of any change.

The pair of a case with several runs is its majority on either side (case level): runs of one case are not independent,
and counting each would make the test see more evidence than there is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb

from otel_toolselect.stats.repeats import CaseRepeats


@dataclass(frozen=True, slots=True)
class Paired:
    """`lost` and `gained` name the discordant cases; `p` is None when no case is on both sides."""

    cases: int
    both: int
    neither: int
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    p: float | None


def mcnemar(lost: int, gained: int) -> float:
    """The exact two-sided p-value for these numbers of discordant pairs."""
    if lost < 0 or gained < 0:
        raise ValueError(f"counts of pairs cannot be negative: {lost}, {gained}")
    n = lost + gained
    tail = sum(comb(n, i) for i in range(min(lost, gained) + 1))
    return min(1.0, 2 * tail / (1 << n))


def paired(before: Mapping[str, bool], after: Mapping[str, bool]) -> Paired:
    """Outcomes by case; cases that are not on both sides are left out."""
    common = sorted(before.keys() & after.keys())
    lost = tuple(case for case in common if before[case] and not after[case])
    gained = tuple(case for case in common if after[case] and not before[case])
    both = sum(before[case] and after[case] for case in common)
    p = mcnemar(len(lost), len(gained)) if common else None
    return Paired(len(common), both, len(common) - both - len(lost) - len(gained), lost, gained, p)


def outcomes(cases: Mapping[str, CaseRepeats]) -> dict[str, bool]:
    return {name: case.majority for name, case in cases.items() if case.majority is not None}
