"""Traces that have arrived and wait to be judged: which are due, and how much of them memory holds. No clock in here:
times are the caller's, in seconds of any monotonic clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from otel_toolselect.model.spans import LogRecord, Span

_SPAN_BYTES = 1_500  # what a span costs in memory beside the text of its attributes
_SAMPLE = 500  # spans of a batch whose size is looked at


@dataclass(slots=True)
class Slot:
    """One trace. `spans` and `logs` are all that arrived since the slot was made; `held` False: memory had no room,
    they are in the store. `rooted`: a span without a parent came, so that the rest can be expected soon.
    """

    trace_id: str
    first_s: float
    last_s: float = 0.0
    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)
    held: bool = True
    size: int = 0
    rooted: bool = False
    suspect: bool = False
    """Something failed when it was judged with others: it is judged apart from those that are due the next time."""

    @property
    def whole(self) -> bool:
        """Every span but the roots has its parent here: nothing is known to be missing."""
        if not self.held or not self.rooted:
            return False
        ids = {span.span_id for span in self.spans}
        return all(not span.parent_span_id or span.parent_span_id in ids for span in self.spans)

    def leave_to_store(self) -> None:
        """Holds nothing any more."""
        self.size = 0
        self.held = False
        self.spans = []
        self.logs = []


@dataclass(frozen=True, slots=True)
class Patience:
    """When a trace is due, in seconds: after `settle` of quiet when a root came, `wait` without one, `longest` from its
    first span, whatever comes. `memory`: bytes of spans that are held; beyond it the oldest are left to the store.
    """

    settle: float = 2.0
    wait: float = 30.0
    longest: float = 300.0
    memory: int = 64 * 2**20


class Waiting:
    """Not safe for threads: its owner holds a lock."""

    def __init__(self, patience: Patience) -> None:
        self.patience = patience
        self._slots: dict[str, Slot] = {}
        self.held_bytes = 0
        self.offered_bytes = 0
        """Of the last offer, whether held or not."""

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def oldest_s(self) -> float | None:
        """When the first span came of the trace that has waited longest."""
        return min((slot.first_s for slot in self._slots.values()), default=None)

    @property
    def presses(self) -> bool:
        """Half of the memory is taken: time to make room."""
        return self.held_bytes > self.patience.memory // 2

    def offer(self, spans: Iterable[Span], logs: Iterable[LogRecord], now_s: float) -> None:
        """What was stored just now."""
        spans, logs = list(spans), list(logs)
        size = _mean_size(spans)
        self.offered_bytes = size * len(spans) + _SPAN_BYTES * len(logs)
        for span in spans:
            slot = self._slot(span.trace_id, now_s)
            slot.rooted = slot.rooted or not span.parent_span_id
            if slot.held:
                slot.spans.append(span)
                self._grow(slot, size)
        for log in logs:
            if log.trace_id:
                slot = self._slot(log.trace_id, now_s)
                if slot.held:
                    slot.logs.append(log)
                    self._grow(slot, _SPAN_BYTES)
        if self.held_bytes > self.patience.memory:
            self._shed()

    def settles_in(self, now_s: float) -> float | None:
        """Seconds until all that waits is due, if nothing comes any more; None when nothing waits."""
        rooted, bare = self.patience.settle, self.patience.wait
        due = (slot.last_s + (rooted if slot.rooted else bare) for slot in self._slots.values())
        last = max(due, default=None)
        return None if last is None else last - now_s

    def mark(self, trace_ids: Iterable[str], now_s: float) -> None:
        """Traces that are in the store, wholly or in part, and were not judged yet."""
        for trace_id in trace_ids:
            slot = self._slot(trace_id, now_s)
            slot.rooted = True  # it has been quiet since before this process began, as far as is known
            self._let_go(slot)

    def take_due(self, now_s: float, limit: int) -> list[Slot]:
        """At most `limit` traces that are due, which wait no longer; the longest quiet first."""
        due = [slot for slot in self._slots.values() if self._is_due(slot, now_s)]
        due.sort(key=lambda slot: (slot.last_s, slot.trace_id))
        return [self._remove(slot) for slot in due[:limit]]

    def take(self, trace_ids: Sequence[str]) -> list[Slot]:
        """Those of the traces that wait."""
        return [self._remove(self._slots[t]) for t in trace_ids if t in self._slots]

    def put_back(self, slots: Iterable[Slot]) -> None:
        """Slots that were taken and could not be judged now; what came meanwhile is joined to them."""
        for slot in slots:
            newer = self._slots.get(slot.trace_id)
            if newer is not None:
                self._remove(newer)
                slot.spans += newer.spans
                slot.logs += newer.logs
                slot.size += newer.size
                slot.held = slot.held and newer.held
                slot.rooted = slot.rooted or newer.rooted
                slot.last_s = newer.last_s
            self._slots[slot.trace_id] = slot
            self.held_bytes += slot.size
            if not slot.held:
                self._let_go(slot)

    def _is_due(self, slot: Slot, now_s: float) -> bool:
        if self.presses and slot.rooted and slot.held:
            return True  # making room by judging is better than reading it all again from the store
        quiet = now_s - slot.last_s
        patience = self.patience.settle if slot.rooted else self.patience.wait
        return quiet >= patience or now_s - slot.first_s >= self.patience.longest

    def _slot(self, trace_id: str, now_s: float) -> Slot:
        slot = self._slots.get(trace_id)
        if slot is None:
            slot = self._slots[trace_id] = Slot(trace_id, now_s)
        slot.last_s = now_s
        return slot

    def _grow(self, slot: Slot, size: int) -> None:
        slot.size += size
        self.held_bytes += size

    def _shed(self) -> None:
        """Leaves the longest waiting to the store until a tenth of the room is free."""
        target = self.patience.memory * 9 // 10
        for slot in self._slots.values():  # in order of arrival
            if self.held_bytes <= target:
                return
            self._let_go(slot)

    def _let_go(self, slot: Slot) -> None:
        self.held_bytes -= slot.size
        slot.leave_to_store()

    def _remove(self, slot: Slot) -> Slot:
        del self._slots[slot.trace_id]
        self.held_bytes -= slot.size
        return slot


def _mean_size(spans: Sequence[Span]) -> int:
    """Of some of them: to look at every text would cost as much as assembling a tenth of the traces."""
    some = spans[:: max(1, len(spans) // _SAMPLE)]
    return sum(map(_size, some)) // max(1, len(some))


def _size(span: Span) -> int:
    return _SPAN_BYTES + sum(len(value) for value in span.attributes.values() if isinstance(value, str))
