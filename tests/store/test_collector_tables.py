"""Tables that a Collector's ClickHouse exporter made, and a Collector that writes into ours."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path

import clickhouse_connect
import pytest

from otel_toolselect.app.serving import serving
from otel_toolselect.config import Receive, Settings
from otel_toolselect.errors import StoreError, UsageError
from otel_toolselect.model.spans import KIND_CLIENT, STATUS_ERROR, LogRecord, Span, SpanEvent, SpanLink
from otel_toolselect.store import Store, open_store

from .builders import T0, run, span

HERE = Path(__file__).parent

INSERT_SPAN = """
INSERT INTO otel_traces (Timestamp, TraceId, SpanId, ParentSpanId, TraceState, SpanName, SpanKind, ServiceName,
    ResourceAttributes, {scope} SpanAttributes, Duration, StatusCode, StatusMessage, Events.Timestamp, Events.Name,
    Events.Attributes, Links.TraceId, Links.SpanId, Links.TraceState, Links.Attributes)
SELECT fromUnixTimestamp64Nano(1793613600000000001), 'aa', 'bb', '', '', 'chat gpt', {kind}, 'shop',
    map('service.name', 'shop'), {scope_values}
    map('gen_ai.usage.input_tokens', '42', 'gen_ai.tool.call.arguments', '{{"q":1}}', 'otel.scope.name', 'lib',
        'otel.scope.version', '2'), 7, {status}, 'no', [fromUnixTimestamp64Nano(1793613600000000003)], ['exception'],
    [map('exception.type', 'Timeout')], ['cc'], ['dd'], [''], [map('k', 'v')]
"""
INSERT_LOG = """
INSERT INTO otel_logs (Timestamp, TraceId, SpanId, SeverityText, SeverityNumber, ServiceName, Body,
    ResourceAttributes, ScopeName, ScopeVersion, LogAttributes)
SELECT fromUnixTimestamp64Nano(1793613600000000002), 'aa', 'bb', 'INFO', 9, 'shop', '{"role":"user"}',
    map('service.name', 'shop'), 'lib', '2', map('event.name', 'gen_ai.user.message')
"""
# all values are text, as the exporter wrote them
SPAN = Span(
    trace_id="aa",
    span_id="bb",
    name="chat gpt",
    kind=KIND_CLIENT,
    start_ns=T0 + 1,
    end_ns=T0 + 8,
    attributes={
        "gen_ai.usage.input_tokens": "42",
        "gen_ai.tool.call.arguments": '{"q":1}',
        "otel.scope.name": "lib",
        "otel.scope.version": "2",
    },
    events=(SpanEvent("exception", T0 + 3, {"exception.type": "Timeout"}),),
    links=(SpanLink("cc", "dd", {"k": "v"}),),
    status_code=STATUS_ERROR,
    status_message="no",
    resource={"service.name": "shop"},
    scope_name="lib",
    scope_version="2",
)
LOG = LogRecord(
    trace_id="aa",
    span_id="bb",
    time_ns=T0 + 2,
    severity_number=9,
    severity_text="INFO",
    body='{"role":"user"}',
    attributes={"event.name": "gen_ai.user.message"},
    resource={"service.name": "shop"},
    scope_name="lib",
    scope_version="2",
)


class Collector:
    """Somebody else's connection to the database of a DSN."""

    def __init__(self, dsn: str) -> None:
        path, _, self.database = dsn.removeprefix("chdb://").partition("?database=")
        self.client = clickhouse_connect.get_client(interface="chdb", path=path)
        self.client.command(f"CREATE DATABASE IF NOT EXISTS {self.database}")
        self.client.database = self.database

    def make_tables(self) -> None:
        self.client.command((HERE / "collector_traces.sql").read_text())
        self.client.command((HERE / "collector_logs.sql").read_text())

    def write(self, *, scope: bool = True, kind: str = "'Client'", status: str = "'Error'") -> None:
        values = {"scope": "ScopeName, ScopeVersion,", "scope_values": "'lib', '2',"}
        if not scope:
            values = {"scope": "", "scope_values": ""}
        self.client.command(INSERT_SPAN.format(kind=kind, status=status, **values))
        self.client.command(INSERT_LOG)


@pytest.fixture
def collector(embedded_dsn: str) -> Iterator[Collector]:
    made = Collector(embedded_dsn)
    yield made
    made.client.close()


def test_a_collectors_tables_are_read_and_left_alone(collector: Collector, embedded_dsn: str) -> None:
    collector.make_tables()
    collector.write()
    before = collector.client.command("SHOW TABLES")
    store = open_store(embedded_dsn, create=False)
    assert list(store.traces()) == [((SPAN,), (LOG,))]
    assert list(store.traces(service="shop", since_ns=T0, until_ns=T0 + 2)) == [((SPAN,), (LOG,))]
    assert list(store.runs()) == []
    assert list(store.verdicts()) == []
    assert store.orphan_logs() == ()
    found = store.overview()
    assert (found.spans, found.logs, found.runs, found.foreign) == (1, 1, 0, True)
    store.close()
    assert collector.client.command("SHOW TABLES") == before


