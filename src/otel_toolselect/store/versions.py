"""Versions of replacing rows: of two rows of one key the one with the higher version stands."""

from __future__ import annotations

import threading
import time

from otel_toolselect.store import queries
from otel_toolselect.store.session import Session

_JUDGED = ("runs", "verdicts", "judgements")


class Versions:
    """The time in nanoseconds, but always above what the table holds: a clock that was set back would otherwise let an
    old row win over a new one. Safe for threads.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._last: dict[str, int] = {}
        self._lock = threading.Lock()

    def next(self, table: str) -> int:
        with self._lock:
            self._last[table] = max(self._newest(table) + 1, time.time_ns())
            return self._last[table]

    def mark(self) -> int:
        """A version for all tables of what is judged, by the store's clock, which several writers share."""
        now = int(self._session.select(queries.NOW)["Now"][0])
        with self._lock:
            mark = max(now, *(self._newest(table) + 1 for table in _JUDGED))
            self._last |= dict.fromkeys(_JUDGED, mark)
            return mark

    def _newest(self, table: str) -> int:
        if table not in self._last:
            found = self._session.select(queries.newest_version(table)).get("Version", [])
            self._last[table] = found[0] if found else 0
        return self._last[table]
