"""How much each sender may send: token buckets, kept by the sender's name over a change of the file of tokens."""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.receive.status import QuotaError
from otel_toolselect.receive.tokens import Quota

_SHORTEST_S = 0.1


@dataclass(slots=True)
class _Bucket:
    """`level` may fall below zero: a request is taken whole or not, and its debt is paid by the waiting of the next."""

    rate: float
    most: float
    level: float
    filled_at: float

    def fill(self, now: float) -> None:
        self.level = min(self.most, self.level + self.rate * max(0.0, now - self.filled_at))
        self.filled_at = now

    @property
    def wait_s(self) -> float:
        """Seconds until something may be sent again; 0: now."""
        return 0.0 if self.level > 0 else max(_SHORTEST_S, -self.level / self.rate)


class Quotas:
    """On the event loop only. Times are monotonic seconds.

    A request is let in while its sender has something left and is charged when its size is known: so one that is
    larger than the whole allowance still passes now and then, and one over quota is refused before its body is read.
    """

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[Quota, list[_Bucket], list[_Bucket]]] = {}

    def check(self, name: str, quota: Quota, now: float) -> None:
        """Raises QuotaError, with the seconds after which the sender may come back."""
        if not quota.limited:
            return
        waits = {}
        spans, sizes = self._of(name, quota, now)
        for unit, buckets in (("spans_per_second", spans), ("bytes_per_second", sizes)):
            for bucket in buckets:
                bucket.fill(now)
                waits[unit] = bucket.wait_s
        unit = max(waits, key=waits.__getitem__)
        if waits[unit]:
            raise QuotaError(f"over {unit} of {name}", sender=name, retry_after_s=round(waits[unit], 3))

    def charge(self, name: str, quota: Quota, now: float, *, spans: int = 0, size: int = 0) -> None:
        """`spans` and log records, and `size` in bytes, were taken from this sender."""
        if quota.limited:
            for buckets, amount in zip(self._of(name, quota, now), (spans, size), strict=True):
                for bucket in buckets:
                    bucket.fill(now)
                    bucket.level -= amount

    def _of(self, name: str, quota: Quota, now: float) -> tuple[list[_Bucket], list[_Bucket]]:
        known = self._buckets.get(name)
        if known is None or known[0] != quota:
            rates = (quota.spans_per_second, quota.bytes_per_second)
            spans, sizes = ([_full(rate, quota.burst_seconds, now)] if rate is not None else [] for rate in rates)
            known = self._buckets[name] = (quota, spans, sizes)
        return known[1], known[2]


def _full(rate: float, burst_s: float, now: float) -> _Bucket:
    most = rate * burst_s
    return _Bucket(rate, most, most, now)
