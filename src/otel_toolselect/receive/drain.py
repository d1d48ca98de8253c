"""From the spool to the sink: one thread, many requests per insert, in order, and nothing crossed off too
early.

A failure that may pass is tried again until it does: the spool grows meanwhile. A failure that will not
pass is narrowed down to the request that causes it, and that one goes to the dead letters; the others are
stored.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.errors import EnvironmentProblem, StoreError, ToolselectError
from otel_toolselect.model.runs import TENANT
from otel_toolselect.model.spans import Batch
from otel_toolselect.receive.backlog import Backlog, Entry
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.deadletters import DeadLetters
from otel_toolselect.receive.settings import Settings, Sink
from otel_toolselect.telemetry import tracing

log = logging.getLogger(__name__)
_FIRST_PAUSE_S = 0.05
_READ_ATTEMPTS = 5
_LAST_S = 0.5  # for the thread to notice that its time is over
_UNBURIED = 1_000  # beyond so many that wait for room among the dead letters, the drain waits with them


class _Away(Exception):
    """The sink did not come back before the receiver had to stop."""


@dataclass(frozen=True, slots=True)
class _Decoded:
    entry: Entry
    batch: Batch

    @property
    def tenant(self) -> str:
        """Whose it is: the receiver stamped it on every resource alike."""
        resources = [x.resource for x in self.batch.spans[:1]] + [x.resource for x in self.batch.logs[:1]]
        return str(resources[0].get(TENANT, "")) if resources else ""


@dataclass(frozen=True, slots=True)
class _Letter:
    """What goes to the dead letters."""

    entry: Entry
    reason: str
    tenant: str = ""


class Drainer:
    """Owns the only thread that calls the sink. The rest may be called from any thread."""

    def __init__(self, backlog: Backlog, sink: Sink, dead: DeadLetters, settings: Settings, counters: Counters) -> None:
        self._backlog = backlog
        self._sink = sink
        self._dead = dead
        self._settings = settings
        self._counters = counters
        self._changed = backlog.changed
        self._hurry = 0  # settle this many without waiting for a fuller batch
        self._stop_at: float | None = None
        self._unburied: list[_Letter] = []
        self._thread = threading.Thread(target=self._run, name="toolselect-drain", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, entries: list[Entry]) -> None:
        """Durable entries, in order."""
        with self._changed:
            idle = not self._backlog.anything_queued
            self._backlog.add(entries)
            if idle or self._is_due():  # waking the thread for each request would cost more than the request
                self._changed.notify_all()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def oldest_s(self) -> float:
        """How long the oldest request has waited that is acknowledged and not settled; 0 when there is none."""
        with self._changed:
            return self._backlog.oldest_s

    def flush(self, timeout_s: float) -> bool:
        """Waits until all that was put before is settled; False when time ran out first."""
        with self._changed:
            target = self._backlog.put
            self._hurry = max(self._hurry, target)
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._settled >= target, timeout_s)

    def stop(self, timeout_s: float) -> int:
        """Settles what is queued, as long as `timeout_s` allows; the number of requests left for the next start.

        A sink that does not return by then is left alone: what it was given counts as left, whatever it does.
        """
        with self._changed:
            self._stop_at = time.monotonic() + timeout_s
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout_s + _LAST_S)
        if self._thread.is_alive():
            log.error("the store did not answer within %g s, it is not waited for any longer", timeout_s)
        with self._changed:
            return self._backlog.waiting + len(self._unburied)

    @property
    def _settled(self) -> int:
        return self._backlog.put - self._backlog.waiting

    def _run(self) -> None:
        try:
            while entries := self._collect():
                self._settle(entries)
                self._backlog.settled()
                self._bury_again()
                if self._is_over():
                    return
        except _Away:
            return

    def _is_over(self) -> bool:
        return self._stop_at is not None and time.monotonic() >= self._stop_at

    def _collect(self) -> list[Entry]:
        """The next batch: full, or old enough, or wanted now; empty when stopped and all is settled."""
        while True:
            with self._changed:
                idle_s = self._settings.store_backoff_s if self._unburied else None
                self._changed.wait_for(lambda: self._backlog.anything_queued or self._stop_at is not None, idle_s)
                if self._backlog.anything_queued:
                    self._changed.wait_for(self._is_due, self._settings.insert_delay_s)
            entries = self._take()
            if entries or (self._stop_at is not None and not self._backlog.anything_queued):
                return entries
            self._backlog.settled()  # bytes that were no record
            self._bury_again()

    def _take(self) -> list[Entry]:
        """A batch is bounded in records and in bytes as decoded: in memory, spans are several times their bytes."""
        for attempt in range(_READ_ATTEMPTS):
            try:
                return self._backlog.take(self._settings.insert_spans, self._settings.insert_bytes)
            except Exception as error:  # noqa: BLE001 - one file that cannot be read may not stop the drain
                log.error("the spool cannot be read: %s", getattr(error, "strerror", None) or type(error).__name__)
                self._pause(_jittered(attempt, self._settings.store_backoff_s))
        self._backlog.set_aside()
        return []

    def _is_due(self) -> bool:
        if self._stop_at is not None or self._hurry > self._settled:
            return True
        records, size = self._backlog.queued
        return records >= self._settings.insert_spans or size >= self._settings.insert_bytes

    def _settle(self, entries: Sequence[Entry]) -> None:
        """Every one of the entries is in the sink or in the dead letters (or waits for room there) on return."""
        readable: list[_Decoded] = []
        for entry in entries:
            try:
                readable.append(_Decoded(entry, entry.read().decode(self._settings.max_request_bytes)))
                entry.request = None  # its spans are enough in memory; it is on disk, should it be needed again
            except Exception as error:  # noqa: BLE001 - nor may any request
                self._bury(_Letter(entry, f"cannot be read: {_reason(error)}"), error)
        if readable:
            self._insert(readable)

    def _insert(self, items: list[_Decoded]) -> None:
        """Narrows a refusal down to the requests that cause it."""
        try:
            self._insert_until_it_works(items)
        except _Away:
            raise
        except Exception as error:  # noqa: BLE001 - a sink may fail in any way; no way may stop the drain
            if len(items) == 1:
                self._bury(_Letter(items[0].entry, f"the store refused it: {_reason(error)}", items[0].tenant), error)
                return
            half = len(items) // 2
            self._insert(items[:half])
            self._insert(items[half:])

    def _insert_until_it_works(self, items: list[_Decoded]) -> None:
        """Full jitter: many receivers do not come back to one store in step. The loop is our own and not tenacity's,
        because a stop ends a pause, and because a batch shrinks between attempts by what has become too old.
        """
        attempt = 0
        while items:
            try:
                self._insert_once(items)
            except Exception as error:
                self._counters.add(insert_failures=1)
                if not may_pass(error):
                    raise
                if attempt == 0:  # once per outage, not once per attempt
                    log.warning("the store is away, spans stay in the spool: %s", type(error).__name__)
                self._pause(_jittered(attempt, self._settings.store_backoff_s))
                attempt += 1
                items = self._without_old(items, error)
            else:
                if attempt:
                    log.info("the store is back")
                self._delivered(items)
                return

    def _insert_once(self, items: Sequence[_Decoded]) -> None:
        spans = [span for item in items for span in item.batch.spans]
        logs = [record for item in items for record in item.batch.logs]
        with tracing.span("insert", spans=len(spans), logs=len(logs)):
            self._sink.insert(spans, logs)

    def _delivered(self, items: Sequence[_Decoded]) -> None:
        spans, logs = sum(len(i.batch.spans) for i in items), sum(len(i.batch.logs) for i in items)
        self._counters.add(inserts=1, delivered_spans=spans, delivered_logs=logs)
        self._backlog.cross_off([item.entry for item in items])
        for item in items:
            self._counters.lag_s.observe(item.entry.age_s)

    def _without_old(self, items: list[_Decoded], error: Exception) -> list[_Decoded]:
        """Those that may still wait for the store; the others go to the dead letters, and stay if they cannot."""
        limit = self._settings.spool_max_age_s
        if not limit:
            return items
        reason = f"the store did not take it for {limit:g} s ([spool] max_age_s); at last: {_reason(error)}"
        kept = []
        for item in items:
            if item.entry.age_s < limit or not self._buried(_Letter(item.entry, reason, item.tenant)):
                kept.append(item)
            else:
                self._counters.add(dead_letters_by_age=1)
        return kept

    def _pause(self, seconds: float) -> None:
        """Waits; while stopping only as long as the stop may take, then _Away."""
        with self._changed:
            end = time.monotonic() + seconds
            while (now := time.monotonic()) < end and not self._is_over():
                limit = end if self._stop_at is None else min(end, self._stop_at)
                self._changed.wait(limit - now)
            if self._is_over():
                raise _Away

    def _bury(self, letter: _Letter, error: Exception) -> None:
        """To the dead letters; if they have no room it stays in the spool, and is tried again."""
        # the log has the kind of error only: the text of a store's error may quote what was to be stored
        log.error("a request goes to the dead letters: %s", type(error).__name__)
        if self._buried(letter):
            return
        if not self._unburied:
            log.error("the dead letters cannot be written, what belongs there stays in the spool until they can")
        letter.entry.request = None
        self._unburied.append(letter)
        attempt = 0
        while len(self._unburied) > _UNBURIED:
            self._pause(_jittered(attempt, self._settings.store_backoff_s))
            attempt += 1
            self._bury_again()

    def _bury_again(self) -> None:
        while self._unburied and self._buried(self._unburied[0]):
            del self._unburied[0]

    def _buried(self, letter: _Letter) -> bool:
        try:
            request = letter.entry.read()
        except OSError:
            return False
        if not self._dead.keep(request, letter.reason, acknowledged=True, tenant=letter.tenant):
            return False
        self._backlog.cross_off([letter.entry])
        return True


def may_pass(error: Exception) -> bool:
    """Can the same insert succeed later? An error of unknown kind cannot: waiting for it would block all
    others.
    """
    if isinstance(error, StoreError):
        return error.retryable
    return isinstance(error, EnvironmentProblem | OSError) or (isinstance(error, ToolselectError) and error.retryable)


def _jittered(attempt: int, longest_s: float) -> float:
    """Seconds to wait after so many attempts: anything up to a limit that doubles."""
    return random.uniform(0.0, min(longest_s, _FIRST_PAUSE_S * 2 ** min(attempt, 16)))  # noqa: S311 - no secret


def _reason(error: Exception) -> str:
    """The error as text, unless it is a foreign one: those may quote content."""
    return str(error) if isinstance(error, ToolselectError) else type(error).__name__
