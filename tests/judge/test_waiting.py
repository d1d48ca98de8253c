"""Which traces are due, and how much of them memory holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.judge.waiting import Patience, Slot, Waiting
from otel_toolselect.model.spans import LogRecord, Span

PATIENCE = Patience(settle=2, wait=30, longest=100, memory=20_000)


def root(trace: str, size: int = 0) -> Span:
    return Span(trace, "r", attributes={"text": "x" * size})


def child(trace: str, span_id: str = "c", parent: str = "r", size: int = 0) -> Span:
    return Span(trace, span_id, parent, attributes={"text": "x" * size})


def due(waiting: Waiting, now: float) -> list[str]:
    return [slot.trace_id for slot in waiting.take_due(now, 100)]


def test_a_trace_with_a_root_settles_soon_one_without_is_waited_for() -> None:
    waiting = Waiting(PATIENCE)
    waiting.offer([child("late"), root("early")], [], 0.0)
    assert due(waiting, 1.9) == []
    assert due(waiting, 2.0) == ["early"]
    assert due(waiting, 29.9) == []
    assert due(waiting, 30.0) == ["late"]
    assert len(waiting) == 0


def test_when_all_that_waits_is_due() -> None:
    waiting = Waiting(PATIENCE)
    assert waiting.settles_in(5.0) is None
    waiting.offer([root("a")], [], 1.0)
    waiting.offer([root("b")], [], 3.0)
    assert waiting.settles_in(3.5) == 1.5
    waiting.offer([child("bare")], [], 3.0)
    assert waiting.settles_in(3.5) == 29.5
    waiting.take(["bare"])
    assert waiting.settles_in(6.0) == -1.0


def test_each_arrival_makes_it_wait_again_but_not_for_ever() -> None:
    waiting = Waiting(Patience(settle=2, wait=30, longest=100))
    for second in range(100):
        waiting.offer([root("busy")], [], float(second))
        assert due(waiting, second + 0.5) == []
    assert due(waiting, 100.0) == ["busy"]


def test_the_longest_quiet_are_taken_first_and_no_more_than_asked_for() -> None:
    waiting = Waiting(PATIENCE)
    for second, trace in enumerate("cab"):
        waiting.offer([root(trace)], [], float(second))
    assert [slot.trace_id for slot in waiting.take_due(50, 2)] == ["c", "a"]
    assert due(waiting, 50) == ["b"]


def test_a_log_record_belongs_to_its_trace_and_one_without_to_none() -> None:
    waiting = Waiting(PATIENCE)
    record = LogRecord("t", "r")
    waiting.offer([root("t")], [record, LogRecord()], 0.0)
    (slot,) = waiting.take_due(5, 9)
    assert slot.logs == [record]
    assert len(waiting) == 0


@pytest.mark.parametrize(
    ("spans", "whole"),
    [
        ([root("t")], True),
        ([root("t"), child("t"), child("t", "d", "c")], True),
        ([root("t"), child("t", "d", "c")], False),
        ([child("t")], False),
    ],
)
def test_a_trace_is_whole_when_no_span_lacks_its_parent(spans: list[Span], whole: bool) -> None:
    waiting = Waiting(PATIENCE)
    waiting.offer(spans, [], 0.0)
    (slot,) = waiting.take_due(99, 9)
    assert slot.whole is whole


def test_beyond_the_memory_the_oldest_are_left_to_the_store_and_still_judged() -> None:
    waiting = Waiting(PATIENCE)
    for number in range(9):
        waiting.offer([child(f"t{number}", size=4_000)], [], float(number))
        assert waiting.held_bytes <= PATIENCE.memory
    slots = {slot.trace_id: slot for slot in waiting.take_due(1_000, 100)}
    assert len(slots) == 9
    assert not slots["t0"].held
    assert not slots["t0"].spans
    assert not slots["t0"].whole
    assert slots["t8"].held
    assert waiting.held_bytes == 0


def test_when_memory_runs_short_what_has_a_root_is_judged_at_once() -> None:
    waiting = Waiting(PATIENCE)
    waiting.offer([root("a", 9_000), child("b", size=1_000)], [], 0.0)
    assert due(waiting, 0.0) == ["a"]


def test_what_is_put_back_is_joined_to_what_came_meanwhile() -> None:
    waiting = Waiting(PATIENCE)
    waiting.offer([root("t", 10)], [], 0.0)
    taken = waiting.take_due(5, 9)
    waiting.offer([child("t", size=5)], [], 6.0)
    waiting.put_back(taken)
    assert due(waiting, 7.9) == []
    (slot,) = waiting.take_due(8.0, 9)
    assert [span.span_id for span in slot.spans] == ["r", "c"]
    assert waiting.held_bytes == 0


def test_a_marked_trace_is_read_from_the_store() -> None:
    waiting = Waiting(PATIENCE)
    waiting.offer([root("t", 50)], [], 0.0)
    waiting.mark(["t", "u"], 1.0)
    assert waiting.held_bytes == 0
    assert {(slot.trace_id, slot.held) for slot in waiting.take_due(3.0, 9)} == {("t", False), ("u", False)}


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"), st.booleans(), st.integers(0, 9_000), st.sampled_from(["offer", "take", "back"])
        ),
        max_size=40,
    )
)
def test_the_bytes_held_are_those_of_the_slots(steps: list[tuple[str, bool, int, str]]) -> None:
    waiting = Waiting(PATIENCE)
    taken: list[Slot] = []
    offered: set[str] = set()
    for second, (trace, rooted, size, what) in enumerate(steps):
        if what == "offer":
            waiting.offer([root(trace, size) if rooted else child(trace, size=size)], [], float(second))
            offered.add(trace)
        elif what == "take":
            taken += waiting.take_due(float("inf"), 2)
        else:
            waiting.put_back(taken)
            taken = []
        assert waiting.held_bytes >= 0
    waiting.put_back(taken)
    left = waiting.take_due(float("inf"), 100)
    assert {slot.trace_id for slot in left} == offered
    assert waiting.held_bytes == 0