def test_runs_can_be_kept_beside_a_collectors_table_but_no_spans(collector: Collector, embedded_dsn: str) -> None:
    collector.make_tables()
    collector.write()
    store = open_store(embedded_dsn)
    store.write_runs([run()])
    assert list(store.runs()) == [run()]
    with pytest.raises(StoreError, match="was made by a Collector and is only read") as caught:
        store.insert([span()], [])
    assert not caught.value.retryable
    assert list(store.traces()) == [((SPAN,), (LOG,))]
    store.close()


def test_a_collector_that_retries_is_read_once(collector: Collector, embedded_dsn: str) -> None:
    collector.make_tables()
    collector.write()
    collector.write()
    store = open_store(embedded_dsn, create=False)
    assert list(store.traces()) == [((SPAN,), (LOG,))]
    store.close()


def test_tables_of_older_exporters_are_read(collector: Collector, embedded_dsn: str) -> None:
    collector.make_tables()
    collector.client.command("ALTER TABLE otel_traces DROP COLUMN ScopeName, DROP COLUMN ScopeVersion")
    collector.client.command("ALTER TABLE otel_traces MODIFY COLUMN Duration Int64")
    collector.write(scope=False, kind="'SPAN_KIND_CLIENT'", status="'STATUS_CODE_ERROR'")
    store = open_store(embedded_dsn, create=False)
    assert [spans for spans, _ in store.traces()] == [(SPAN,)]
    assert [s.scope for s in store.overview().scopes] == ["lib"]
    store.close()


def test_traces_without_a_log_table(collector: Collector, embedded_dsn: str) -> None:
    collector.make_tables()
    collector.write()
    collector.client.command("DROP TABLE otel_logs SYNC")
    store = open_store(embedded_dsn, create=False)
    assert list(store.traces(service="shop")) == [((SPAN,), ())]
    assert store.orphan_logs() == ()
    assert store.overview().logs == 0
    store.close()


def test_a_collector_writes_into_our_tables(store: Store, collector: Collector) -> None:
    for _ in range(2):
        collector.write()
    assert list(store.traces()) == [((SPAN,), (LOG,))]
    store.insert([dataclasses.replace(SPAN, attributes={"gen_ai.usage.input_tokens": 42})], [])
    ((spans, _),) = store.traces()
    assert len(spans) == 2
    collector.client.command("OPTIMIZE TABLE otel_traces FINAL")
    assert collector.client.command("SELECT count() FROM otel_traces") == 2


def test_our_columns_look_like_the_exporters(store: Store, collector: Collector) -> None:
    """For its dashboards: names, types and spellings of the exporter, whatever we add."""
    store.insert(
        [span(kind=3, status_code=2, attributes={"n": 1, "f": 2.0, "b": True, "o": {"b": [1], "a": "x"}, "x": b"hi"})],
        [],
    )
    row = collector.client.query(
        "SELECT SpanKind, StatusCode, Duration, ServiceName, SpanAttributes, toUnixTimestamp64Nano(Timestamp)"
        " FROM otel_traces"
    ).result_rows[0]
    attributes = {"n": "1", "f": "2", "b": "true", "o": '{"a":"x","b":[1]}', "x": "aGk="}
    assert row == ("Client", "Error", 5, "shop", attributes, T0 + 1)
    for table in ("otel_traces", "otel_logs"):
        ours = dict(r[:2] for r in collector.client.query(f"DESCRIBE TABLE {table}").result_rows)
        collector.client.command(f"RENAME TABLE {table} TO our_{table}")
        collector.client.command((HERE / table.replace("otel_", "collector_")).with_suffix(".sql").read_text())
        theirs = dict(r[:2] for r in collector.client.query(f"DESCRIBE TABLE {table}").result_rows)
        assert {name: ours[name].replace("(9, 'UTC')", "(9)").replace("('UTC')", "") for name in theirs} == theirs


def test_arrivals_of_a_collectors_table_go_by_its_timestamps(collector: Collector, embedded_dsn: str) -> None:
    def write(trace_id: str, seconds: int) -> None:
        collector.client.command(
            "INSERT INTO otel_traces (Timestamp, TraceId, SpanId)"
            f" SELECT fromUnixTimestamp64Nano({now + seconds * 10**9}), '{trace_id}', 's'"
        )

    now = time.time_ns()
    collector.make_tables()
    write("old", -7200)
    write("new", -60)
    store = open_store(embedded_dsn, create=False)
    first = store.arrivals()
    assert first.trace_ids == ("new", "old")
    assert store.arrivals(first.cursor).trace_ids == ()
    write("late", -1800)
    write("ahead", 10**6)  # waits for its time
    second = store.arrivals(first.cursor)
    assert second.trace_ids == ("late",)
    assert store.arrivals(second.cursor).trace_ids == ()
    with pytest.raises(StoreError, match="made by a Collector"):
        store.set_retention(90)
    store.close()


def test_nothing_is_received_into_a_collectors_tables(collector: Collector, embedded_dsn: str) -> None:
    collector.make_tables()
    settings = Settings(store=embedded_dsn, receive=Receive(grpc_port=0, http_port=0))
    with pytest.raises(UsageError, match=r"made by a Collector.*monitor judge --from"), serving(settings, _nobody):
        raise AssertionError("it started")


def _nobody(*_: object) -> None:
    raise AssertionError("it is lent")
