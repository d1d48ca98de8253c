"""A histogram as Prometheus means it, without prometheus-client: a process that nobody scrapes never imports it."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Observed:
    """A copy of a histogram: `buckets` are (upper bound as text, observations up to it), the last is +Inf."""

    buckets: tuple[tuple[str, int], ...]
    total: float

    @property
    def count(self) -> int:
        return self.buckets[-1][1]


class Histogram:
    """Counts values by upper bounds, in ascending order. Safe for threads."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._total = 0.0
        self._lock = threading.Lock()

    def observe(self, value: float) -> None:
        place = bisect_left(self._bounds, value)  # bounds are inclusive
        with self._lock:
            self._counts[place] += 1
            self._total += value

    def snapshot(self) -> Observed:
        with self._lock:
            counts, total = tuple(self._counts), self._total
        names = [*(str(float(bound)) for bound in self._bounds), "+Inf"]
        return Observed(tuple(zip(names, accumulate(counts), strict=True)), total)
