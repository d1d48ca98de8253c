"""The spool: requests are on disk, synced, before they are acknowledged (design section 10, "acknowledged
means kept").

One writer thread takes all requests that wait and syncs once for all of them (group commit). What the sink
has taken is crossed off; a segment whose records are all crossed off is deleted (see `backlog`). At the start, records
of an earlier process are given out again: the sink takes identical spans twice without harm.
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

from otel_toolselect.errors import EnvironmentProblem, OverloadError, TooLargeError
from otel_toolselect.receive.backlog import Backlog, Entry, Report, examine
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.deadletters import make_folder
from otel_toolselect.receive.records import FRAME_BYTES, Compression, Packer, Request
from otel_toolselect.receive.segments import Segment, SegmentFile, open_segment
from otel_toolselect.receive.status import BrokenSpoolError

log = logging.getLogger(__name__)
_SEGMENTS_AT_LEAST = 8  # a segment is deleted as a whole: in fewer, what is settled would fill the spool


@dataclass(slots=True, eq=False)
class Pending:
    """A request on its way to the disk, and whom to tell."""

    request: Request
    records: int
    token: object = None


Told = Callable[[Sequence[Pending], Exception | None], None]


class Spool:
    """One process per folder. `submit` may be called from any thread.

    `limit`: bytes of requests in the segment files and on their way there. A segment counts until it is deleted, which
    is when the last of its requests is settled.
    """

    def __init__(
        self,
        folder: Path,
        backlog: Backlog,
        *,
        limit: int,
        segment_bytes: int,
        retry_after_s: float,
        counters: Counters,
        compression: Compression = "none",
    ) -> None:
        self._folder = folder
        self._backlog = backlog
        self._limit = limit
        self._segment_bytes = min(segment_bytes, limit // _SEGMENTS_AT_LEAST)
        self._group_bytes = segment_bytes
        self._retry_after_s = retry_after_s
        self._counters = counters
        self._packer = Packer(compression)
        self._lock = threading.Condition()
        self._pending: list[Pending] = []
        self._pending_bytes = 0  # of those, and of the group that is being written
        self._turned_away = 0  # size of the last request that had no room
        self._unwritten = 0  # bytes that the disk did not take, until it takes as many
        self._next_segment = 0
        self._closing = False
        self._file: SegmentFile | None = None
        self._writer = threading.Thread(target=self._write_loop, name="toolselect-spool", daemon=True)
        self._told: Told = lambda pending, error: None
        self._durable: Callable[[list[Entry]], None] = backlog.add
        self._guard = _lock_folder(folder)

    def start(self, *, durable: Callable[[list[Entry]], None], told: Told) -> None:
        """Starts the writer. `durable` gets entries in order, before `told` says so to the senders."""
        self._durable, self._told = durable, told
        self._writer.start()

    def recover(self, report: Report) -> int:
        """Gives the backlog what an earlier process left; how many requests that is. Call before `start`.

        Reads all of it once, in pieces; `report` hears of damaged stretches. Raises EnvironmentProblem.
        """
        segments: list[Segment] = []
        for path in sorted(self._folder.glob("[0-9]*.seg")):
            self._next_segment = max(self._next_segment, int(path.stem) + 1)
            try:
                segment = open_segment(path)
                if segment is None:
                    path.unlink()
                    continue
                examine(segment, report)
            except OSError as error:
                raise EnvironmentProblem(
                    f"the spool segment {path} cannot be read: {error.strerror}; put it right, or move it elsewhere "
                    "to start without the requests in it"
                ) from error
            segments.append(segment)
        self._backlog.restore(segments)
        found = sum(segment.unread for segment in segments)
        self._counters.add(replayed=found)
        return found

    def submit(self, pending: Pending) -> None:
        """Queues a request; `told` hears of it.

        Raises OverloadError when the spool is full, TooLargeError for a request that it could never hold.
        """
        size = len(pending.request.body)
        if size > self._limit:
            raise TooLargeError(f"a request of {size} bytes does not fit into the spool of {self._limit}")
        with self._lock:
            if self._closing:
                raise EnvironmentProblem("the receiver is stopping")
            if not self._has_room(size):
                self._turned_away = size
                raise OverloadError(
                    f"the spool holds {self._bytes} of {self._limit} bytes that the store has not taken yet",
                    retry_after_s=self._retry_after_s,
                )
            self._pending_bytes += size
            self._pending.append(pending)
            self._lock.notify_all()

    @property
    def _bytes(self) -> int:
        return self._pending_bytes + self._backlog.kept_bytes

    def _has_room(self, size: int) -> bool:
        return self._bytes + size <= self._limit

    @property
    def waiting_bytes(self) -> int:
        """Of requests that were taken and are not settled."""
        with self._backlog.changed:
            return self._pending_bytes + self._backlog.waiting_bytes

    @property
    def full(self) -> bool:
        """A request was turned away, and there is no room for its like yet."""
        if self._turned_away and self._has_room(self._turned_away):
            self._turned_away = 0
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
            with open(probe, "wb", opener=_private) as file:  # Path.open has no opener
                file.write(bytes(size))
                file.flush()
                os.fsync(file.fileno())
            self._unwritten = 0
        except OSError:
            return
        finally:
            with contextlib.suppress(OSError):
                probe.unlink(missing_ok=True)

    def finish_writing(self, timeout_s: float | None = None) -> None:
        """Takes no more requests, writes what is queued, ends the writer; a disk that hangs gets `timeout_s`."""
        with self._lock:
            self._closing = True
            self._lock.notify_all()
        if self._writer.is_alive():
            self._writer.join(timeout_s)

    def close(self) -> None:
        """Removes the last segment if it is all crossed off, and leaves the folder to another process."""
        self.finish_writing(0.0)
        if not self._writer.is_alive():
            self._seal()
        self._backlog.close()
        if self._guard >= 0:
            os.close(self._guard)
            self._guard = -1

    def _seal(self) -> None:
        if self._file is not None:
            self._file.close()
            self._backlog.seal(self._file.segment)
            self._file = None

    def _write_loop(self) -> None:
        while group := self._next_group():
            size = sum(len(p.request.body) for p in group)
            try:
                entries = self._write(group)
            except Exception as error:  # noqa: BLE001 - senders are answered whatever it is
                self._refuse(group, size, error)
            else:
                self._unwritten = 0
                self._durable(entries)
                if self._file is not None and self._file.size >= self._segment_bytes:
                    self._seal()
                with self._lock:
                    self._pending_bytes -= size
                self._told(group, None)

    def _next_group(self) -> list[Pending]:
        """What is to be synced together; bounded, so that a disk that was slow does not make one huge segment."""
        with self._lock:
            while not self._pending and not self._closing:
                self._lock.wait()
            n = size = 0
            while n < len(self._pending) and size < self._group_bytes:
                size += len(self._pending[n].request.body)
                n += 1
            group, self._pending = self._pending[:n], self._pending[n:]
            return group

    def _write(self, group: list[Pending]) -> list[Entry]:
        if self._file is None:
            self._next_segment += 1  # first: a file that could not be made keeps its name
            self._file = SegmentFile(self._folder, self._next_segment - 1)
        file, now = self._file, time.time_ns()
        packed = [self._packer.pack(p.request, p.records, now) for p in group]
        try:
            offsets = file.append(packed)
        except OSError:
            self._seal()
            raise
        entries = [
            Entry(file.segment, offset, offset + FRAME_BYTES + frame.size, frame, item.request)
            for item, offset, (frame, _) in zip(group, offsets, packed, strict=True)
        ]
        return entries

    def _refuse(self, group: list[Pending], size: int, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or type(error).__name__
        if not self._unwritten:  # once per outage
            log.error("the spool cannot be written: %s", reason)
        with self._lock:
            self._pending_bytes -= size
        self._unwritten = size
        message = f"the spool cannot be written: {str(reason).lower()}"
        self._told(group, BrokenSpoolError(message, retry_after_s=self._retry_after_s))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _lock_folder(folder: Path) -> int:
    """Holds the folder for this process; the lock goes with the process, however it ends."""
    try:
        make_folder(folder)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise EnvironmentProblem(f"the spool folder {folder} cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise EnvironmentProblem(f"the spool folder {folder} is in use by another receiver") from None
    return handle
