"""Following a real store: everything is sent, in spite of outages, restarts, refusals and rivals."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from otel_toolselect.export import follower as module
from otel_toolselect.export.events import Event, key_of
from otel_toolselect.export.follower import Follower
from otel_toolselect.export.sending import Outcome
from otel_toolselect.model.decisions import Decision
from otel_toolselect.store import Cursor, Store
from tests.store.builders import decision

LONG_S = 86_400.0


class Receiver:
    """An endpoint that notes; `answer` decides on each batch."""

    def __init__(self, answer: Callable[[Sequence[Event]], Outcome] = lambda events: "sent") -> None:
        self.answer = answer
        self.got: list[Event] = []
        self.batches: list[int] = []
        self.closed = False

    def send(self, events: Sequence[Event]) -> Outcome:
        outcome = self.answer(events)
        self.batches.append(len(events))
        if outcome == "sent":
            self.got += events
        return outcome

    def close(self) -> None:
        self.closed = True

    @property
    def keys(self) -> list[str]:
        return [event.key for event in self.got]


def some(first: int, last: int, **fields: object) -> list[Decision]:
    return [decision(f"r{i}", **fields) for i in range(first, last)]


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
def follower(store: Store, receiver: Receiver) -> Iterator[Follower]:
    made = Follower(store, receiver, lookback_s=LONG_S)
    yield made
    made.stop()


def test_what_is_judged_is_sent_once_whoever_judged(store: Store, follower: Follower, receiver: Receiver) -> None:
    store.add_judged([], [*some(0, 3), decision("r0", suite="")])
    assert follower.catch_up(60)
    store.add_judged([], some(3, 5))
    assert follower.catch_up(60)
    assert follower.catch_up(60)
    assert receiver.keys == [key_of(d) for d in some(0, 5)]
    assert (follower.figures.sent, follower.figures.failures) == (5, 0)


def test_the_next_one_goes_on_where_this_one_stopped(store: Store, follower: Follower, receiver: Receiver) -> None:
    store.add_judged([], some(0, 3))
    follower.catch_up(60)
    follower.stop()
    assert receiver.closed
    store.add_judged([], some(3, 5))
    heir = Follower(store, later := Receiver(), lookback_s=LONG_S)
    assert heir.catch_up(60)
    assert later.keys == [key_of(d) for d in some(3, 5)]
    heir.stop()


def test_an_endpoint_that_is_away_loses_nothing_and_doubles_nothing(
    store: Store, follower: Follower, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    store.add_judged([], some(0, 5))
    answers: Iterator[Outcome] = iter(["sent", "later", "later"])
    receiver.answer = lambda events: next(answers, "sent")
    assert not follower.catch_up(60)
    assert not follower.catch_up(60)
    assert store.bookmark(module.NAME) is None
    assert follower.catch_up(60)
    assert receiver.keys == [key_of(d) for d in some(0, 5)]
    assert follower.figures.failures == 2


def test_one_event_that_is_refused_costs_only_itself(store: Store, follower: Follower, receiver: Receiver) -> None:
    store.add_judged([], some(0, 7))
    bad = key_of(decision("r4"))
    receiver.answer = lambda events: "refused" if bad in {e.key for e in events} else "sent"
    assert follower.catch_up(60)
    assert sorted(receiver.keys) == sorted({key_of(d) for d in some(0, 7)} - {bad})
    assert follower.figures.refused == 1
    follower.catch_up(60)
    assert follower.figures.refused == 1


def test_judging_again_is_told_when_it_says_something_else(
    store: Store, follower: Follower, receiver: Receiver
) -> None:
    store.add_judged([], some(0, 2))
    follower.catch_up(60)
    store.add_judged([], [*some(0, 1), *some(1, 2, status="fail")])
    follower.catch_up(60)
    assert receiver.keys == [key_of(decision(name)) for name in ("r0", "r1", "r1")]
    first, second = (event for event in receiver.got if event.key == key_of(decision("r1")))
    assert first.attributes["gen_ai.evaluation.score.label"] == "pass"
    assert second.attributes["gen_ai.evaluation.score.label"] == "fail"
    assert second.attributes["toolselect.decision.version"] > first.attributes["toolselect.decision.version"]
    assert follower.figures.repeated == 1


def test_pages_follow_each_other(
    store: Store, follower: Follower, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAGE", 2)
    for i in range(5):
        store.add_judged([], some(i, i + 1))
    assert follower.turn()
    assert len(receiver.got) == 2
    assert follower.catch_up(60)
    assert receiver.keys == [key_of(d) for d in some(0, 5)]


def test_of_two_one_works_and_the_other_takes_over(store: Store, follower: Follower, receiver: Receiver) -> None:
    rival = Follower(store, other := Receiver(), lookback_s=LONG_S)
    store.add_judged([], some(0, 2))
    follower.catch_up(60)
    rival.catch_up(60)
    assert other.got == []
    follower.stop()
    store.add_judged([], some(2, 4))
    rival.catch_up(60)
    assert other.keys == [key_of(d) for d in some(2, 4)]
    rival.stop()


def test_the_first_start_looks_back_no_further_than_it_should(store: Store, receiver: Receiver) -> None:
    store.add_judged([], some(0, 2))
    late = Follower(store, receiver, lookback_s=1.0, clock=lambda: time.time_ns() + 10**10)
    late.catch_up(60)
    assert receiver.got == []
    late.stop()


def test_a_bookmark_that_is_none_begins_anew(
    store: Store, follower: Follower, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    store.set_bookmark(module.NAME, "nonsense")
    store.add_judged([], some(0, 2))
    assert follower.catch_up(60)
    assert len(receiver.got) == 2
    assert "begins anew" in caplog.text
    assert Cursor.parse(store.bookmark(module.NAME) or "").seen


def test_an_idle_store_is_not_written_to(
    store: Store, follower: Follower, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add_judged([], some(0, 2))
    follower.catch_up(60)
    monkeypatch.setattr(type(store), "set_bookmark", lambda *_: pytest.fail("written"))
    for _ in range(3):
        follower.turn()


def test_the_thread_goes_on_after_failures(store: Store, receiver: Receiver) -> None:
    answers: Iterator[Outcome] = iter(["later"])
    receiver.answer = lambda events: next(answers, "sent")
    made = Follower(store, receiver, lookback_s=LONG_S, tick_s=0.01)
    store.add_judged([], some(0, 3))
    made.start()
    end = time.monotonic() + 60
    while len(receiver.got) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    made.stop()
    assert receiver.keys == [key_of(d) for d in some(0, 3)]
