"""What an earlier process left unjudged of a store that only this one fills, and how far this one has come.

What is stored is offered to the judge by whoever stores it; all that is needed beside that is to find again, after a
restart, what arrived after the bookmark, and to move the bookmark, never beyond what is judged.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from otel_toolselect.errors import StoreError
from otel_toolselect.judge.live import LiveJudge
from otel_toolselect.judge.progress import Progress
from otel_toolselect.store import Cursor, Store, patient

log = logging.getLogger(__name__)
BOOKMARK = "judged"
EVERY_S = 10.0
RECALLED_NS = 3_600 * 10**9
"""How long before the bookmark traces came that late spans may still come of."""
MARGIN_NS = 5 * 10**9
"""The store's clock may be set back a little."""
MOST_WAITING = 5_000


class Recovery:
    """`storing` is held by whoever stores and offers, for both as one. `lookback_s`: where the first start begins."""

    def __init__(
        self,
        store: Store,
        judge: LiveJudge,
        storing: AbstractContextManager[object],
        lookback_s: float,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._judge = judge
        self._storing = storing
        self._lookback_ns = round(lookback_s * 1e9)
        self._clock = clock
        self._ahead: Cursor | None = None
        self._progress: Progress | None = None
        self._kept: Cursor | None = None
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Before the first span is offered. Raises StoreError."""
        self.begin()
        self._thread = threading.Thread(target=self._run, name="toolselect-recovery", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """After the judge has done what it can; the rest is for the next start."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        try:
            self.keep()
        except StoreError:
            log.warning("the store did not answer at the end: some traces will be judged once more")

    def begin(self) -> None:
        found = self._store.bookmark(BOOKMARK)
        begin = Cursor(max(0, self._store.crews.now() - self._lookback_ns)) if found is None else Cursor.parse(found)
        self._ahead, self._progress = begin, Progress(begin)
        if found is None:
            self._store.set_bookmark(BOOKMARK, str(begin))
        cursor = Cursor(max(0, begin.settled_ns - RECALLED_NS))
        while cursor.settled_ns < begin.settled_ns:
            page = self._store.arrivals(cursor)
            self._judge.recall(page.trace_ids)
            if not page.more:
                break
            cursor = page.cursor

    def recover(self) -> bool:
        """The next traces after the bookmark; whether there may be more."""
        if self._ahead is None:
            return False
        if self._judge.snapshot().waiting_traces < MOST_WAITING:
            page = self._store.arrivals(self._ahead)
            self._judge.recover(page.trace_ids)
            self._ahead = page.cursor if page.more else None
        return self._ahead is not None

    def keep(self) -> None:
        """Moves the bookmark as far as everything is judged."""
        if self._progress is None:
            return
        if self._ahead is None:
            now = self._store.crews.now()
            with self._storing:  # whatever was visible by then is offered by now
                at = self._clock()
            self._progress.note(at, Cursor(max(0, now - MARGIN_NS)))
        place = self._progress.reached(self._judge.judged_until())
        if place != self._kept:
            self._store.set_bookmark(BOOKMARK, str(place))
            self._kept = place

    def _run(self) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            try:
                with patient(self._stop, self._judge.counters.count_sent_again):
                    pause = 0.1 if self.recover() else EVERY_S
                    self.keep()
            except StoreError as error:
                log.warning("the bookmark of live judging waits, the store did not answer: %s", type(error).__name__)
                pause = EVERY_S
