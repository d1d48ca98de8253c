"""Senders, spool and writer each repeat, in any order: every reader of the store sees each span once."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_toolselect.errors import StoreError
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.receive import Settings
from otel_toolselect.receive.backlog import Backlog
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.damage import DamageReport
from otel_toolselect.receive.deadletters import DeadLetters
from otel_toolselect.receive.drain import Drainer
from otel_toolselect.receive.records import Request
from otel_toolselect.receive.spool import Pending, Spool
from otel_toolselect.store import Store, open_store
from otel_toolselect.store.api import Overview
from tests.faults.load import SPANS, request

WAIT_S = 30.0
_numbers = itertools.count(1)


class Sink:
    """A store, and at what point of an insert the process is killed ("before", "after") or the store fails."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.killed = ""
        self.fails = ""
        self.reached = threading.Event()
        self.released = threading.Event()

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord], /) -> None:
        killed, fails = self.killed, self.fails
        self.fails = ""  # once
        if "before" not in (killed, fails):
            self.store.insert(spans, logs)
        if killed:  # as for a process that is gone: nothing that comes after this insert happens
            self.reached.set()
            self.released.wait()
        if killed or fails:
            raise StoreError("not now, or perhaps")


class Process:
    """Spool and drain of a receiver, without ports."""

    def __init__(self, folder: Path, store: Store) -> None:
        self.sink = Sink(store)
        counters = Counters()
        wanted = Settings(folder, insert_delay_s=0.0, store_backoff_s=0.01, memory_bytes=2_000, segment_bytes=2_000)
        dead = DeadLetters(folder / "dead-letter", 10**6, counters)
        report = DamageReport(dead, counters)
        backlog = Backlog(wanted.memory_bytes, report)
        self._spool = Spool(
            folder, backlog, limit=10**7, segment_bytes=wanted.segment_bytes, retry_after_s=1.0, counters=counters
        )
        self._drainer = Drainer(backlog, self.sink, dead, wanted, counters)
        self._spool.recover(report)
        self._drainer.start()
        self._spool.start(durable=self._drainer.put, told=self._told)
        self.dead_letters = lambda: counters.snapshot()["dead_letters"]

    def _told(self, pending: Sequence[Pending], error: Exception | None) -> None:
        assert error is None
        for item in pending:
            assert isinstance(item.token, threading.Event)
            item.token.set()

    def send(self, body: bytes) -> None:
        """Returns when it is acknowledged."""
        acknowledged = threading.Event()
        self._spool.submit(Pending(Request("traces", "protobuf", body), SPANS, acknowledged))
        assert acknowledged.wait(WAIT_S)

    def flush(self) -> None:
        assert self._drainer.flush(WAIT_S)

    def kill(self) -> None:
        """The folder is left as it is, and to the next process."""
        self._spool.finish_writing()
        self._drainer.stop(0.0)
        self._spool.close()
        self.sink.released.set()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = open_store(f"chdb://{tmp_path_factory.mktemp('chdb')}")
    yield made
    made.close()


STEPS = st.one_of(
    st.tuples(st.just("send"), st.integers(1, 4)),  # again and again the same four requests
    st.tuples(st.just("kill"), st.sampled_from(["before", "after", ""])),
    st.tuples(st.just("fail"), st.sampled_from(["before", "after"])),
    st.tuples(st.just("flush"), st.just("")),
)


@settings(max_examples=10)
@given(st.lists(STEPS, min_size=3, max_size=10))
def test_any_interleaving_of_repeats_stores_each_span_once(
    store: Store, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int | str]]
) -> None:
    bodies = {n: _body(next(_numbers)) for n in range(1, 5)}
    before = store.overview()
    folder = tmp_path_factory.mktemp("spool")
    process = Process(folder, store)
    acknowledged: set[int] = set()
    for step, how in steps:
        if step == "send":
            process.send(bodies[int(how)])
            acknowledged.add(int(how))
        elif step == "fail":
            process.sink.fails = str(how)
        elif step == "flush":
            process.flush()
        else:
            if how and acknowledged:
                process.sink.killed = str(how)
                process.send(bodies[min(acknowledged)])  # so that an insert is under way
                assert process.sink.reached.wait(WAIT_S)
            process.kill()
            process = Process(folder, store)
    process.flush()
    process.kill()
    wanted = {span.trace_id: SPANS for n in acknowledged for span in _spans(bodies[n])}
    read = {spans[0].trace_id: len(spans) for spans, _ in store.traces(trace_ids=list(wanted))}
    assert read == wanted
    counted = store.overview()
    assert counted.spans - before.spans == SPANS * len(acknowledged)
    assert _sum(counted, "spans") == counted.spans
    assert _sum(counted, "traces") - _sum(before, "traces") == len(acknowledged)
    assert process.dead_letters() == 0
    assert list(folder.glob("*.seg")) == []


def _body(number: int) -> bytes:
    return request([number * SPANS + i for i in range(SPANS)], now_ns=1_700_000_000_000_000_000 + number)


def _spans(body: bytes) -> tuple[Span, ...]:
    return Request("traces", "protobuf", body).decode(10**6).spans


def _sum(overview: Overview, figure: str) -> int:
    return sum(getattr(scope, figure) for scope in overview.scopes)
