"""Agreement of labellers on the same cases: Cohen's kappa (R14).

kappa = (p_o - p_e) / (1 - p_e): p_o the share of cases with equal labels, p_e the share expected if each labeller drew
at random from the own distribution. 1 is perfect, 0 is chance; undefined (None, never 0) without a shared case, or when
both gave one and the same label throughout, where chance explains everything.

The interval is that of Fleiss, Cohen and Everitt (1969), for large samples, kept within -1..1. It has no width where
the two agree throughout, which says nothing of the next case: read it beside n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

from otel_toolselect.stats.rates import Z95


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two labellers: `n` shared cases, `same` equal labels, `kappa` None when undefined, `ci95` then too."""

    first: str
    second: str
    n: int
    same: int
    kappa: float | None
    ci95: tuple[float, float] | None = None


def agreement(labels: Mapping[str, Mapping[str, str]]) -> tuple[Agreement, ...]:
    """`labels`: labeller -> case -> label. Every pair of labellers that share a case, in order of their names."""
    found = []
    for a, b in combinations(sorted(labels), 2):
        shared = sorted(labels[a].keys() & labels[b].keys())
        if shared:
            pairs = [(labels[a][case], labels[b][case]) for case in shared]
            found.append(agreement_of(a, b, pairs))
    return tuple(found)


def agreement_of(first: str, second: str, pairs: Sequence[tuple[str, str]]) -> Agreement:
    """Of two labellers whose labels of each shared case are given."""
    kappa = _kappa(pairs)
    interval = None if kappa is None else _interval(pairs, kappa)
    return Agreement(first, second, len(pairs), sum(x == y for x, y in pairs), kappa, interval)


def _kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    n = len(pairs)
    left, right = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    # in whole numbers, so that chance agreement of exactly 1 is seen as such
    by_chance = sum(left[label] * right[label] for label in left)
    if by_chance == n * n:
        return None
    observed = sum(x == y for x, y in pairs) * n
    return (observed - by_chance) / (n * n - by_chance)


def _interval(pairs: Sequence[tuple[str, str]], kappa: float) -> tuple[float, float]:
    n = len(pairs)
    left, right = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    p_e = sum(left[label] * right[label] for label in left) / (n * n)
    diagonal = apart = 0.0
    for (x, y), count in Counter(pairs).items():
        p = count / n
        if x == y:
            diagonal += p * (1 - (left[x] + right[x]) / n * (1 - kappa)) ** 2
        else:
            apart += p * ((right[x] + left[y]) / n) ** 2
    variance = (diagonal + (1 - kappa) ** 2 * apart - (kappa - p_e * (1 - kappa)) ** 2) / ((1 - p_e) ** 2 * n)
    half = Z95 * sqrt(max(0.0, variance))
    return max(-1.0, kappa - half), min(1.0, kappa + half)
