"""Sends what the store keeps: a reader with a bookmark, on a thread of its own, in nobody's way.

The store is the queue. Judging never waits for it, nothing is dropped for want of room, and what could not be sent is
read again later, after a restart as well. The bookmark moves only after a page was taken, so each decision is sent at
least once; a page that is cut off may be sent twice, with the same keys. What says the same as the event that was sent
last under its key is not sent again: a Collector that hands all it gets to our receiver, too, would otherwise make us
judge and send in a circle.

Of several followers of one store one works: the holder of a lease.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from otel_toolselect.errors import StoreError
from otel_toolselect.export.events import Event, event_of, is_judged, root_of
from otel_toolselect.export.sending import Outcome
from otel_toolselect.store import Cursor, Kept, Store

log = logging.getLogger(__name__)
NAME = "export"
PAGE = 2_000
BATCH = 512
REMEMBERED = 100_000
LEASE_S = 60.0
TICK_S = 2.0
LONGEST_PAUSE_S = 300.0
STOP_S = 15.0


class Sends(Protocol):
    """What a follower asks of `sending.Sender`."""

    def send(self, events: Sequence[Event]) -> Outcome: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class Figures:
    """Since this follower began."""

    sent: int = 0
    repeated: int = 0
    """Judged again with the same outcome, and not sent."""
    refused: int = 0
    """Events that the endpoint will never take."""
    failures: int = 0
    """Attempts that failed; the events are sent later."""


class Follower:
    """Call `turn`, or `start` a thread that does. Where nobody was before it begins `lookback_s` before now."""

    def __init__(
        self,
        store: Store,
        sender: Sends,
        *,
        lookback_s: float = 3_600.0,
        tick_s: float = TICK_S,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._sender = sender
        self._lookback_ns = int(lookback_s * 1e9)
        self._tick = tick_s
        self._clock = clock
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._cursor: Cursor | None = None
        self._held_until = 0.0
        self._told: OrderedDict[str, str] = OrderedDict()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self.figures = Figures()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="export", daemon=True)
        self._thread.start()

    def stop(self, within_s: float = 0.0) -> None:
        """Ends after the batch under way, having sent what is there as long as time allows."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(STOP_S)
            if self._thread.is_alive():
                self._sender.close()  # ends its attempt
                return
        try:
            self.catch_up(within_s)
            self._store.alerts.release(NAME, self._owner)
        except StoreError as error:
            log.warning("what was not exported is left to the next: %s", error)
        self._sender.close()

    def catch_up(self, within_s: float) -> bool:
        """Turns until there is nothing left, as long as time allows. Whether nothing is left. Raises StoreError."""
        end = time.monotonic() + within_s
        while time.monotonic() < end:
            failures = self.figures.failures
            more = self.turn()
            if self.figures.failures > failures:
                return False
            if not more:
                return True
        return False

    def _run(self) -> None:
        pause = self._tick
        while not self._stopping.wait(pause):
            failures = self.figures.failures
            try:
                more = self.turn()
            except StoreError as error:
                more = False
                self.figures.failures += 1
                log.warning("the store did not answer, verdicts are exported later: %s", type(error).__name__)
            except Exception:  # what nobody foresaw must not end the export
                more = False
                self.figures.failures += 1
                log.exception("a page of verdicts could not be exported")
            if self.figures.failures > failures:
                pause = min(max(2 * pause, 1.0), LONGEST_PAUSE_S)
            else:
                pause = 0.0 if more else self._tick

    def turn(self) -> bool:
        """Sends a page; whether there is more. Nothing is lost when it fails: `figures.failures` counts it."""
        if not self._holding():
            self._cursor = None  # whoever holds it moves the bookmark
            return False
        cursor = self._cursor or self._place()
        page = self._store.judged_since(cursor, PAGE)
        if not self._send(self._fresh(page.kept)):
            return False
        if page.cursor.seen != cursor.seen:  # an idle store moves on in time alone, and need not be written to
            self._store.set_bookmark(NAME, str(page.cursor))
        self._cursor = page.cursor
        return page.more

    def _holding(self) -> bool:
        """The lease is asked for again when half of it has passed."""
        begun = time.monotonic()
        if begun < self._held_until - LEASE_S / 2:
            return True
        held = self._store.alerts.claim(NAME, self._owner, LEASE_S)
        self._held_until = begun + LEASE_S if held else 0.0
        return held

    def _place(self) -> Cursor:
        text = self._store.bookmark(NAME)
        if text is not None:
            try:
                return Cursor.parse(text)
            except ValueError:
                log.error("the bookmark of the export cannot be read, it begins anew")
        return Cursor(max(0, self._clock() - self._lookback_ns))

    def _fresh(self, kept: Sequence[Kept]) -> list[Event]:
        """Events that say something new, of each key the last, in the order in which they were kept."""
        judged = [k for k in kept if is_judged(k.decision)]
        spans = self._store.span_ids(sorted({k.decision.trace_id for k in judged}))
        events: dict[str, Event] = {}
        for one in judged:
            event = event_of(one, root_of(one.decision, spans.get(one.decision.trace_id, ())))
            events.pop(event.key, None)
            events[event.key] = event
        fresh = [event for event in events.values() if self._told.get(event.key) != event.content]
        self.figures.repeated += len(judged) - len(fresh)
        return fresh

    def _send(self, events: Sequence[Event]) -> bool:
        return all(self._batch(events[i : i + BATCH]) for i in range(0, len(events), BATCH))

    def _batch(self, events: Sequence[Event]) -> bool:
        """A batch that is refused is halved until it is known which events the endpoint does not take."""
        outcome = self._sender.send(events)
        if outcome == "later":
            self.figures.failures += 1
            if self.figures.failures & (self.figures.failures - 1) == 0:  # the 1st, 2nd, 4th, ...
                log.warning("the endpoint took no verdicts (failure %d), they are sent later", self.figures.failures)
            return False
        if outcome == "refused" and len(events) > 1:
            half = len(events) // 2
            return self._batch(events[:half]) and self._batch(events[half:])
        if outcome == "refused":
            self.figures.refused += 1
            log.error("the endpoint refuses the event of decision %s for good", events[0].key)
        else:
            self.figures.sent += len(events)
        self._remember(events)
        return True

    def _remember(self, events: Sequence[Event]) -> None:
        for event in events:
            self._told[event.key] = event.content
            self._told.move_to_end(event.key)
        while len(self._told) > REMEMBERED:
            self._told.popitem(last=False)
