"""From the spool to the sink: one thread, many requests per insert, in order, and nothing crossed off too
early.

A failure that may pass is tried again until it does: the spool grows meanwhile. A failure that will not
pass is narrowed down to the request that causes it, and that one goes to the dead letters; the others are
stored.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence

from otel_toolselect.errors import EnvironmentProblem, StoreError, ToolselectError
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.deadletters import DeadLetters
from otel_toolselect.receive.settings import Settings, Sink
from otel_toolselect.receive.spool import Entry, Spool

log = logging.getLogger(__name__)
_FIRST_PAUSE_S = 0.05


class _Away(Exception):
    """The sink did not come back before the receiver had to stop."""


class Drainer:
    """Owns the only thread that calls the sink. `put`, `flush` and `stop` may be called from any thread."""

    def __init__(self, spool: Spool, sink: Sink, dead: DeadLetters, settings: Settings, counters: Counters) -> None:
        self._spool = spool
        self._sink = sink
        self._dead = dead
        self._settings = settings
        self._counters = counters
        self._lock = threading.Condition()
        self._queue: deque[Entry] = deque()
        self._spans = self._bytes = 0  # of what is queued
        self._held = 0  # bytes of queued requests that are in memory
        self._put = self._done = 0  # entries that came in, entries that are settled
        self._settling: list[Entry] = []
        self._hurry = 0  # settle this many without waiting for a fuller batch
        self._stop_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="toolselect-drain", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, entries: list[Entry]) -> None:
        """Durable entries, in order."""
        with self._lock:
            idle = not self._queue
            for entry in entries:
                if entry.request is not None:
                    if self._held + entry.place.size > self._settings.memory_bytes:
                        entry.request = None
                    else:
                        self._held += entry.place.size
                self._spans += entry.records
                self._bytes += entry.place.size
                self._queue.append(entry)
            self._put += len(entries)
            if idle or self._is_due():  # waking the thread for each request would cost more than the request
                self._lock.notify_all()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def oldest_s(self) -> float:
        """How long the oldest request has waited that is acknowledged and not settled; 0 when there is none."""
        with self._lock:
            waiting = self._settling or self._queue
            return time.monotonic() - waiting[0].kept_at if waiting else 0.0

    def flush(self, timeout_s: float) -> bool:
        """Waits until all that was put before is settled; False when time ran out first."""
        with self._lock:
            target = self._put
            self._hurry = max(self._hurry, target)
            self._lock.notify_all()
            return self._lock.wait_for(lambda: self._done >= target, timeout_s)

    def stop(self, timeout_s: float) -> int:
        """Settles what is queued, as long as `timeout_s` allows; the number of entries left for the next
        start.
        """
        with self._lock:
            self._stop_at = time.monotonic() + timeout_s
            self._lock.notify_all()
        if self._thread.is_alive():
            self._thread.join()
        return self._put - self._done

    def _run(self) -> None:
        while entries := self._collect():
            try:
                self._settle(entries)
            except _Away:
                return
            with self._lock:
                self._done += len(entries)
                self._settling = []
                self._lock.notify_all()
                if self._stop_at is not None and time.monotonic() >= self._stop_at:
                    return

    def _collect(self) -> list[Entry]:
        """The next batch: full, or old enough, or wanted now; empty when stopped and all is settled."""
        with self._lock:
            self._lock.wait_for(lambda: self._queue or self._stop_at is not None)
            self._lock.wait_for(self._is_due, self._settings.insert_delay_s)
            entries: list[Entry] = []
            spans = size = 0
            while self._queue and not (entries and self._is_full(spans, size)):
                entry = self._queue.popleft()
                spans += entry.records
                size += entry.place.size
                self._spans -= entry.records
                self._bytes -= entry.place.size
                if entry.request is not None:
                    self._held -= entry.place.size
                entries.append(entry)
            self._settling = entries
            return entries

    def _is_due(self) -> bool:
        if self._stop_at is not None or self._hurry > self._done:
            return True
        return self._is_full(self._spans, self._bytes)

    def _is_full(self, spans: int, size: int) -> bool:
        return spans >= self._settings.insert_spans or size >= self._settings.insert_bytes

    def _settle(self, entries: list[Entry]) -> None:
        """Every one of the entries is in the sink or in the dead letters on return."""
        readable: list[Entry] = []
        spans: list[Span] = []
        logs: list[LogRecord] = []
        for entry in entries:
            try:
                request = entry.request or self._spool.read(entry)
                batch = request.decode(self._settings.max_request_bytes)
            except (ToolselectError, OSError) as error:
                self._bury(entry, f"cannot be read: {_reason(error)}", error)
                continue
            spans += batch.spans
            logs += batch.logs
            readable.append(entry)
        if readable:
            self._insert(readable, spans, logs)

    def _insert(self, entries: list[Entry], spans: Sequence[Span], logs: Sequence[LogRecord]) -> None:
        try:
            self._insert_until_it_works(spans, logs)
        except _Away:
            raise
        except Exception as error:  # noqa: BLE001 - a sink may fail in any way; no way may stop the drain
            log.error("the store refused %d requests for good: %s", len(entries), type(error).__name__)
            if len(entries) == 1:
                self._bury(entries[0], f"the store refused it: {_reason(error)}", error)
                return
            half = len(entries) // 2
            self._settle(entries[:half])
            self._settle(entries[half:])
        else:
            self._counters.add(inserts=1, delivered_spans=len(spans), delivered_logs=len(logs))
            self._spool.cross_off(entries)
            now = time.monotonic()
            for entry in entries:
                self._counters.lag_s.observe(now - entry.kept_at)

    def _insert_until_it_works(self, spans: Sequence[Span], logs: Sequence[LogRecord]) -> None:
        pause = _FIRST_PAUSE_S
        while True:
            try:
                self._sink.insert(spans, logs)
            except Exception as error:
                self._counters.add(insert_failures=1)
                if not may_pass(error):
                    raise
                if pause == _FIRST_PAUSE_S:  # once per outage, not once per attempt
                    log.warning("the store is away, spans stay in the spool: %s", type(error).__name__)
                self._pause(pause)
                pause = min(pause * 2, self._settings.store_backoff_s)
            else:
                if pause > _FIRST_PAUSE_S:
                    log.info("the store is back")
                return

    def _pause(self, seconds: float) -> None:
        """Waits; while stopping only as long as the stop may take, then _Away."""
        with self._lock:
            end = time.monotonic() + seconds
            while (now := time.monotonic()) < end:
                if self._stop_at is not None and now >= self._stop_at:
                    raise _Away
                limit = end if self._stop_at is None else min(end, self._stop_at)
                self._lock.wait(limit - now)
            if self._stop_at is not None and time.monotonic() >= self._stop_at:
                raise _Away

    def _bury(self, entry: Entry, reason: str, error: Exception) -> None:
        """To the dead letters; if even that fails, it stays in the spool for the next start."""
        # the log has the kind of error only: the text of a store's error may quote what was to be stored
        log.error("a request goes to the dead letters: %s", type(error).__name__)
        try:
            request = self._spool.read(entry)
        except OSError:
            return
        if self._dead.keep(request, reason, acknowledged=True):
            self._spool.cross_off([entry])


def may_pass(error: Exception) -> bool:
    """Can the same insert succeed later? An error of unknown kind cannot: waiting for it would block all
    others.
    """
    if isinstance(error, StoreError):
        return error.retryable
    return isinstance(error, EnvironmentProblem | OSError) or (isinstance(error, ToolselectError) and error.retryable)


def _reason(error: Exception) -> str:
    """The error as text, unless it is a foreign one: those may quote content."""
    return str(error) if isinstance(error, ToolselectError) else type(error).__name__
