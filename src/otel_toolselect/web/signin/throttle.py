"""Slows down whoever tries tokens: after a few failures an address waits, twice as long each time."""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable

from otel_toolselect.web.problems import TooOftenError

FREE = 5
LONGEST_S = 300.0
FORGET_S = 900.0
ADDRESSES = 10_000


class Throttle:
    """On one event loop only. Memory is bounded: of too many addresses the one that failed longest ago is forgotten."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Raises TooOftenError while the address has to wait."""
        count, last = self._failed.get(_network(address), (0, 0.0))
        wait = last + _pause_s(count) - self._clock()
        if wait > 0:
            raise TooOftenError(f"too many failures from here: wait {wait:.0f} s", retry_after_s=wait)

    def failed(self, address: str) -> None:
        key, now = _network(address), self._clock()
        count, last = self._failed.pop(key, (0, now))
        self._failed[key] = (1 if now - last > FORGET_S else count + 1, now)
        if len(self._failed) > ADDRESSES:
            self._failed.popitem(last=False)

    def passed(self, address: str) -> None:
        self._failed.pop(_network(address), None)


def _pause_s(failures: int) -> float:
    return 0.0 if failures < FREE else float(min(LONGEST_S, 2.0 ** min(failures - FREE, 10)))


def _network(address: str) -> str:
    """An address; of version 6 the /64 around it, as one customer has that many."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)
