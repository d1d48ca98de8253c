"""Which traces were judged before: a Bloom filter in two generations (B. H. Bloom, 1970), since millions of ids would
not fit in memory as they are. It may say yes for a trace that was not, which costs a look into the store; it says no
only for one that was not, or not within the last generation or two.
"""

from __future__ import annotations

_BITS = 2**26  # 8 MiB a generation
_PROBES = 4
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
        for place in _places(trace_id):
            self._young[place >> 3] |= 1 << (place & 7)

    def __contains__(self, trace_id: str) -> bool:
        places = _places(trace_id)
        return _holds(self._young, places) or (self._old is not None and _holds(self._old, places))


def _holds(bits: bytearray, places: tuple[int, ...]) -> bool:
    return all(bits[place >> 3] & (1 << (place & 7)) for place in places)


def _places(trace_id: str) -> tuple[int, ...]:
    """Two hashes make all (Kirsch and Mitzenmacher, 2006); Python's own are seeded, so nobody can aim at them."""
    a = hash(trace_id)
    b = hash((trace_id, _PROBES)) | 1
    return tuple((a + i * b) % _BITS for i in range(_PROBES))
