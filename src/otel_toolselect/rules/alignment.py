"""Two sequences of calls beside each other: which observed call is which expected one, and how far apart they are.

Calls are a multiset: each observed call satisfies one expected call, and the assignment is optimal, never greedy. As
many pairs as possible fit in full (tool and arguments); what is left is paired by tool alone, so that a call with
wrong arguments is a wrong call and not a skipped step. Where several assignments are equally good, one that keeps the
order is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from otel_toolselect.rules.pairing import pair

Fits = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True)
class Alignment:
    """`pairs`: observed position -> expected position, same tool; `fitting`: those whose arguments fit too."""

    pairs: dict[int, int]
    fitting: frozenset[int]

    def missing(self, expected: int) -> list[int]:
        taken = set(self.pairs.values())
        return [e for e in range(expected) if e not in taken]

    def surplus(self, observed: int) -> list[int]:
        return [o for o in range(observed) if o not in self.pairs]

    @property
    def in_order(self) -> bool:
        steps = [self.pairs[o] for o in sorted(self.pairs)]
        return all(a < b for a, b in pairwise(steps))


def align(
    expected: Sequence[str], observed: Sequence[str], fits: Fits, *, exacting: Collection[int] = (), order: bool = True
) -> Alignment:
    """`fits(e, o)`: the arguments of observed call o are those of expected call e; asked only for the same tool.

    `exacting`: expected calls that say something of their arguments. Without `order`, as many of those as possible are
    among the pairs, so that it does not matter in which order the expected calls are written.
    """
    known: dict[tuple[int, int], bool] = {}

    def whole(e: int, o: int) -> bool:
        if expected[e] != observed[o]:
            return False
        if (e, o) not in known:
            known[e, o] = fits(e, o)
        return known[e, o]

    def pairs(left: Sequence[int], seen: Sequence[int], fit: Fits) -> dict[int, int]:
        kept = _in_order(left, seen, fit) if left and seen else {}
        # pairing begins with the exacting ones: what it has paired once, it never leaves alone again
        ranked = sorted(left, key=lambda e: e not in exacting)
        most = {o: ranked[i] for o, i in pair([[o for o in seen if fit(e, o)] for e in ranked]).items()}
        as_good = order or _among(exacting, kept) == _among(exacting, most)
        return kept if len(kept) == len(most) and as_good else most

    full = pairs(range(len(expected)), range(len(observed)), whole)
    by_tool = pairs(
        [e for e in range(len(expected)) if e not in full.values()],
        [o for o in range(len(observed)) if o not in full],
        lambda e, o: expected[e] == observed[o],
    )
    return Alignment({**full, **by_tool}, frozenset(full))


def _among(exacting: Collection[int], pairs: Mapping[int, int]) -> int:
    return sum(e in exacting for e in pairs.values())


def _in_order(expected: Sequence[int], observed: Sequence[int], fits: Fits) -> dict[int, int]:
    """The longest common subsequence."""
    n, m = len(expected), len(observed)
    best = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n - 1, -1, -1):
        row, below = best[i], best[i + 1]
        for j in range(m - 1, -1, -1):
            row[j] = below[j + 1] + 1 if fits(expected[i], observed[j]) else max(below[j], row[j + 1])
    found: dict[int, int] = {}
    i = j = 0
    while i < n and j < m:
        if fits(expected[i], observed[j]):
            found[observed[j]] = expected[i]
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return found


def distance(alignment: Alignment, expected: int, observed: int, *, order: bool, free: Collection[str] = ()) -> int:
    """Levenshtein distance in steps: a skipped or an extra step is one edit, a step that moved two, a replaced one one.

    `free`: "missing" or "extra" steps that cost nothing. Without `order` a move costs nothing either.
    """
    pairs = alignment.pairs
    if not order:
        missing = 0 if "missing" in free else expected - len(pairs)
        extra = 0 if "extra" in free else observed - len(pairs)
        return max(missing, extra)  # one of each is a replaced step
    wanted = sorted(pairs.values()) if "missing" in free else list(range(expected))
    seen = [pairs.get(o, expected + o) for o in range(observed)]
    if "extra" in free:
        seen = [s for s in seen if s < expected]
    return int(Levenshtein.distance(wanted, seen))
