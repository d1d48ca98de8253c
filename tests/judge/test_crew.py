"""Several workers on one store: everything is judged, each run stands once, and hardly anything is judged twice."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pytest

from otel_toolselect.assemble import DEFAULT_ATTRIBUTES
from otel_toolselect.judge.crew import Crew
from otel_toolselect.judge.following import Follower, Rhythm
from otel_toolselect.judge.live import LiveJudge
from otel_toolselect.judge.waiting import Patience
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.store import Cursor, Store, open_store
from tests.judge.test_live import PANEL, at_once, check, empty, traffic

LEASE_S = 1.0
LONG_S = 4.0
"""A lease that does not lapse while both live, on a busy machine either."""
PATIENCE = Patience(settle=0, wait=0)
WITHIN_S = 60.0


@dataclass
class One:
    """A worker with threads of nobody: the test says when it does what."""

    crew: Crew
    judge: LiveJudge
    follower: Follower

    def step(self) -> None:
        self.follower.step()
        self.judge.turn()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = open_store(f"chdb://{tmp_path_factory.mktemp('crew')}")
    yield store
    store.close()


@pytest.fixture
def store(home: Store) -> Store:
    empty(home)
    for table in ("workers", "bonds", "bookmarks"):
        home._session.execute(f"TRUNCATE TABLE {table}")  # type: ignore[attr-defined]
    return home


def worker(store: Store, name: str, lease_s: float = LEASE_S) -> One:
    crew = Crew(store, "crew", lease_s=lease_s, name=name)
    judge = LiveJudge(store, lambda: PANEL, DEFAULT_ATTRIBUTES, PATIENCE, sole_writer=False, crew=crew)
    return One(crew, judge, Follower(store, judge, crew, Cursor(), Rhythm(poll=0, beat=lease_s / 5)))


def until(done: Callable[[], bool], *workers: One, pause_s: float = 0) -> None:
    end = time.monotonic() + WITHIN_S
    while not done():
        assert time.monotonic() < end, [w.follower.counters for w in workers]
        for one in workers:
            one.step()
        time.sleep(pause_s)


def both_share(*workers: One) -> bool:
    return all(w.crew.acts and len(w.crew.view.names) == len(workers) for w in workers)


def idle(*workers: One) -> Callable[[], bool]:
    """Looked again, with nothing to do."""
    looks = 0

    def done() -> bool:
        nonlocal looks
        busy = any(w.follower.counters.behind or w.judge.snapshot().waiting_traces for w in workers)
        looks = 0 if busy else looks + 1
        return looks > 3

    return done


def many(copies: int) -> tuple[list[Span], list[LogRecord]]:
    """Traces that nothing ties: one run of an agent, again and again."""
    spans, logs = traffic("pydantic-ai-v3")
    first = spans[0].trace_id
    spans = tuple(s for s in spans if s.trace_id == first)
    made = [replace(s, trace_id=f"{n:032x}") for n in range(1, copies + 1) for s in spans]
    return made, [replace(r, trace_id=f"{n:032x}") for n in range(1, copies + 1) for r in logs if r.trace_id == first]


def test_two_workers_share_and_judge_each_trace_once(store: Store) -> None:
    a, b = worker(store, "a", 5), worker(store, "b", 5)
    until(lambda: both_share(a, b), a, b, pause_s=0.05)
    spans, logs = many(60)
    for part in range(3):
        store.insert(spans[part::3], logs[part::3])
    until(idle(a, b), a, b)
    check(store, spans, logs)
    assert min(a.judge.counters.traces, b.judge.counters.traces) > 10
    assert a.judge.counters.again == b.judge.counters.again == 0
    assert a.judge.counters.traces + b.judge.counters.traces == 60


@pytest.mark.parametrize("tied", [False, True])
def test_when_one_dies_the_other_takes_over(store: Store, tied: bool) -> None:
    a, b = worker(store, "a", LONG_S), worker(store, "b", LONG_S)
    until(lambda: both_share(a, b), a, b, pause_s=0.05)
    spans, logs = traffic("openinference-instrumentation-openai") if tied else many(60)
    store.insert(spans[::2], logs)
    a.step()
    b.step()
    store.insert(spans[1::2], [])
    a.follower.step()  # it has taken its share up, and dies before it judges it
    gone = time.monotonic() + LONG_S  # what b saw of it before, when the machine was slow, is not that it is dead
    until(lambda: time.monotonic() > gone and b.crew.acts and b.crew.view.names == ("b",), b, pause_s=0.1)
    until(idle(b), b)
    check(store, spans, logs)
    assert b.follower.counters.taken_over > 0 or tied


def test_tied_traces_of_two_shares_become_one_run(store: Store) -> None:
    a, b = worker(store, "a", 5), worker(store, "b", 5)
    until(lambda: both_share(a, b), a, b, pause_s=0.05)
    spans, logs = traffic("openinference-instrumentation-openai")
    traces = sorted({s.trace_id for s in spans})
    assert len(at_once(spans, logs).runs) < len(traces)  # without a context each model call is a trace
    assert {a.crew.view.owner(t) for t in traces} == {"a", "b"}
    order = list(spans)
    random.Random(1).shuffle(order)
    for span in order:
        store.insert([span], [])
        a.step()
        b.step()
    until(idle(a, b), a, b)
    check(store, spans, logs)


def test_tied_traces_that_two_judge_at_once_become_one_run(store: Store) -> None:
    # one has read its traces, and before it writes the other judges them with those that it did not know of
    a, b = worker(store, "a", 5), worker(store, "b", 5)
    until(lambda: both_share(a, b), a, b, pause_s=0.05)
    spans, logs = traffic("openinference-instrumentation-openai")
    store.insert([s for s in spans if a.crew.owns(s.trace_id)], logs)
    a.follower.step()

    def meanwhile() -> None:
        store.insert([s for s in spans if b.crew.owns(s.trace_id)], [])
        until(idle(b), b)

    _stop_in_the_middle(a, meanwhile)()
    until(idle(a, b), a, b)
    check(store, spans, logs)
    assert a.judge.counters.doubtful > 0


def test_what_was_read_earlier_does_not_replace_what_was_read_later(store: Store) -> None:
    # a worker that was stopped in the middle of a turn goes on long after another took its share
    a, b = worker(store, "a"), worker(store, "b")
    until(lambda: both_share(a, b), a, b, pause_s=0.05)
    spans, logs = many(20)
    late = {s.trace_id: s for s in spans if s.parent_span_id}
    store.insert([s for s in spans if s not in late.values()], logs)
    a.follower.step()
    assert a.judge.snapshot().waiting_traces > 0
    stopped = _stop_in_the_middle(a, lambda: _others_go_on(store, list(late.values()), b))
    stopped()
    check(store, spans, logs)
    until(idle(a, b), a, b)
    check(store, spans, logs)


def _others_go_on(store: Store, late: Sequence[Span], b: One) -> None:
    store.insert(late, [])
    until(lambda: b.crew.view.names == ("b",), b)
    until(idle(b), b)


def _stop_in_the_middle(a: One, meanwhile: Callable[[], None]) -> Callable[[], None]:
    keep = a.judge._keep

    def late_keep(*args: object) -> None:
        a.judge._keep = keep  # type: ignore[method-assign]
        meanwhile()
        keep(*args)  # type: ignore[arg-type]

    def go() -> None:
        a.judge._keep = late_keep  # type: ignore[method-assign,assignment]
        a.judge.turn()

    return go


def test_a_crew_that_died_goes_on_at_its_bookmark(store: Store) -> None:
    spans, logs = many(40)
    a = worker(store, "a")
    store.insert(spans[: len(spans) // 2], logs)
    until(lambda: a.judge.counters.traces > 0, a)
    until(lambda: (a.crew.bookmark() or Cursor()) != Cursor(), a)
    store.insert(spans[len(spans) // 2 :], [])
    a.follower.step()
    b = worker(store, "b")  # the first one is not heard of again
    until(lambda: b.crew.view.names == ("b",), b)
    until(idle(b), b)
    check(store, spans, logs)
    assert b.follower.counters.shared < 40  # what was judged before is not asked for again


def test_one_that_joins_holds_back_and_one_that_leaves_is_gone_at_once(store: Store) -> None:
    a = worker(store, "a")
    until(lambda: a.crew.acts, a)
    end = time.monotonic() + LEASE_S
    until(lambda: time.monotonic() > end, a)
    b = worker(store, "b")
    b.step()
    assert b.crew.held
    assert not b.crew.acts
    until(lambda: both_share(a, b), a, b, pause_s=0.05)
    b.follower.stop()
    assert not b.crew.acts
    a.crew.beat(Cursor())
    assert a.crew.view.names == ("a",)
    assert a.crew.acts
