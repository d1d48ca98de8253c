"""The spool: requests are on disk, synced, before they are acknowledged (design section 10, "acknowledged
means kept").

One writer thread takes all requests that wait and syncs once for all of them (group commit). What the sink
has taken is crossed off; a segment whose records are all crossed off is deleted. At the start, records of
an earlier process are given out again: the sink takes identical spans twice without harm.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from otel_toolselect.errors import EnvironmentProblem, OverloadError
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.deadletters import DeadLetters
from otel_toolselect.receive.records import MAGIC, Place, Request, request_of, scan
from otel_toolselect.receive.segments import Segment, SegmentFile
from otel_toolselect.receive.status import BrokenSpoolError

log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class Entry:
    """A request that is durable. `records`: spans and log records in it, 0 when not known (after a restart).
    `request`: as long as memory allows, else it is read back. `kept_at`: when it was durable, by time.monotonic.
    """

    number: int
    segment: Segment
    place: Place
    kept_at: float
    records: int = 0
    request: Request | None = None


@dataclass(slots=True, eq=False)
class Pending:
    """A request on its way to the disk, and whom to tell."""

    request: Request
    records: int
    token: object = None


Told = Callable[[Sequence[Pending], Exception | None], None]


class Spool:
    """One process per folder. `submit` and `cross_off` may be called from any thread."""

    def __init__(
        self, folder: Path, *, limit: int, segment_bytes: int, retry_after_s: float, counters: Counters
    ) -> None:
        self._folder = folder
        self._limit = limit
        self._segment_bytes = segment_bytes
        self._retry_after_s = retry_after_s
        self._counters = counters
        self._lock = threading.Condition()
        self._pending: list[Pending] = []
        self._bytes = 0  # waiting to be written, or written and not crossed off
        self._turned_away = 0  # size of the last request that had no room, until there is room for it
        self._unwritten = 0  # bytes that the disk did not take, until it takes as many
        self._next_number = 0
        self._next_segment = 0
        self._closing = False
        self._file: SegmentFile | None = None
        self._writer = threading.Thread(target=self._write_loop, name="toolselect-spool", daemon=True)
        self._told: Told = lambda pending, error: None
        self._durable: Callable[[list[Entry]], None] = lambda entries: None
        self._guard = _lock_folder(folder)

    def start(self, *, durable: Callable[[list[Entry]], None], told: Told) -> None:
        """Starts the writer. `durable` gets entries in order, before `told` says so to the senders."""
        self._durable, self._told = durable, told
        self._writer.start()

    def recover(self, dead: DeadLetters) -> list[Entry]:
        """Records that an earlier process left, in order; call before `start`.

        Torn ends go to the dead letters.
        """
        entries: list[Entry] = []
        for path in sorted(self._folder.glob("[0-9]*.seg")):
            self._next_segment = max(self._next_segment, int(path.stem) + 1)
            data = path.read_bytes()
            segment = Segment(path, len(data), sealed=True)
            places = list(scan(data))
            end = places[-1].offset + places[-1].size if places else min(len(MAGIC), len(data))
            if end < len(data):
                self._report_torn(path, data, end, dead)
            segment.waiting = len(places)
            kept_at = time.monotonic() - max(
                0.0, time.time() - path.stat().st_mtime
            )  # of the last; no record has its own
            for place in places:
                entries.append(Entry(self._next_number, segment, place, kept_at))
                self._next_number += 1
                self._bytes += place.size
            if not places and path.stat().st_size == end:
                _remove(path)
        self._counters.add(replayed=len(entries))
        return entries

    def _report_torn(self, path: Path, data: bytes, end: int, dead: DeadLetters) -> None:
        """A record that was never acknowledged, unless the disk lost something: so it is kept to look at."""
        size = len(data) - end
        self._counters.add(torn_bytes=size)
        log.warning("spool segment %s: %d bytes at its end are no whole record", path.name, size)
        about = {"reason": "end of a spool segment that is no whole record", "segment": path.name}
        if dead.keep_bytes(data[end:], ".torn", about, acknowledged=True):
            os.truncate(path, end)  # reported once

    def submit(self, pending: Pending) -> None:
        """Queues a request; `told` hears of it. Raises OverloadError when the spool is full."""
        size = len(pending.request.body)
        with self._lock:
            if self._closing:
                raise EnvironmentProblem("the receiver is stopping")
            if self._bytes + size > self._limit:
                self._turned_away = size
                raise OverloadError(
                    f"the spool holds {self._bytes} of {self._limit} bytes that the store has not taken yet",
                    retry_after_s=self._retry_after_s,
                )
            self._bytes += size
            self._pending.append(pending)
            self._lock.notify_all()

    @property
    def waiting_bytes(self) -> int:
        return self._bytes

    @property
    def full(self) -> bool:
        """A request was turned away, and there is no room for its like yet."""
        return self._turned_away > 0

    @property
    def broken(self) -> bool:
        """The disk did not take what was written last."""
        return self._unwritten > 0

    @property
    def alive(self) -> bool:
        return self._writer.is_alive()

    def try_disk(self) -> None:
        """Ends `broken` when the disk takes and syncs as many bytes as it did not take before. Raises nothing."""
        probe = self._folder / "probe"
        size = min(self._unwritten, self._segment_bytes)
        try:
            with probe.open("wb") as file:
                file.write(bytes(size))
                file.flush()
                os.fsync(file.fileno())
            self._unwritten = 0
        except OSError:
            return
        finally:
            with contextlib.suppress(OSError):
                probe.unlink(missing_ok=True)

    def read(self, entry: Entry) -> Request:
        """The request of an entry, from its segment."""
        with entry.segment.path.open("rb") as file:
            file.seek(entry.place.offset)
            return request_of(entry.place.kind, file.read(entry.place.size))

    def cross_off(self, entries: Sequence[Entry]) -> None:
        """The sink (or the dead-letter folder) has them for good."""
        with self._lock:
            self._free(sum(entry.place.size for entry in entries))
            for entry in entries:
                entry.segment.waiting -= 1
                if entry.segment.sealed and not entry.segment.waiting:
                    _remove(entry.segment.path)

    def _free(self, size: int) -> None:
        self._bytes -= size
        if self._bytes + min(self._turned_away, self._limit) <= self._limit:
            self._turned_away = 0

    def finish_writing(self) -> None:
        """Takes no more requests, writes what is queued, ends the writer."""
        with self._lock:
            self._closing = True
            self._lock.notify_all()
        if self._writer.is_alive():
            self._writer.join()

    def close(self) -> None:
        """Removes the last segment if it is all crossed off, and leaves the folder to another process."""
        self.finish_writing()
        self._seal()
        if self._guard >= 0:
            os.close(self._guard)
            self._guard = -1

    def _seal(self) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()
                if not self._file.segment.waiting:
                    _remove(self._file.segment.path)
                self._file = None

    def _write_loop(self) -> None:
        while True:
            with self._lock:
                while not self._pending and not self._closing:
                    self._lock.wait()
                pending, self._pending = self._pending, []
            if not pending:
                return
            try:
                entries = self._write(pending)
            except Exception as error:  # noqa: BLE001 - senders are answered whatever it is
                self._refuse(pending, error)
            else:
                self._unwritten = 0
                self._durable(entries)
                self._told(pending, None)

    def _write(self, pending: list[Pending]) -> list[Entry]:
        if self._file is None:
            self._next_segment += 1  # first: a file that could not be made keeps its name
            self._file = SegmentFile(self._folder, self._next_segment - 1)
        segment = self._file.segment
        try:
            offsets = self._file.append([p.request for p in pending])
        except OSError:
            self._seal()
            raise
        entries = []
        kept_at = time.monotonic()
        with self._lock:
            segment.waiting += len(pending)
        for item, offset in zip(pending, offsets, strict=True):
            place = Place(item.request.kind, offset, len(item.request.body))
            entries.append(Entry(self._next_number, segment, place, kept_at, item.records, item.request))
            self._next_number += 1
        if segment.size >= self._segment_bytes:
            self._seal()
        return entries

    def _refuse(self, pending: list[Pending], error: Exception) -> None:
        reason = getattr(error, "strerror", None) or type(error).__name__
        log.error("the spool cannot be written: %s", reason)
        size = sum(len(p.request.body) for p in pending)
        with self._lock:
            self._free(size)
        self._unwritten = size
        message = f"the spool cannot be written: {str(reason).lower()}"
        self._told(pending, BrokenSpoolError(message, retry_after_s=self._retry_after_s))


def _remove(path: Path) -> None:
    """A segment that cannot be removed is drained once more at the next start: no harm, no reason to stop."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("spool segment %s cannot be removed: %s", path.name, error.strerror)


def _lock_folder(folder: Path) -> int:
    """Holds the folder for this process; the lock goes with the process, however it ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise EnvironmentProblem(f"the spool folder {folder} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise EnvironmentProblem(f"the spool folder {folder} is in use by another receiver") from None
    return handle
