"""Judging what arrives in a store from outside (issue F point 8): whoever fills it, a receiver on another machine or a
Collector, whose tables are only read. It polls for traces that got rows, and hands those of its share to a live judge.

It resumes where the bookmark of its crew stands, which is never beyond what is judged: killed at any moment it loses
nothing, and what it judges twice replaces itself.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from otel_toolselect.errors import StoreError
from otel_toolselect.judge.crew import Crew
from otel_toolselect.judge.live import LiveJudge
from otel_toolselect.judge.progress import Progress
from otel_toolselect.judge.shares import View
from otel_toolselect.store import Cursor, Store, patient

log = logging.getLogger(__name__)
MOST_WAITING = 5_000
"""Traces that wait to be judged before no more are asked for: a backlog stays in the store."""


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Seconds between looks at the store, and between reports to the crew; the latter much less than its lease."""

    poll: float = 1.0
    beat: float = 3.0


@dataclass(slots=True)
class FollowCounters:
    """`told`: traces that the store told of; `shared`: those of this worker's share. `behind`: it has more to tell."""

    told: int = 0
    shared: int = 0
    taken_over: int = 0
    failures: int = 0
    workers: int = 0
    behind: bool = True


class Follower:
    """`begin`: where a crew begins that has no bookmark. Call `step` in turn, or `start` a thread that does. The judge
    has the same clock, and the same crew.
    """

    def __init__(
        self,
        source: Store,
        judge: LiveJudge,
        crew: Crew,
        begin: Cursor,
        rhythm: Rhythm | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._judge = judge
        self._crew = crew
        self._begin = begin
        self._rhythm = rhythm or Rhythm()
        self._clock = clock
        self._place = begin
        self._progress = Progress(begin)
        self._takeovers: list[tuple[Cursor, View]] = []
        self._next_beat = float("-inf")
        self._next_look = float("-inf")
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.counters = FollowCounters()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="toolselect-follow", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends both threads after what is under way; what waits is for the others, or the next start. Then gives the
        share back, as far as the store answers.
        """
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        self._judge.stop()
        try:
            if self._crew.held:
                self._beat()
                self._crew.leave()
        except StoreError:
            log.warning("the store did not answer at the end: the others take over in a while")

    def step(self) -> bool:
        """Report when it is time, and take up what arrived; whether there is more at once. Raises StoreError."""
        if self._clock() >= self._next_beat:
            self._beat()
        if not self._crew.acts or self._judge.snapshot().waiting_traces >= MOST_WAITING:
            return False
        if self._takeovers:
            return self._take_over()
        return self._clock() >= self._next_look and self._take_up()

    def _run(self) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            try:
                with patient(self._stop, self._judge.counters.count_sent_again):
                    pause = 0.0 if self.step() else min(self._rhythm.poll, self._rhythm.beat)
            except StoreError as error:
                self.counters.failures += 1
                log.warning("following waits, the store did not answer: %s", type(error).__name__)
                pause = self._rhythm.beat

    def _beat(self) -> None:
        self._next_beat = self._clock() + self._rhythm.beat
        kept, old = self._crew.held, self._crew.view
        changed = self._crew.beat(self._progress.reached(self._judge.judged_until()))
        self.counters.workers = len(self._crew.view.names)
        if changed:
            self._reshare(old if kept else View())

    def _reshare(self, old: View) -> None:
        """Everything before the bookmark is judged by somebody; what came after it and was another's is to do."""
        bookmark = self._crew.bookmark()
        if bookmark is None:
            bookmark = self._begin
            self._crew.begin_at(bookmark)
        if self._crew.name in old.names:
            self._takeovers.append((bookmark, old))
        else:
            self._takeovers.clear()
            self._place = bookmark
        self._progress.restart(bookmark)
        self.counters.behind = True

    def _take_over(self) -> bool:
        cursor, old = self._takeovers[0]
        page = self._source.arrivals(cursor)
        taken = [t for t in page.trace_ids if self._crew.owns(t) and old.owner(t) != self._crew.name]
        self._judge.due(taken)
        self.counters.taken_over += len(taken)
        self._takeovers[:1] = [(page.cursor, old)] if page.more else []
        return True

    def _take_up(self) -> bool:
        page = self._source.arrivals(self._place)
        mine = list(filter(self._crew.owns, page.trace_ids))
        self._judge.due(mine)
        self._place = page.cursor
        self._progress.note(self._clock(), page.cursor)
        if not page.more:
            self._next_look = self._clock() + max(self._rhythm.poll, page.width_s)
        self.counters.told += len(page.trace_ids)
        self.counters.shared += len(mine)
        self.counters.behind = page.more
        return page.more
