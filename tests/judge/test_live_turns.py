"""What a turn of live judging takes in, lets go of, and asks: large turns are few writes (see `judge.live`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

from otel_toolselect.assemble import DEFAULT_ATTRIBUTES
from otel_toolselect.errors import StoreError
from otel_toolselect.judge import live as live_module
from otel_toolselect.judge.labelling import Labelling
from otel_toolselect.judge.live import LiveJudge
from otel_toolselect.judge.panel import Judged, Panel
from otel_toolselect.judge.waiting import Patience
from otel_toolselect.model.labels import Label
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import LogRecord, Span

SETTLE_S, PRESSED_BYTES = 1_000.0, 8_000


def a_trace(number: int) -> list[Span]:
    """Two spans, an agent and its model call: about 3,000 bytes as they wait."""
    trace_id = f"{number:032x}"
    root = Span(trace_id, "1" * 16, attributes={"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"})
    call = Span(trace_id, "2" * 16, parent_span_id="1" * 16, attributes={"gen_ai.operation.name": "chat"})
    return [root, call]


class Kept:
    """A store that counts what it is given."""

    def __init__(self) -> None:
        self.writes: list[int] = []
        self.away = False

    def write_runs(self, runs: Sequence[Run], as_of: int | None = None) -> None:
        if self.away:
            raise StoreError("away")
        self.writes.append(len(runs))

    def add_judged(self, *_: object) -> None:
        pass

    replace_judged = add_judged


def judge_on(store: Kept, panel: Panel | None = None, memory: int = PRESSED_BYTES) -> LiveJudge:
    patience = Patience(settle=SETTLE_S, wait=SETTLE_S, memory=memory)
    return LiveJudge(store, lambda: panel or Panel(), DEFAULT_ATTRIBUTES, patience, sole_writer=True)  # type: ignore[arg-type]


def test_what_arrives_while_memory_is_short_joins_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Kept()
    live = judge_on(store)
    real = Panel.expected
    arriving = [a_trace(2) + a_trace(3), a_trace(4)]

    def expected(self: Panel, runs: Sequence[Run]) -> Judged:
        if arriving:
            live.offer(arriving.pop(0), ())
        return real(self, runs)

    monkeypatch.setattr(Panel, "expected", expected)
    live.offer(a_trace(0) + a_trace(1), ())
    assert live.turn() == 4
    assert store.writes == [4]
    assert live.snapshot().waiting_traces == 1  # the last one leaves room enough: it waits until it is quiet


def test_a_turn_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "TRACES_PER_TURN", 2)
    store = Kept()
    live = judge_on(store, memory=64_000)
    for number in range(20):
        live.offer(a_trace(number), ())
    assert live.turn() == 2
    assert store.writes == [2]


def room_during_a_turn(monkeypatch: pytest.MonkeyPatch, *offers: list[Span]) -> list[bool]:
    """Whether there is room, asked at each of the traces that are judged one after the other, and after the last."""
    monkeypatch.setattr(live_module, "_AT_ONCE", 1)
    live = judge_on(Kept(), memory=12_000)
    room: list[bool] = []
    real = Panel.expected

    def expected(self: Panel, runs: Sequence[Run]) -> Judged:
        room.append(live.wait_for_room(0))
        return real(self, runs)

    monkeypatch.setattr(Panel, "expected", expected)
    for spans in offers:
        live.offer(spans, ())
    assert live.turn() == 3
    return [*room, live.wait_for_room(0)]


def test_spans_that_are_judged_make_room_before_the_turn_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    room = room_during_a_turn(monkeypatch, *map(a_trace, range(3)))
    assert not room[0]
    assert room[-2]


def test_there_is_room_when_as_much_again_as_came_last_can_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than half of the memory came at once: its like would not fit beside a third of it."""
    room = room_during_a_turn(monkeypatch, a_trace(0) + a_trace(1) + a_trace(2))
    assert not any(room[:-1])
    assert room[-1]


def test_a_turn_that_could_not_be_kept_is_due_again_from_the_store() -> None:
    store = Kept()
    live = judge_on(store, memory=12_000)
    live.offer(a_trace(0) + a_trace(1) + a_trace(2), ())
    store.away = True
    with pytest.raises(StoreError):
        live.turn()
    counts = live.snapshot()
    assert (counts.waiting_traces, counts.held_bytes, counts.runs) == (3, 0, 0)
    assert live.judged_until() < float("inf")


class Picky(Kept):
    """Fails on runs of one trace as no store should, and gives back every trace."""

    def __init__(self, traces: Mapping[str, list[Span]], broken: str) -> None:
        super().__init__()
        self._traces = traces
        self._broken = broken

    def write_runs(self, runs: Sequence[Run], as_of: int | None = None) -> None:
        if any(self._broken in run.trace_ids for run in runs):
            raise OverflowError("a value that no column takes")
        super().write_runs(runs, as_of)

    def runs_of_traces(self, trace_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        return {}

    def traces(self, *, trace_ids: Sequence[str]) -> Iterator[tuple[list[Span], tuple[LogRecord, ...]]]:
        return ((self._traces[trace_id], ()) for trace_id in trace_ids)


def test_a_trace_that_cannot_be_kept_costs_the_others_few_writes() -> None:
    traces = {f"{number:032x}": a_trace(number) for number in range(64)}
    store = Picky(traces, broken=f"{37:032x}")
    live = judge_on(store)
    for spans in traces.values():
        live.offer(spans, ())
    live.settle()
    # each written for itself, judging would stand still meanwhile
    assert sorted(filter(None, store.writes)) == [1, 2, 4, 8, 16, 32]
    assert live.judged_until() == float("inf")


def test_labels_are_asked_for_once_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_module, "_AT_ONCE", 1)
    asked: list[int] = []

    def given(run_ids: Sequence[str]) -> Sequence[Label]:
        asked.append(len(run_ids))
        return ()

    live = judge_on(Kept(), Panel(labelling=Labelling(given=given)), memory=12_000)
    live.offer(a_trace(0) + a_trace(1) + a_trace(2), ())
    live.turn()
    assert asked == [3]


def test_memory_that_fills_wakes_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is due by time for long, and no tick comes: it is the offer that wakes."""
    monkeypatch.setattr(live_module, "_LONGEST_TICK_S", 600.0)
    store = Kept()
    live = judge_on(store, memory=12_000)
    live.start()
    try:
        live.offer(a_trace(0) + a_trace(1) + a_trace(2), ())
        assert live.wait_for_room(30)
    finally:
        live.stop()
    assert sum(store.writes) == 3
