"""What a receiver counts of itself; whoever shows metrics reads a snapshot."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, fields


@dataclass(slots=True)
class Counters:
    """All only grow. Added to from several threads."""

    requests: int = 0
    refused: int = 0
    """Requests answered with an error that is the sender's."""
    overloaded: int = 0
    """Requests answered with "come back later"."""
    failed: int = 0
    """Requests answered with an error that is ours."""
    spans: int = 0
    logs: int = 0
    rejected: int = 0
    """Spans and log records left out of a request that was otherwise kept."""
    warnings: int = 0
    inserts: int = 0
    insert_failures: int = 0
    replayed: int = 0
    """Requests found in the spool at the start."""
    torn_bytes: int = 0
    """Bytes at the end of spool segments that were no whole record."""
    dead_letters: int = 0
    dead_letters_not_kept: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, **amounts: int) -> None:
        with self._lock:
            for name, amount in amounts.items():
                setattr(self, name, getattr(self, name) + amount)

    def snapshot(self) -> dict[str, int]:
        with self._lock:
            return {f.name: getattr(self, f.name) for f in fields(self) if not f.name.startswith("_")}
