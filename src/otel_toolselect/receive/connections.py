"""The connections of one port: so many and no more, and the one that has waited longest makes room."""

from __future__ import annotations

from typing import Protocol

from otel_toolselect.receive.counters import Counters


class Connection(Protocol):
    def abort(self) -> None:
        """Ends it at once; it is forgotten already."""


class Connections:
    """On one event loop only. A connection is idle while no request of it is under way."""

    def __init__(self, most: int, counters: Counters) -> None:
        self._most = most
        self._counters = counters
        self._busy: set[Connection] = set()
        self._idle: dict[Connection, None] = {}  # longest waiting first

    def __len__(self) -> int:
        return len(self._busy) + len(self._idle)

    def enter(self, connection: Connection) -> None:
        """A new one, idle. Beyond the number the longest waiting is cut: at worst it is the new one itself."""
        if connection in self._idle:
            return
        self._idle[connection] = None
        if len(self) > self._most:
            longest = next(iter(self._idle))
            self.cut(longest, "too_busy")

    def replace(self, old: Connection, new: Connection) -> bool:
        """`new` takes the place of `old`, which was idle; False when that has none any more."""
        if old not in self._idle:
            return False
        del self._idle[old]
        self._idle[new] = None
        return True

    def busy(self, connection: Connection) -> None:
        if connection in self._idle:
            del self._idle[connection]
            self._busy.add(connection)

    def idle(self, connection: Connection) -> None:
        if connection in self._busy:
            self._busy.remove(connection)
            self._idle[connection] = None

    def leave(self, connection: Connection) -> bool:
        """Forgets one; False when it was not known any more."""
        known = connection in self._busy or connection in self._idle
        self._busy.discard(connection)
        self._idle.pop(connection, None)
        return known

    def cut(self, connection: Connection, reason: str) -> None:
        """Ends one without an answer; `reason` is one of `counters.REFUSALS`."""
        self.leave(connection)
        self.count(reason)
        connection.abort()

    def end(self) -> None:
        """Those that are left, at the end of the server."""
        for connection in [*self._idle, *self._busy]:
            self.leave(connection)
            connection.abort()

    def count(self, reason: str) -> None:
        """One refusal that no request is behind."""
        self._counters.refuse(reason)
