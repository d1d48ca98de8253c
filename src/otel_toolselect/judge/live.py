"""Live judging: traces that arrive are assembled and judged once they are quiet, and again when something late comes
(design section 3: a late span simply makes its trace due again).

The store is the authority: what is judged is what the store holds of a trace. Fresh spans that a receiver hands over
spare reading them back, and are used only where they are known to be all there is: this process is the only writer, the
trace was not judged before, and no span of it lacks its parent. The outcome is the same without them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from otel_toolselect.assemble import CaseAttributes, assemble
from otel_toolselect.errors import StoreError
from otel_toolselect.judge.crew import Crew
from otel_toolselect.judge.grouping import Group, Grouping
from otel_toolselect.judge.halves import in_halves
from otel_toolselect.judge.live_counters import LiveCounters
from otel_toolselect.judge.panel import Judged, Panel, joined
from otel_toolselect.judge.waiting import Patience, Slot, Waiting
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.store import Store, patient
from otel_toolselect.telemetry import tracing

log = logging.getLogger(__name__)

TRACES_PER_TURN = 2_000
"""What a turn judges is written at its end in one go: few large inserts cost the store a third of many small ones."""
# traces that go through all stages together: what one stage made is in the processor's cache for the next
_AT_ONCE = 64
_TICK_S, _LONGEST_TICK_S = 0.25, 1.0
_AWAY_S, _LONGEST_PAUSE_S = 2.0, 30.0


class LiveJudge:
    """`offer` is called by whoever stored something, from any thread; judging happens on a thread of its own, or in
    `turn` and `settle` for callers that have one.

    `sole_writer`: nobody else writes spans to this store, so that fresh spans can be all there is of a trace. `source`:
    where spans are read from when that is another store. `crew`: others share the judging.
    """

    def __init__(
        self,
        store: Store,
        panel: Callable[[], Panel],
        names: CaseAttributes,
        patience: Patience,
        *,
        sole_writer: bool,
        source: Store | None = None,
        crew: Crew | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._panel = panel
        self._names = names
        self._clock = clock
        self._waiting = Waiting(patience)
        self._crew = crew
        self._grouping = Grouping(store, sole_writer=sole_writer, source=source, crew=crew)
        self._checked: set[str] = set()  # traces of which another worker may have made other runs
        self._lock = threading.Condition()
        self._in_hand = 0  # bytes of the traces that are being judged
        self._in_hand_since = float("inf")
        self._tick_s = min(_LONGEST_TICK_S, max(_TICK_S, patience.settle / 2))
        self._pressed = False  # something was offered since the last turn, and memory is half full
        self._turning = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.counters = LiveCounters()

    # from outside

    def offer(self, spans: Sequence[Span], logs: Sequence[LogRecord]) -> None:
        """Spans and log records that are in the store now."""
        with self._lock:
            self._waiting.offer(spans, logs, self._clock())
            if self._waiting.presses and not self._pressed:
                self._pressed = True
                self._lock.notify_all()

    def wait_for_room(self, within_s: float) -> bool:
        """Waits until memory has room for more, so that a writer keeps step with the judge: what is to come waits in
        the spool, which is cheaper than reading it back. False when time ran out: the oldest are left to the store.
        """
        with self._lock:
            return self._lock.wait_for(self._has_room, within_s)

    def _has_room(self) -> bool:
        """Room for as much again as came last, and half of the memory at least: what comes at once is held whole."""
        memory = self._waiting.patience.memory
        most = max(0, min(memory // 2, memory - self._waiting.offered_bytes))
        return self._stop.is_set() or self._waiting.held_bytes + self._in_hand <= most

    def recover(self, trace_ids: Iterable[str]) -> None:
        """Traces that an earlier process may have left unjudged."""
        listed = list(trace_ids)
        with self._turning:
            self._grouping.recall(listed)
        with self._lock:
            self._waiting.mark(listed, self._clock())

    def due(self, trace_ids: Iterable[str]) -> None:
        """Traces that are in the store, for a judge that always asks it (`sole_writer` False)."""
        with self._lock:
            self._waiting.mark(trace_ids, self._clock())

    def judged_until(self) -> float:
        """The time, by the clock of this judge, before which everything that it was told of is judged and kept."""
        with self._lock:
            oldest = self._waiting.oldest_s
            return min(self._in_hand_since, float("inf") if oldest is None else oldest)

    def recall(self, trace_ids: Iterable[str]) -> None:
        """Traces that an earlier process has judged: what still comes of them is not all there is."""
        with self._turning:
            self._grouping.recall(trace_ids)

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="toolselect-judge", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread after the turn under way; what waits is judged by the next process."""
        with self._lock:
            self._stop.set()
            self._lock.notify_all()
        if self._thread is not None:
            self._thread.join()

    def settle(self, within_s: float = float("inf")) -> int:
        """Judges everything that waits, due or not, as long as time allows; how many traces are left. Raises StoreError
        when the store is away.
        """
        end = self._clock() + within_s
        while self._clock() < end and self._turn(float("inf")):
            pass
        return len(self._waiting)

    def turn(self) -> int:
        """Judges what is due; how many traces that were. Raises StoreError; they are due again then."""
        return self._turn(self._clock())

    def snapshot(self) -> LiveCounters:
        with self._lock:
            oldest = self._waiting.oldest_s
            self.counters.waiting_traces = len(self._waiting)
            self.counters.held_bytes = self._waiting.held_bytes
            self.counters.lag_s = 0.0 if oldest is None else max(0.0, self._clock() - oldest)
        return self.counters

    # the thread

    def _run(self) -> None:
        pause = self._tick_s
        while not self._idle(pause):
            try:
                pause = 0.0 if self.turn() >= TRACES_PER_TURN else self._until_next()
            except StoreError as error:
                self.counters.store_failures += 1
                if pause < _AWAY_S:
                    log.warning("live judging waits, the store did not answer: %s", type(error).__name__)
                pause = min(max(pause * 2, _AWAY_S), _LONGEST_PAUSE_S)
            except Exception:  # whatever it is, it must not end the thread while the receiver goes on
                self.counters.faults += 1
                log.exception("a turn of live judging failed")
                pause = _LONGEST_PAUSE_S

    def _until_next(self) -> float:
        """A tick, so that a turn has many traces; less when the last of a load is due sooner, as no more will join."""
        with self._lock:
            settled = self._waiting.settles_in(self._clock())
        return self._tick_s if settled is None else min(self._tick_s, max(settled, _TICK_S))

    def _idle(self, seconds: float) -> bool:
        """Waits until the next turn, less when memory fills; whether to end. A store that is away is not hurried."""
        with self._lock:
            if seconds <= self._tick_s:
                self._lock.wait_for(lambda: self._pressed or self._stop.is_set(), seconds)
            else:
                self._lock.wait_for(self._stop.is_set, seconds)
            return self._stop.is_set()

    def _turn(self, now_s: float) -> int:
        with self._turning:  # `settle` may be called while the thread is at work
            if self._crew is not None and not self._crew.acts:
                return 0
            taken = self._take(now_s, TRACES_PER_TURN)
            if not taken:
                return 0
            try:
                with patient(self._stop, self.counters.count_sent_again), tracing.span("judge") as add:
                    self._judge_or_set_apart(taken, now_s)
                    add("traces", len(taken))
            finally:
                with self._lock:
                    self._in_hand = 0
                    self._in_hand_since = float("inf")
                    self._lock.notify_all()
            self.counters.traces += len(taken)
            self.counters.read_back = self._grouping.read_back
            return len(taken)

    def _take(self, now_s: float, limit: int) -> list[Slot]:
        with self._lock:
            self._pressed = False
            slots = self._waiting.take_due(now_s, limit)
            self._in_hand += sum(slot.size for slot in slots)
            self._in_hand_since = min([self._in_hand_since, *(slot.first_s for slot in slots)])
        return slots

    def _release(self, slots: Sequence[Slot]) -> None:
        """Spans that are judged make room; should the rest of the turn fail, the store has them."""
        with self._lock:
            for slot in slots:
                self._in_hand -= slot.size
                slot.leave_to_store()
            self._lock.notify_all()

    def _judge_or_set_apart(self, taken: list[Slot], now_s: float) -> None:
        """What fails together is tried again apart, so that a trace that nobody foresaw costs itself alone. `taken`
        grows by what becomes due meanwhile.
        """
        suspects = [slot for slot in taken if slot.suspect]
        try:
            self._judge([slot for slot in taken if not slot.suspect], partial(self._take_more, taken, now_s))
        except StoreError:
            self._put_back(taken)
            raise
        except Exception as error:  # noqa: BLE001 - it may be any mistake of ours
            together = [slot for slot in taken if not slot.suspect]
            self._fault(len(together), error)
            for slot in together:
                slot.suspect = True
            self._put_back(together)
        try:  # one that is given up is in the store, and `eval` will say more
            in_halves(suspects, self._judge, partial(self._fault, 1))
        except StoreError:
            self._put_back(suspects)
            raise

    def _take_more(self, taken: list[Slot], now_s: float) -> list[Slot]:
        """While memory is short, what arrives is due at once: it joins the turn until that is full."""
        more = self._take(now_s, TRACES_PER_TURN - len(taken))
        taken += more
        return more

    def _put_back(self, slots: Sequence[Slot]) -> None:
        for slot in slots:
            slot.held = False  # a part may be written: what stands now is asked of the store the next time
        with self._lock:
            self._waiting.put_back(slots)

    def _fault(self, traces: int, error: Exception) -> None:
        self.counters.faults += 1
        log.error("%d traces cannot be judged: %s", traces, type(error).__name__)

    def _judge(self, slots: Sequence[Slot], more: Callable[[], Sequence[Slot]] = tuple) -> None:
        panel = self._panel()
        work = _Work()
        if self._crew is not None:
            self._judge_share(self._crew, slots, panel, work)
            return
        while slots:
            for at in range(0, len(slots), _AT_ONCE):
                chunk = slots[at : at + _AT_ONCE]
                self._judge_groups(self._grouping.groups(chunk), panel, work)
                self._release(chunk)
            slots = more()
        self._keep(panel, work)

    def _judge_share(self, crew: Crew, slots: Sequence[Slot], panel: Panel, work: _Work) -> None:
        """All of them at once, as they are written under one mark; then a look at what another may have written."""
        view = crew.view
        mine = [slot for slot in slots if crew.owns(slot.trace_id) or slot.trace_id in self._checked]
        groups = self._grouping.groups(mine)
        self._judge_groups(groups, panel, work)
        self._keep(panel, work)
        for group in groups:
            self._checked.difference_update(group.trace_ids)
        if crew.acts and crew.view == view:
            again = self._grouping.outdated(groups)
        else:
            again = [trace_id for group in groups for trace_id in group.trace_ids]
        self.counters.doubtful += len(again)
        self._checked.update(again)
        self.due(again)

    def _judge_groups(self, groups: Sequence[Group], panel: Panel, work: _Work) -> None:
        made: list[tuple[Group, list[Run]]] = []
        for group in groups:
            try:
                made.append((group, assemble(group.observations, self._names)))
            except Exception as error:  # noqa: BLE001 - a fault in one group must not stop the others
                self._fault(len(group.trace_ids), error)
        earlier = {run_id for group, _ in made for run_id in group.earlier}
        work.forget(earlier)
        once = [(self._is_new(group), runs) for group, runs in made]
        work.first.append(panel.expected(run for new, runs in once if new for run in runs))
        again = panel.expected(run for new, runs in once if not new for run in runs)
        work.again.append(again)
        work.gone |= earlier
        work.gone -= {run.run_id for run in again.runs}
        for group, runs in made:
            self._grouping.remember(group, runs)

    def _is_new(self, group: Group) -> bool:
        """Whether nobody can have judged it before, or can be at it now."""
        return not group.earlier and (self._crew is None or all(map(self._crew.owns, group.trace_ids)))

    def _keep(self, panel: Panel, work: _Work) -> None:
        first, again = panel.labelled(joined(work.first)), panel.labelled(joined(work.again))
        as_of = self._grouping.as_of
        self._store.write_runs((*first.runs, *again.runs), as_of)
        self._store.add_judged(first.verdicts, first.decisions, as_of)
        self._store.replace_judged(panel.names, again.runs, again.verdicts, again.decisions, as_of)
        self.counters.again += len(again.runs)
        for decision in first.decisions:
            self.counters.count(decision)
        for part in (first, again):
            self.counters.runs += len(part.runs)
            self.counters.verdicts += len(part.verdicts)
            self.counters.decisions += len(part.decisions)
        if work.gone:
            self._store.retract(sorted(work.gone), as_of)
            self.counters.retracted += len(work.gone)


@dataclass(slots=True)
class _Work:
    """What a turn has judged so far: runs that are new, runs in place of earlier ones, earlier ones that are gone."""

    first: list[Judged] = field(default_factory=list)
    again: list[Judged] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)

    def forget(self, run_ids: set[str]) -> None:
        """Runs of this turn whose traces are assembled once more, with others."""
        if run_ids:
            self.first = [part.without(run_ids) for part in self.first]
            self.again = [part.without(run_ids) for part in self.again]
