"""What the store does when a server, or what lies between, fails: the error, and what is in the store after it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from clickhouse_connect.driver.httpclient import HttpClient
from urllib3 import Timeout

from otel_toolselect.errors import StoreError
from otel_toolselect.model.alerting import Silence
from otel_toolselect.model.labels import Label
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.store import Store, open_store
from otel_toolselect.store.alert_api import AlertRecord, Sending
from otel_toolselect.store.clickhouse import ClickHouseStore
from otel_toolselect.store.crew_api import TraceBonds, Worker
from tests.store.builders import T0, decision, log, run, span, verdict
from tests.store.databases import Databases
from tests.store.endpoint import Endpoint, Fault
from tests.store.endpoint.faults import (
    cut,
    drop_after,
    drop_before,
    drop_in_headers,
    exception_after_progress,
    exception_in_stream,
    proxy,
    refused,
    short,
    silent,
    slow,
)

TRACES = 60
_traces = itertools.count(TRACES)


@pytest.fixture(scope="module")
def filled(endpoint_of_module: Endpoint, databases: Databases) -> Iterator[Store]:
    """A store with some traces, which tests add to and never change."""
    with databases.lent() as name:
        opened = open_store(endpoint_of_module.dsn(name, "writer"))
        opened.insert([span(t, n, attributes={"text": "x" * 50}) for t in range(TRACES) for n in range(3)], [])
        yield opened
        opened.close()


@pytest.fixture
def store(server: Endpoint, database: str) -> Iterator[Store]:
    opened = open_store(server.dsn(database, "writer"))
    server.asked.clear()
    yield opened
    opened.close()


@pytest.fixture
def spared(databases: Databases, engine_home: Path) -> Iterator[Store]:
    """A store in which nothing goes wrong."""
    with databases.lent() as name:
        opened = open_store(f"chdb://{engine_home}?database={name}")
        yield opened
        opened.close()


# the client asks once more by itself where a connection went before the headers of an answer
REPEATED = [drop_before(), drop_before(reset=True), drop_after(), drop_after(reset=True), drop_in_headers()]
BUSY = [proxy(429), proxy(503), proxy(504)]

# (fault of an answer with rows, words of the error, may it succeed later)
FAULTS_OF_READING: list[tuple[Fault, str, bool]] = [
    *((cut(share, framing), "out of reach", True) for share in (0, 0.5, 0.99) for framing in ("chunked", "length")),
    *((cut(share, "close"), "answer broke off", True) for share in (0, 0.3, 0.6, 0.99)),
    (cut(1, "chunked"), "out of reach", True),
    *((short(missing), "answer broke off", True) for missing in (1, 4, 8, 9, 200)),
    (exception_in_stream(395, "boom"), "out of reach", True),
    *(
        (exception_in_stream(395, "boom", tagged=tagged, share=share, ended=True), "Code: 395.*boom$", False)
        for tagged in (True, False)
        for share in (0, 0.5, 1)
    ),
    (exception_in_stream(395, "boom", framing="close"), "Code: 395.*boom$", False),
    (exception_in_stream(241, "memory", ended=True), "Code: 241.*memory$", True),
    (proxy(200), "something other than ClickHouse answers", True),
    (proxy(204, ""), "answer broke off after 0 bytes", True),
]
FAULTS_OF_ALL: list[tuple[Fault, str, bool]] = [
    (exception_after_progress(241, "memory"), "Code: 241.*memory$", True),
    (exception_after_progress(53, "type"), "Code: 53.*type$", False),
    (refused(241, "memory"), "Code: 241.*memory$", True),
    (refused(62, "syntax", 400), "Code: 62.*syntax$", False),
    (refused(516, "who", 403), "refused the login.*check user and password", True),
    (refused(164, "readonly", 500), "Code: 164", True),
    (proxy(500), "out of reach.*500", True),
    (proxy(502), "out of reach.*502", True),
    (proxy(302), "302; check that --store names ClickHouse's HTTP port", True),
    (proxy(401), "401; it wants another login", True),
    (proxy(404), "404; check that --store names ClickHouse's HTTP port", True),
    (proxy(413), "413; a proxy lets no such large bodies pass", True),
]
FAULTS_OF_WRITING: list[tuple[Fault, str, bool]] = [
    *((fault, "out of reach|asked too often", True) for fault in BUSY),
    (proxy(502, runs=True), "out of reach.*502", True),
    (cut(0), "out of reach", True),
    (proxy(200), "something other than ClickHouse answers", True),
    (proxy(204, ""), "something other than ClickHouse answers", True),
]


def names(table: list[Any]) -> list[str]:
    return [str(row[0] if isinstance(row, tuple) else row) for row in table]


def whole(store: Store) -> bool:
    found = store.traces(trace_ids=[f"{t:032x}" for t in range(TRACES)])
    return sum(len(spans) for spans, _ in found) == TRACES * 3


@pytest.mark.parametrize(
    ("fault", "words", "retryable"),
    FAULTS_OF_READING + FAULTS_OF_ALL,
    ids=names(FAULTS_OF_READING + FAULTS_OF_ALL),
)
def test_part_of_an_answer_is_never_taken_for_the_whole(
    filled: Store, server: Endpoint, fault: Fault, words: str, retryable: bool
) -> None:
    server.faults.next(fault, on="SpanAttributes")
    with pytest.raises(StoreError, match=words) as caught:
        whole(filled)
    assert (caught.value.retryable, [f for f, _ in server.faults.sent]) == (retryable, [fault])
    assert whole(filled)  # and the connection is good for the next


@pytest.mark.parametrize("fault", [*REPEATED, *BUSY, slow(100)], ids=str)
def test_a_reader_does_not_notice_what_the_client_can_ask_again(filled: Store, server: Endpoint, fault: Fault) -> None:
    server.faults.next(fault, on="SpanAttributes")
    assert whole(filled)
    assert [f for f, _ in server.faults.sent] == [fault]


@pytest.mark.parametrize(
    ("fault", "words", "retryable"), FAULTS_OF_WRITING + FAULTS_OF_ALL, ids=names(FAULTS_OF_WRITING + FAULTS_OF_ALL)
)
def test_an_insert_that_was_not_confirmed_is_an_error_and_done_again_changes_nothing(
    filled: Store, server: Endpoint, fault: Fault, words: str, retryable: bool
) -> None:
    server.faults.next(fault, on="INSERT INTO otel_traces")
    error = unconfirmed(filled, nullcontext())
    assert (error.retryable, re.search(words, str(error)) is not None) == (retryable, True), error


def unconfirmed(store: Store, meanwhile: AbstractContextManager[object]) -> StoreError:
    """The error of an insert that goes wrong; done again, each row of it is there once."""
    trace = next(_traces)
    spans, logs = [span(trace, n, attributes={"n": n}) for n in range(20)], [log(trace)]
    before = store.overview()
    with meanwhile, pytest.raises(StoreError) as caught:
        store.insert(spans, logs)
    store.insert(spans, logs)
    found = store.overview()
    assert (found.spans - before.spans, found.logs - before.logs) == (20, 1)
    assert list(store.traces(trace_ids=[spans[0].trace_id])) == [(tuple(spans), tuple(logs))]
    return caught.value


@contextmanager
def impatient(store: Store) -> Iterator[None]:
    assert isinstance(store, ClickHouseStore)
    client = store._session._client
    assert isinstance(client, HttpClient)
    patient, client.timeout = client.timeout, Timeout(read=0.2)
    try:
        yield
    finally:
        client.timeout = patient


@pytest.mark.parametrize("runs", [False, True])
def test_a_server_that_says_nothing_is_given_up(filled: Store, server: Endpoint, runs: bool) -> None:
    server.faults.next(silent(runs=runs))
    with impatient(filled), pytest.raises(StoreError, match=r"out of reach: .*timed out") as caught:
        whole(filled)
    assert caught.value.retryable
    server.faults.next(silent(runs=runs), on="INSERT")
    error = unconfirmed(filled, impatient(filled))
    assert (error.retryable, "timed out" in str(error)) == (True, True)


def written_and_retracted(store: Store) -> None:
    store.write_runs([run("a"), run("b")])
    store.add_judged([verdict("a")], [decision("a"), decision("b")])
    store.retract(["a"])


def told(store: Store) -> set[str]:
    return {kept.decision.run_id for kept in store.judged_since().kept}  # of one again is allowed


TOOLS = (ToolDefinition("refund"),)
LABEL = Label("r1", "t1", "person", "ann", ("refund",), "search", T0 + 9, "", T0, "shop", "m", "p", "c", "", None, {})
WRITES: dict[str, tuple[str, Callable[[Store], object], Callable[[Store], object]]] = {
    "spans": ("otel_traces", lambda s: s.insert([span(99, n) for n in range(5)], []), lambda s: s.overview().spans),
    "arrivals": ("otel_traces", lambda s: s.insert([span(99)], []), lambda s: sorted(s.arrivals().trace_ids)),
    "logs": ("otel_logs", lambda s: s.insert([], [log(99), log(trace_id="")]), lambda s: s.overview().logs),
    "runs": ("runs", lambda s: s.write_runs([run("a"), run("b")]), lambda s: list(s.runs())),
    "verdicts": ("verdicts", lambda s: s.write_verdicts([verdict("a")]), lambda s: list(s.verdicts())),
    "decisions": ("judgements", lambda s: s.add_judged([], [decision("a")]), lambda s: list(s.decisions())),
    "told": ("judgements", lambda s: s.add_judged([], [decision("a")]), told),
    "labels": ("labels", lambda s: s.labels.write([LABEL]), lambda s: s.labels.history("r1")),
    "catalogs": ("catalogs", lambda s: s.write_runs([run("a", tools=TOOLS)]), lambda s: list(s.runs())),
    "retraction": ("runs", written_and_retracted, lambda s: (list(s.runs()), list(s.decisions()))),
    "bookmark": ("bookmarks", lambda s: s.set_bookmark("b", "place"), lambda s: s.bookmark("b")),
    "alert": (
        "alerts",
        lambda s: s.alerts.write_records([AlertRecord("wrong", "{}", "{}", "firing", T0, T0, "why")]),
        lambda s: s.alerts.records(),
    ),
    "silence": (
        "silences",
        lambda s: s.alerts.write_silence(Silence("s", (), 1, 2, "ann")),
        lambda s: s.alerts.silences(),
    ),
    "sending": (
        "notifications",
        lambda s: s.alerts.add_sendings([Sending("k", "hook", "delivered", "wrong", "fire", T0, T0, "{}", "", 1)]),
        lambda s: s.alerts.sendings(),
    ),
    "worker": ("workers", lambda s: s.crews.report("c", Worker("a", 5)), lambda s: s.crews.present("c", 10**9)),
    "bonds": (
        "bonds",
        lambda s: s.crews.publish("c", "a", 7, [TraceBonds("t1", (1, 2))]),
        lambda s: [set(map(repr, found)) for found in s.crews.published("c", {}, 0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRITES)
def test_what_was_written_twice_counts_once(store: Store, server: Endpoint, spared: Store, what: str) -> None:
    table, write, read = WRITES[what]
    write(spared)
    server.faults.next(drop_after(), on=f"INSERT INTO {table}")
    write(store)
    sent = [sql for _, sql in server.faults.sent]
    inserts = [asked.statement.sql for asked in server.asked if f"INSERT INTO {table}" in asked.statement.sql]
    assert (len(sent), inserts.count(sent[0])) == (1, 2)
    # beside a store in which nothing went wrong
    assert read(store) == read(spared)
