"""Rates: a share, its count, and the interval that the count allows (R44; design section 7).

The interval is Wilson's score interval at 95 %: the set of true shares that a two-sided normal score test
would not reject. Unlike the textbook interval it stays inside 0..1 and does not shrink to nothing at 0 % and
100 %, which is where a good suite lives (E. B. Wilson, 1927). No continuity correction.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import sqrt
from statistics import NormalDist

from otel_toolselect.model.figures import Rate

Z95 = NormalDist().inv_cdf(0.975)


def wilson(passed: int, n: int) -> tuple[float, float]:
    """The 95 % interval of passed / n. Needs 0 <= passed <= n and n > 0: without observations there is no
    interval.
    """
    if not 0 <= passed <= n or n == 0:
        raise ValueError(f"no interval for {passed} of {n}: needs n > 0 and 0 <= passed <= n")
    share, z2 = passed / n, Z95 * Z95
    scale = 1 + z2 / n
    centre = (share + z2 / (2 * n)) / scale
    half = Z95 * sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / scale
    # at the ends the formula gives 0 and 1 exactly, floating point only nearly
    low = 0.0 if passed == 0 else max(0.0, centre - half)
    high = 1.0 if passed == n else min(1.0, centre + half)
    return low, high


def rate(passed: int, n: int) -> Rate:
    """passed / n with its interval; rate and interval are None when n is 0 (undefined, never 0)."""
    return Rate(passed, n, passed / n, wilson(passed, n)) if n else Rate(0, 0, None, None)


def rate_of(outcomes: Iterable[bool]) -> Rate:
    """The rate of true outcomes."""
    seen = list(outcomes)
    return rate(sum(seen), len(seen))
