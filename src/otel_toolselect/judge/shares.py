"""Whose is a trace: shares by rendezvous hashing (Thaler and Ravishankar, 1998) among the workers that act, so that a
worker that comes or goes moves no trace but its own. Pure: times are the store's, in nanoseconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from otel_toolselect.store.crew_api import Worker


@dataclass(frozen=True, slots=True)
class View:
    """The workers that share, in order of name. Nobody owns anything where there is none."""

    names: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Equal for equal views."""
        return blake2b("\0".join(self.names).encode(), digest_size=8).hexdigest() if self.names else ""

    def owner(self, trace_id: str) -> str | None:
        if len(self.names) < 2:
            return self.names[0] if self.names else None
        return max(self.names, key=lambda name: (_weight(name, trace_id), name))


def acting(present: Iterable[Worker], now_ns: int, hold_ns: int) -> View:
    """Those of the workers that are there who share already. One that joins holds back for `hold_ns`, until the others
    must have seen it; those who came about as early as the first do not, as nobody had all before them.
    """
    workers = list(present)
    first = min((w.joined_ns for w in workers), default=0)
    return View(
        tuple(sorted(w.name for w in workers if w.joined_ns <= first + hold_ns or now_ns - w.joined_ns >= hold_ns))
    )


def _weight(name: str, trace_id: str) -> bytes:
    return blake2b(trace_id.encode("utf-8", "surrogatepass"), digest_size=8, key=name.encode()[:64]).digest()
