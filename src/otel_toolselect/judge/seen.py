"""Which traces were judged before: a Bloom filter in two generations (B. H. Bloom, 1970), since millions of ids would
not fit in memory as they are. It may say yes for a trace that was not, which costs a look into the store; it says no
only for one that was not, or not within the last generation or two.
"""

from __future__ import annotations

_BITS = 2**26  # 8 MiB a generation
_MASK = _BITS - 1
FULL = _BITS // 10
"""Traces of one generation: at most 1.2 % of the answers are a yes too many then."""


class SeenBefore:
    """Not safe for threads."""

    def __init__(self, full: int = FULL) -> None:
        self._full = full
        self._count = 0
        self._young = bytearray(_BITS // 8)
        self._old: bytearray | None = None

    def add(self, trace_id: str) -> None:
        if self._count >= self._full:
            self._old, self._young, self._count = self._young, bytearray(_BITS // 8), 0
        self._count += 1
        young = self._young
        for place in _places(trace_id):
            young[place >> 3] |= 1 << (place & 7)

    def __contains__(self, trace_id: str) -> bool:
        places = _places(trace_id)
        return _holds(self._young, places) or (self._old is not None and _holds(self._old, places))


def _holds(bits: bytearray, places: tuple[int, ...]) -> bool:
    for place in places:  # noqa: SIM110 - of a new trace the first mostly tells; a generator takes longer to begin
        if not bits[place >> 3] & (1 << (place & 7)):
            return False
    return True


def _places(trace_id: str) -> tuple[int, int, int, int]:
    """Two hashes make all (Kirsch and Mitzenmacher, 2006): the halves of Python's own, which is seeded, so that nobody
    can aim at them.
    """
    found = hash(trace_id)
    a, b = found & _MASK, found >> 26 & _MASK | 1
    return a, a + b & _MASK, a + 2 * b & _MASK, a + 3 * b & _MASK
