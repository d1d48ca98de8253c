"""After a restart live judging goes on with what the last process stored and did not judge; it skips none of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from otel_toolselect.assemble import DEFAULT_ATTRIBUTES
from otel_toolselect.errors import StoreError
from otel_toolselect.judge import recovering
from otel_toolselect.judge.live import LiveJudge
from otel_toolselect.judge.recovering import BOOKMARK, Recovery
from otel_toolselect.judge.waiting import Patience
from otel_toolselect.store import Cursor, Store, open_store
from tests.judge.test_live import PANEL, check, empty, traffic

SPANS, LOGS = traffic("pydantic-ai-v3")
TRACES = len({s.trace_id for s in SPANS})


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = open_store(f"chdb://{tmp_path_factory.mktemp('recovering')}")
    yield store
    store.close()


@pytest.fixture
def store(home: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    empty(home)
    home._session.execute("TRUNCATE TABLE bookmarks")  # type: ignore[attr-defined]
    monkeypatch.setattr(recovering, "MARGIN_NS", 0)  # the sharpest bookmark there can be
    return home


def judge_on(store: Store) -> LiveJudge:
    return LiveJudge(store, lambda: PANEL, DEFAULT_ATTRIBUTES, Patience(settle=0, wait=0), sole_writer=True)


def recovery_of(store: Store, judge: LiveJudge, lookback_s: float = 3_600) -> Recovery:
    recovery = Recovery(store, judge, threading.Lock(), lookback_s)
    recovery.begin()
    while recovery.recover():
        pass
    return recovery


def place(store: Store) -> Cursor:
    found = store.bookmark(BOOKMARK)
    assert found is not None
    return Cursor.parse(found)


def test_the_bookmark_waits_for_what_is_not_judged(store: Store) -> None:
    judge = judge_on(store)
    recovery = recovery_of(store, judge)
    store.insert(SPANS, LOGS)
    judge.offer(SPANS, LOGS)
    before = time.time_ns()
    recovery.keep()
    recovery.keep()
    assert place(store).settled_ns < before  # of when nothing was offered yet
    judge.settle()
    recovery.keep()
    assert place(store).settled_ns >= before


def test_what_was_stored_and_not_judged_is_judged_by_the_next_process(store: Store) -> None:
    first = judge_on(store)
    recovery = recovery_of(store, first)
    half = [s for s in SPANS if s.trace_id <= sorted({s.trace_id for s in SPANS})[TRACES // 2]]
    store.insert(half, [])
    first.offer(half, [])
    first.settle()
    recovery.keep()
    store.insert([s for s in SPANS if s not in half], LOGS)  # it dies before they are offered, or judged
    second = judge_on(store)
    recovery_of(store, second)
    assert 0 < second.snapshot().waiting_traces < TRACES
    second.settle()
    check(store, SPANS, LOGS)


def test_a_late_root_of_what_the_last_process_judged_finds_the_rest(store: Store) -> None:
    roots = [s for s in SPANS if not s.parent_span_id]
    first = judge_on(store)
    recovery = recovery_of(store, first)
    rest = [s for s in SPANS if s.parent_span_id]
    store.insert(rest, LOGS)
    first.offer(rest, LOGS)
    first.settle()
    recovery.keep()
    second = judge_on(store)
    recovery_of(store, second)
    assert second.snapshot().waiting_traces == 0
    store.insert(roots, [])
    second.offer(roots, [])  # alone it would look like a whole trace
    second.settle()
    check(store, SPANS, LOGS)


def test_the_first_start_looks_back_as_far_as_it_is_told(store: Store) -> None:
    store.insert(SPANS, LOGS)
    store._session.execute(  # type: ignore[attr-defined]
        "ALTER TABLE otel_traces UPDATE ReceivedAt = ReceivedAt - 7200 WHERE 1 SETTINGS mutations_sync = 2"
    )
    store._session.execute(  # type: ignore[attr-defined]
        "ALTER TABLE otel_logs UPDATE ReceivedAt = ReceivedAt - 7200 WHERE 1 SETTINGS mutations_sync = 2"
    )
    judge = judge_on(store)
    recovery_of(store, judge, lookback_s=3_600)
    assert judge.snapshot().waiting_traces == 0
    store._session.execute("TRUNCATE TABLE bookmarks")  # type: ignore[attr-defined]
    recovery_of(store, judge, lookback_s=10_000)
    assert judge.snapshot().waiting_traces == TRACES


def test_the_thread_keeps_the_bookmark_and_bears_a_store_that_is_away(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recovering, "EVERY_S", 0.01)
    judge = judge_on(store)
    recovery = Recovery(store, judge, threading.Lock(), 60)
    recovery.start()
    begun = place(store)
    moved = threading.Event()
    failed = threading.Event()
    keep = store.set_bookmark

    def moody(name: str, text: str) -> None:
        if not failed.is_set():
            failed.set()
            raise StoreError("away")
        keep(name, text)
        moved.set()

    monkeypatch.setattr(store, "set_bookmark", moody)
    assert moved.wait(30)
    recovery.stop()
    assert place(store).settled_ns > begun.settled_ns
