"""Has something changed, by how much, and can it be chance? (R48; issue F: a proper test with an effect size)

Two sides, `before` (a baseline, a release, an earlier window) and `after`. Every result holds a size, which says
whether a change matters, and a p-value, which says whether chance would do as much; an alarm needs both. p-values are
two-sided.

- A mix of categories (which tools are chosen): G-test of homogeneity (log-likelihood ratio) on the 2 x k table. Where
  Cochran's rule forbids the chi-square approximation (an expected count below 1, or more than a fifth of them below 5),
  p is simulated instead: tables with the same margins, drawn from a fixed seed, p = (1 + as extreme) / (1 + drawn).
  Size: Cramér's V (0 no change, 1 nothing in common) and the Jensen-Shannon divergence in bits.
- Confusion: the same within each expected label, statistics and degrees of freedom added up, so that a change in what
  users ask for is no drift of what is chosen for it. Size: the root of the summed chi-squares / n.
- Two shares (recall before and after): pooled z-test, Fisher's exact test when an expected count is below 5; Newcombe's
  hybrid score interval of the difference (R. G. Newcombe, 1998, method 10).
- Two counts over different lengths of time: the exact conditional (binomial) test.
- Many tools at once: Holm bounds the chance of a single false alarm, Benjamini-Hochberg the share of false ones.

scipy is imported where it is used: nothing that only reads figures pays for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats.rates import wilson

RESAMPLES = 4_999
_SEED = 20_260_101


@dataclass(frozen=True, slots=True)
class Moved:
    """One category: counts and shares on both sides; `change` in points of share."""

    name: str
    before: int
    after: int
    change: float


@dataclass(frozen=True, slots=True)
class MixDrift:
    """`method`: "g" or "monte carlo". `moved`: every category, the largest change first."""

    before: int
    after: int
    statistic: float
    p: float
    method: str
    cramers_v: float
    jensen_shannon: float
    moved: tuple[Moved, ...]


@dataclass(frozen=True, slots=True)
class ConfusionDrift:
    """`rows`: by expected label, those that are on both sides; `p` of a row is adjusted by Holm."""

    before: int
    after: int
    statistic: float
    p: float
    method: str
    effect: float
    rows: Mapping[str, MixDrift]


@dataclass(frozen=True, slots=True)
class ShareChange:
    """after - before, its 95 % interval, the p-value, and the test it is from ("z" or "fisher")."""

    difference: float
    ci95: tuple[float, float]
    p: float
    method: str


def mix_drift(before: Mapping[str, int], after: Mapping[str, int], *, resamples: int = RESAMPLES) -> MixDrift | None:
    """Drift of a mix; None when a side is empty, for then there is nothing to compare."""
    names = sorted(name for name in before.keys() | after.keys() if before.get(name, 0) + after.get(name, 0))
    table = [[side.get(name, 0) for name in names] for side in (before, after)]
    n, m = sum(table[0]), sum(table[1])
    if not n or not m:
        return None
    moved = [Moved(x, a, b, b / m - a / n) for x, a, b in zip(names, *table, strict=True)]
    moved.sort(key=lambda c: (-abs(c.change), c.name))
    strata = [_Stratum.of(table)]
    p, method = _p_value(strata, resamples)
    v = sqrt(strata[0].chi2 / (n + m))
    return MixDrift(n, m, strata[0].g, p, method, min(1.0, v), _jensen_shannon(*table), tuple(moved))


def confusion_drift(
    before: Mapping[Cell, int], after: Mapping[Cell, int], *, resamples: int = RESAMPLES
) -> ConfusionDrift | None:
    """Drift of what is chosen, expected label by expected label; None when no label is expected on both sides."""
    sides = [_by_expected(before), _by_expected(after)]
    common = sorted(label for label in sides[0].keys() & sides[1].keys())
    rows = {label: mix_drift(sides[0][label], sides[1][label], resamples=resamples) for label in common}
    found = {label: row for label, row in rows.items() if row is not None}
    if not found:
        return None
    strata = [_Stratum.of(_table(sides[0][label], sides[1][label])) for label in found]
    p, method = _p_value(strata, resamples)
    n, m = sum(row.before for row in found.values()), sum(row.after for row in found.values())
    effect = sqrt(sum(s.chi2 for s in strata) / (n + m))
    adjusted = holm([row.p for row in found.values()])
    fair = {
        label: MixDrift(r.before, r.after, r.statistic, q, r.method, r.cramers_v, r.jensen_shannon, r.moved)
        for (label, r), q in zip(found.items(), adjusted, strict=True)
    }
    return ConfusionDrift(n, m, sum(s.g for s in strata), p, method, min(1.0, effect), fair)


def share_change(before: tuple[int, int], after: tuple[int, int]) -> ShareChange | None:
    """Two shares as (passed, n); None when one of them is undefined."""
    (k, n), (x, m) = before, after
    if not n or not m:
        return None
    (low_b, high_b), (low_a, high_a) = wilson(k, n), wilson(x, m)
    b, a = k / n, x / m
    ci95 = (
        a - b - sqrt((a - low_a) ** 2 + (high_b - b) ** 2),
        a - b + sqrt((high_a - a) ** 2 + (b - low_b) ** 2),
    )
    p, method = _two_shares_p(k, n, x, m)
    return ShareChange(a - b, ci95, p, method)


def rate_change_p(before: int, after: int, *, length: float = 1.0) -> float:
    """p-value of two counts being of one rate; `length`: the time of `after` in units of that of `before`."""
    if before + after == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(after, before + after, length / (1 + length)).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given (S. Holm, 1979)."""
    m, highest = len(p_values), 0.0
    adjusted = [0.0] * m
    for rank, i in enumerate(sorted(range(m), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (m - rank) * p_values[i]))
        adjusted[i] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values in the order given."""
    if not p_values:
        return []
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(p_values, method="bh")]


def shares_changed(
    before: Mapping[str, tuple[int, int]], after: Mapping[str, tuple[int, int]]
) -> dict[str, ShareChange]:
    """Many shares at once (the recall of each tool), p-values adjusted by Holm; undefined ones are left out."""
    found = {
        name: change
        for name in sorted(before.keys() & after.keys())
        if (change := share_change(before[name], after[name])) is not None
    }
    adjusted = holm([change.p for change in found.values()])
    return {
        name: ShareChange(c.difference, c.ci95, p, c.method)
        for (name, c), p in zip(found.items(), adjusted, strict=True)
    }


@dataclass(frozen=True, slots=True)
class _Stratum:
    """A 2 x k table without empty columns: its margins, statistics, and whether the approximation may be used."""

    rows: tuple[int, int]
    columns: tuple[int, ...]
    g: float
    chi2: float
    sparse: bool

    @staticmethod
    def of(table: list[list[int]]) -> _Stratum:
        columns = tuple(a + b for a, b in zip(*table, strict=True))
        rows = (sum(table[0]), sum(table[1]))
        if len(columns) == 1:
            return _Stratum(rows, columns, 0.0, 0.0, sparse=False)
        from scipy.stats import chi2_contingency

        g = chi2_contingency(table, correction=False, lambda_="log-likelihood")
        chi2 = float(chi2_contingency(table, correction=False).statistic)
        expected = g.expected_freq
        sparse = bool(expected.min() < 1 or (expected < 5).mean() > 0.2)
        return _Stratum(rows, columns, max(0.0, float(g.statistic)), chi2, sparse)


def _p_value(strata: Sequence[_Stratum], resamples: int) -> tuple[float, str]:
    freedom = sum(len(s.columns) - 1 for s in strata)
    observed = sum(s.g for s in strata)
    if freedom == 0:
        return 1.0, "g"
    if not any(s.sparse for s in strata):
        from scipy.stats import chi2

        return float(chi2.sf(observed, freedom)), "g"
    import numpy as np

    drawn = np.zeros(resamples)
    for i, stratum in enumerate(strata):
        if len(stratum.columns) > 1:
            drawn += _drawn(stratum, resamples, seed=_SEED + i)
    # equal tables must count as equal although their sums are rounded otherwise
    as_extreme = int((drawn >= observed * (1 - 1e-9) - 1e-9).sum())
    return (1 + as_extreme) / (1 + resamples), "monte carlo"


def _drawn(stratum: _Stratum, resamples: int, *, seed: int) -> Any:
    """G of tables with these margins, drawn as chance would."""
    import numpy as np
    from scipy.special import xlogy
    from scipy.stats import random_table

    tables = random_table(stratum.rows, stratum.columns, seed=seed).rvs(size=resamples)
    expected = np.outer(stratum.rows, stratum.columns) / sum(stratum.rows)
    return 2 * xlogy(tables, tables / expected).sum(axis=(1, 2))


def _two_shares_p(k: int, n: int, x: int, m: int) -> tuple[float, str]:
    passed, total = k + x, n + m
    if passed in (0, total):
        return 1.0, "z"
    if min(n, m) * min(passed, total - passed) / total < 5:
        from scipy.stats import fisher_exact

        return float(fisher_exact([[k, n - k], [x, m - x]]).pvalue), "fisher"
    from scipy.stats import norm

    pooled = passed / total
    z = (x / m - k / n) / sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    return float(2 * norm.sf(abs(z))), "z"


def _jensen_shannon(before: list[int], after: list[int]) -> float:
    from scipy.spatial.distance import jensenshannon

    return float(jensenshannon(before, after, base=2) ** 2)


def _by_expected(cells: Mapping[Cell, int]) -> dict[str, dict[str, int]]:
    rows: dict[str, dict[str, int]] = {}
    for cell, n in cells.items():
        row = rows.setdefault(cell.expected, {})
        row[cell.observed] = row.get(cell.observed, 0) + n
    return rows


def _table(before: Mapping[str, int], after: Mapping[str, int]) -> list[list[int]]:
    names = sorted(name for name in before.keys() | after.keys() if before.get(name, 0) + after.get(name, 0))
    return [[side.get(name, 0) for name in names] for side in (before, after)]
