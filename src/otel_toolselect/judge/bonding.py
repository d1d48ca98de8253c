"""Which traces hold a key of `assemble.Bonds`, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from itertools import islice

from otel_toolselect.assemble import Bonds
from otel_toolselect.store.crew_api import TraceBonds


def wide(key: str) -> int:
    """A hash of 64 bits that is the same in every process, as `hash` is not."""
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def told(trace_id: str, bonds: Bonds) -> TraceBonds:
    """Bonds for other processes."""
    return TraceBonds(trace_id, tuple(sorted(map(wide, bonds.offers))), tuple(sorted(map(wide, bonds.wants))))


class Index:
    """Keeps `size` keys; the oldest beyond them are forgotten, many at once. Keys are kept by hash: two that share one
    tie two traces that need not be, which costs time and changes no run. A key has the latest `per_key` traces at most.
    """

    def __init__(self, size: int, per_key: int, hashing: Callable[[str], int] = hash) -> None:
        self._size = size
        self._full = size + size // 8  # a dict walks over all that was deleted to find its first: not for every key
        self._per_key = per_key
        self._hashing = hashing
        self._held: dict[int, tuple[str, ...]] = {}

    def add(self, keys: Iterable[str], trace_id: str) -> None:
        self.add_hashed(map(self._hashing, keys), trace_id)

    def add_hashed(self, hashes: Iterable[int], trace_id: str) -> None:
        held, alone = self._held, (trace_id,)
        for key in hashes:
            known = held.pop(key, None)  # put back at the end, as the latest
            if known is None:
                held[key] = alone
            else:
                held[key] = known if trace_id in known else (*known, trace_id)[-self._per_key :]
        if len(self._held) > self._full:
            for key in list(islice(self._held, len(self._held) - self._size)):
                del self._held[key]

    def holders(self, keys: Iterable[str]) -> list[str]:
        return self.holders_hashed(map(self._hashing, keys))

    def holders_hashed(self, hashes: Iterable[int]) -> list[str]:
        return [trace_id for key in hashes for trace_id in self._held.get(key, ())]
