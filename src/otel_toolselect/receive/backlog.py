"""What is durable and not in the store yet, in order: its beginning in memory as far as that may grow, the rest in
the segment files only, which are read again, in pieces, when the drain gets there.

Memory depends neither on how much waits nor on how many requests that is.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from otel_toolselect.receive.records import Frame, Request, request_of
from otel_toolselect.receive.segments import Damage, Found, Segment, scan

log = logging.getLogger(__name__)
_ENTRY_BYTES = 600  # of Python objects around a request in memory
_SECOND_NS = 1_000_000_000

Report = Callable[[Segment, Damage], bool]
"""Keeps damaged bytes for somebody to look at; whether that worked."""


@dataclass(slots=True, eq=False)
class Entry:
    """A request that is durable: where it lies, and itself, unless memory had no room for it."""

    segment: Segment
    offset: int
    end: int
    frame: Frame
    request: Request | None = None

    @property
    def age_s(self) -> float:
        """Since it was accepted; never negative, whatever the clock did meanwhile."""
        return max(0.0, (time.time_ns() - self.frame.since_ns) / _SECOND_NS)

    def read(self) -> Request:
        """The request from memory or from its segment. Raises OSError."""
        if self.request is not None:
            return self.request
        for found in scan(self.segment, self.offset, self.end):
            if isinstance(found, Found):
                return request_of(found.frame, found.stored)
        raise OSError(f"a record of spool segment {self.segment.path.name} is not whole any more")


class Backlog:
    """Any thread may call. `changed` is its lock: notified when something is settled."""

    def __init__(self, memory: int, report: Report) -> None:
        self.changed = threading.Condition()
        self._memory = memory
        self._report = report
        self._segments: list[Segment] = []
        self._queue: deque[Entry] = deque()  # in memory; all that is unread lies behind it
        self._held = self._queued_bytes = self._queued_records = 0
        self._in_hand: Sequence[Entry] = ()
        self._put = self._kept_bytes = 0
        self._behind = False  # something is unread
        self._closed = False

    def restore(self, segments: Sequence[Segment]) -> None:
        """Segments of an earlier process, in order, with `unread_*` filled in."""
        with self.changed:
            self._segments += segments
            self._put += sum(s.unread for s in segments)
            self._kept_bytes += sum(s.bodies for s in segments)
            self._behind = self._unread() is not None
            self._sweep()

    def add(self, entries: Sequence[Entry]) -> None:
        """Durable entries, in order."""
        with self.changed:
            for entry in entries:
                segment, frame = entry.segment, entry.frame
                if not self._segments or self._segments[-1] is not segment:
                    self._segments.append(segment)
                segment.size = entry.end
                segment.bodies += frame.size
                self._kept_bytes += frame.size
                cost = frame.raw + _ENTRY_BYTES
                if not self._behind and self._held + cost <= self._memory:
                    self._queue.append(entry)
                    self._held += cost
                    self._queued_bytes += frame.size
                    self._queued_records += frame.records
                    segment.known = entry.end
                    segment.waiting += 1
                else:
                    self._behind = True
                    _count_unread(segment, frame)
            self._put += len(entries)

    def seal(self, segment: Segment) -> None:
        """Nothing is added to the segment any more."""
        with self.changed:
            segment.sealed = True
            if segment not in self._segments:  # nothing was ever written to it
                self._segments.append(segment)
            self._sweep()

    def take(self, records: int, size: int) -> list[Entry]:
        """The next entries with their requests, no more than that many records and bytes, but one at least; empty
        when nothing waits. They are in hand until `settled`.

        For the drain only. Raises OSError when a segment cannot be read and nothing else could be had before it.
        """
        room = _Room(records, size)
        entries: list[Entry] = []
        with self.changed:
            self._in_hand = entries  # from now on, so that a request counts as waiting at every moment
        while not room.full:
            with self.changed:
                if self._queue:
                    if not room.takes(self._queue[0].frame):
                        break
                    entries.append(self._pop())
                    continue
                segment = self._unread()
                if segment is None:
                    break
                start, end = segment.known, segment.size
            try:
                self._read(segment, start, end, room, entries)
            except OSError:
                if not entries:
                    raise
                break
        return entries

    def _pop(self) -> Entry:
        entry = self._queue.popleft()
        self._held -= entry.frame.raw + _ENTRY_BYTES
        self._queued_bytes -= entry.frame.size
        self._queued_records -= entry.frame.records
        return entry

    def _read(self, segment: Segment, start: int, end: int, room: _Room, entries: list[Entry]) -> None:
        """Adds what there is room for; after an OSError as much as could be read."""
        found: list[Entry] = []
        at = start
        try:
            for item in scan(segment, start, end):
                if isinstance(item, Damage):
                    segment.kept |= not self._report(segment, item)
                elif room.takes(item.frame):
                    request = request_of(item.frame, item.stored)
                    found.append(Entry(segment, item.offset, item.end, item.frame, request))
                else:
                    break
                at = item.end
            else:
                at = end
        finally:
            with self.changed:
                self._hand_out(segment, at, found)
                entries += found

    def _hand_out(self, segment: Segment, at: int, entries: Sequence[Entry]) -> None:
        segment.known = at
        segment.waiting += len(entries)
        segment.unread -= len(entries)
        segment.unread_bytes -= sum(e.frame.size for e in entries)
        segment.unread_records -= sum(e.frame.records for e in entries)
        if entries:
            segment.unread_since_ns = entries[-1].frame.since_ns
        if at >= segment.size:  # what was damaged since it was counted never comes
            segment.unread = segment.unread_bytes = segment.unread_records = segment.unread_since_ns = 0
            self._behind = self._unread() is not None
            self._sweep()

    def set_aside(self) -> None:
        """Goes on behind the segment that cannot be read; it stays for the next start."""
        with self.changed:
            segment = self._unread()
            if segment is not None:
                log.error("spool segment %s cannot be read, it stays for the next start", segment.path.name)
                segment.kept = True
                self._hand_out(segment, segment.size, ())

    def cross_off(self, entries: Sequence[Entry]) -> None:
        """The sink (or the dead-letter folder) has them for good."""
        with self.changed:
            if self._closed:  # another process may have the folder by now
                return
            for entry in entries:
                entry.segment.waiting -= 1
            self._sweep()

    def settled(self) -> None:
        """What was in hand is dealt with."""
        with self.changed:
            self._in_hand = ()
            self.changed.notify_all()

    def close(self) -> None:
        with self.changed:
            self._closed = True

    def _sweep(self) -> None:
        for segment in [s for s in self._segments if s.sealed and not s.kept and not s.waiting and s.known >= s.size]:
            if _remove(segment.path):
                self._segments.remove(segment)
                self._kept_bytes -= segment.bodies

    def _unread(self) -> Segment | None:
        return next((s for s in self._segments if s.known < s.size), None)

    @property
    def kept_bytes(self) -> int:
        """Bytes of all requests in the segments that are there, settled or not. Needs no lock."""
        return self._kept_bytes

    # figures: for these, and for waiting on them, hold `changed`

    @property
    def put(self) -> int:
        """Requests that ever came in."""
        return self._put

    @property
    def waiting(self) -> int:
        """Requests that are not settled."""
        return len(self._in_hand) + len(self._queue) + sum(s.unread for s in self._segments)

    @property
    def waiting_bytes(self) -> int:
        """Their bytes, as stored."""
        in_hand = sum(e.frame.size for e in self._in_hand)
        return in_hand + self._queued_bytes + sum(s.unread_bytes for s in self._segments)

    @property
    def queued(self) -> tuple[int, int]:
        """Records and bytes that can be taken."""
        return (
            self._queued_records + sum(s.unread_records for s in self._segments),
            self._queued_bytes + sum(s.unread_bytes for s in self._segments),
        )

    @property
    def anything_queued(self) -> bool:
        return bool(self._queue) or self._behind

    @property
    def held_bytes(self) -> int:
        """Memory of what is queued."""
        return self._held

    @property
    def oldest_s(self) -> float:
        """How long the oldest request waits that is not settled; 0 when none does."""
        first = next(iter(self._in_hand or self._queue), None)
        since = first.frame.since_ns if first is not None else 0
        if first is None:
            unread = self._unread()
            since = unread.unread_since_ns if unread is not None else 0
        return max(0.0, (time.time_ns() - since) / _SECOND_NS) if since else 0.0


class _Room:
    """What one batch may still take."""

    def __init__(self, records: int, size: int) -> None:
        self._records, self._size = records, size
        self._empty = True

    def takes(self, frame: Frame) -> bool:
        """Whether there was room for the request, which is then used. The first for which there is none ends the batch:
        order is kept.
        """
        if not self._empty and (frame.records > self._records or frame.raw > self._size):
            self._records = 0
            return False
        self._empty = False
        self._records -= frame.records
        self._size -= frame.raw
        return True

    @property
    def full(self) -> bool:
        return self._records <= 0 or self._size <= 0


def _count_unread(segment: Segment, frame: Frame) -> None:
    segment.unread += 1
    segment.unread_records += frame.records
    segment.unread_bytes += frame.size
    segment.unread_since_ns = segment.unread_since_ns or frame.since_ns


def examine(segment: Segment, report: Report) -> None:
    """Reads a segment of an earlier process through once, and fills in what is unread. Raises OSError."""
    for found in scan(segment, segment.known, segment.size):
        if isinstance(found, Damage):
            segment.kept |= not report(segment, found)
        else:
            segment.bodies += found.frame.size
            _count_unread(segment, found.frame)


def _remove(path: Path) -> bool:
    """A segment that cannot be removed is tried again, at the latest at the next start, which drains it once more."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("spool segment %s cannot be removed: %s", path.name, error.strerror)
        return False
    return True
