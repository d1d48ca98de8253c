"""Estimates for all traffic from a sample in which some runs were more likely than others (R47).

Each sampled unit stands for 1 / (its chance to be drawn) units: Horvitz and Thompson (1952). A share is the weighted
mean, that is the ratio of two such totals (Hájek 1971). `calibrated` first scales the weights of each stratum to the
size that the stratum is known to have: a sample of which only a part was labelled then still stands for the whole, as
if those without an answer were like the others of their stratum (post-stratification; Holt and Smith 1979).

The interval is Wilson's with the effective sample size in place of n. Effective n is (sum w)^2 / sum w^2, Kish (1965):
what an even sample would need to be as precise if the weights had nothing to do with what is measured. It ignores what
stratification gains, so that the interval is rather too wide than too narrow, and never shrinks to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from otel_toolselect.stats.rates import Z95


@dataclass(frozen=True, slots=True)
class Unit:
    """`weight`: how many units it stands for, at least 1."""

    value: bool
    weight: float
    stratum: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """`n` units were seen, which are worth `effective_n` of an even sample and stand for `stands_for`. `total`: of the
    units stood for, those with the value. `rate` and `ci95` are None when n is 0.
    """

    n: int
    effective_n: float
    stands_for: float
    total: float
    rate: float | None
    ci95: tuple[float, float] | None


def estimate(units: Iterable[Unit]) -> Estimate:
    """The share of units whose value is true. Raises ValueError for a weight below 1, or not a number."""
    seen = list(units)
    if any(not unit.weight >= 1 for unit in seen):
        raise ValueError("a weight is one over a chance: at least 1")
    if not seen:
        return Estimate(0, 0.0, 0.0, 0.0, None, None)
    everything = sum(unit.weight for unit in seen)
    total = sum(unit.weight for unit in seen if unit.value)
    effective = everything**2 / sum(unit.weight**2 for unit in seen)
    share = min(1.0, total / everything)
    return Estimate(len(seen), effective, everything, total, share, _wilson(share, effective))


def calibrated(units: Sequence[Unit], sizes: Mapping[str, int]) -> list[Unit]:
    """Weights scaled so that each stratum of a known size adds up to it; the others stay as they are."""
    sums: dict[str, float] = {}
    counts: dict[str, int] = {}
    for unit in units:
        sums[unit.stratum] = sums.get(unit.stratum, 0.0) + unit.weight
        counts[unit.stratum] = counts.get(unit.stratum, 0) + 1
    scaled = []
    for unit in units:
        # a stratum never stands for less than what was seen of it
        size = max(sizes.get(unit.stratum, sums[unit.stratum]), counts[unit.stratum])
        weight = unit.weight * size / sums[unit.stratum]
        scaled.append(Unit(unit.value, max(1.0, weight), unit.stratum))
    return scaled


def _wilson(share: float, n: float) -> tuple[float, float]:
    """As `rates.wilson`, for a number of observations that is no whole one."""
    z2 = Z95 * Z95
    scale = 1 + z2 / n
    centre = (share + z2 / (2 * n)) / scale
    half = Z95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / scale
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return low, high
