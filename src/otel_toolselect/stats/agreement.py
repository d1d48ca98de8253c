"""Agreement of labellers on the same cases: Cohen's kappa (R14).

kappa = (p_o - p_e) / (1 - p_e): p_o the share of cases with equal labels, p_e the share expected if each labeller drew
at random from the own distribution. 1 is perfect, 0 is chance; undefined (None, never 0) without a shared case, or when
both gave one and the same label throughout, where chance explains everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two labellers: `n` shared cases, `same` equal labels, `kappa` None when undefined."""

    first: str
    second: str
    n: int
    same: int
    kappa: float | None


def agreement(labels: Mapping[str, Mapping[str, str]]) -> tuple[Agreement, ...]:
    """`labels`: labeller -> case -> label. Every pair of labellers that share a case, in order of their names."""
    found = []
    for a, b in combinations(sorted(labels), 2):
        shared = sorted(labels[a].keys() & labels[b].keys())
        if shared:
            pairs = [(labels[a][case], labels[b][case]) for case in shared]
            found.append(Agreement(a, b, len(pairs), sum(x == y for x, y in pairs), _kappa(pairs)))
    return tuple(found)


def _kappa(pairs: list[tuple[str, str]]) -> float | None:
    n = len(pairs)
    left, right = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    # in whole numbers, so that chance agreement of exactly 1 is seen as such
    by_chance = sum(left[label] * right[label] for label in left)
    if by_chance == n * n:
        return None
    observed = sum(x == y for x, y in pairs) * n
    return (observed - by_chance) / (n * n - by_chance)
