from __future__ import annotations

import dataclasses

import pytest

from otel_toolselect.errors import StoreError
from otel_toolselect.model.spans import Span
from otel_toolselect.store import open_store
from otel_toolselect.store.clickhouse import ClickHouseStore
from otel_toolselect.store.migrations import Migration, migrate, shipped
from otel_toolselect.store.session import Session

from .builders import T0, run


@pytest.fixture
def session(store: ClickHouseStore) -> Session:
    return store._session


def applied(session: Session) -> list[str]:
    return session.select("SELECT Name FROM toolselect_migrations FINAL ORDER BY Number")["Name"]


def test_numbers_are_distinct_and_without_a_gap() -> None:
    assert [m.number for m in shipped()] == list(range(1, len(shipped()) + 1))


def test_every_migration_is_applied_once(session: Session, embedded_dsn: str) -> None:
    names = [m.name for m in shipped()]
    assert applied(session) == names
    assert migrate(session) == []
    open_store(embedded_dsn).close()
    assert session.select("SELECT count() AS n FROM toolselect_migrations")["n"] == [len(names)]


def test_every_migration_may_run_twice(session: Session) -> None:
    # a process that was killed between the statements and the record starts the migration again
    for name in session.select("SELECT name FROM system.tables WHERE database = currentDatabase()")["name"]:
        session.execute(f"DROP TABLE {name} SYNC")
    for migration in shipped():
        for statement in [*migration.statements, *migration.statements]:
            session.execute(statement)


OLD_RUN = """
INSERT INTO runs (RunId, Version, TraceId, TraceIds, FinalText, NoCallLabel, NoCallSignal, StartNs,
    Events.Kind, Events.Turn, Events.Seq, Events.Dialect, Events.Agent, Events.Text, Events.Name, Events.CallId,
    Events.Args,
    Events.ArgsUnknown, Events.ArgsRaw, Events.Emitted, Events.Executed, Events.Server, Events.StartNs, Events.SpanId,
    Events.CallSeq, Events.Ok, Events.Value, Events.ValueUnknown, Events.ErrorType, Events.Infra, Events.DurationNs)
SELECT 'r1', 1, 't1', ['t1', 't2'], 'so "it" is', 'none', 'no text', 1793613600000000000,
    ['assistant', 'tool_call', 'tool_result'],
    [0, 0, 0], [0, 1, 2], ['genai', 'genai', 'genai'], [NULL, NULL, NULL], ['let me look', NULL, NULL],
    [NULL, 'search', 'search'], [NULL, 'c1', 'c1'], [NULL, '{"n":1152921504606846977,"q":"boots"}', NULL],
    [NULL, NULL, NULL], [NULL, NULL, NULL], [NULL, 1, NULL], [NULL, 1, NULL], [NULL, NULL, NULL],
    [NULL, 1793613600000000000, NULL], [NULL, 'ab', NULL], [NULL, NULL, 1], [NULL, NULL, 1],
    [NULL, NULL, '{"ids":[1,null,"x"]}'], [NULL, NULL, NULL], [NULL, NULL, NULL], [NULL, NULL, 0], [NULL, NULL, 7]
"""
OLD_SPAN = """
INSERT INTO otel_traces (Timestamp, TraceId, SpanId, SpanKind, StatusCode, StartNs, EndNs,
    ResourceAttributes, SpanAttributes, Shape)
SELECT fromUnixTimestamp64Nano(1793613600000000000), 'aa', 'bb', 'Unspecified', 'Unset',
    1793613600000000000, 1793613600000000001, map('service.name', 'shop', 'b', '1'),
    map('z', '1', 'a', 'x'), '{"s":{"z":"i"}}'
"""


def test_a_store_from_before_0006_keeps_its_runs_and_knows_its_spans(embedded_dsn: str) -> None:
    store = open_store(embedded_dsn)
    assert isinstance(store, ClickHouseStore)
    session = store._session
    for name in session.select("SELECT name FROM system.tables WHERE database = currentDatabase()")["name"]:
        session.execute(f"DROP TABLE {name} SYNC")
    migrate(session, shipped()[:5])
    session.execute(OLD_RUN)
    session.execute(OLD_SPAN)
    store.close()
    store = open_store(embedded_dsn)
    assert list(store.runs()) == [run(final_text='so "it" is')]
    assert store.arrivals().trace_ids == ("aa",)
    resource = {"service.name": "shop", "b": "1"}
    again = Span("aa", "bb", start_ns=T0, end_ns=T0 + 1, attributes={"z": 1, "a": "x"}, resource=resource)
    store.insert([again], [])
    assert [spans for spans, _ in store.traces()] == [(again,)]
    assert store.overview().spans == 1  # the same row: the hash does not depend on the order of the keys
    store.close()


WHOLE_EVENTS = """
INSERT INTO runs (RunId, Version, TraceId, TraceIds, NoCallLabel, NoCallSignal, StartNs, EventList)
SELECT 'r0', 1, 't1', ['t1', 't2'], 'none', 'no text', 1793613600000000000, '[' ||
'["assistant",0,0,"genai",null,"let me look",null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null],' ||
'["tool_call",0,1,"genai",null,null,"search","c1","{\\\\"n\\\\":1152921504606846977,\\\\"q\\\\":\\\\"boots\\\\"}",null,null,1,1,null,1793613600000000000,"ab",null,null,null,null,null,null,null],' ||
'["tool_result",0,2,"genai",null,null,"search","c1",null,null,null,null,null,null,null,null,1,1,"{\\\\"ids\\\\":[1,null,\\\\"x\\\\"]}",null,null,0,7]' || ']'
"""  # noqa: E501 - as they were written before 0014


def test_runs_from_before_0014_stand_beside_others(embedded_dsn: str) -> None:
    store = open_store(embedded_dsn)
    assert isinstance(store, ClickHouseStore)
    session = store._session
    for name in session.select("SELECT name FROM system.tables WHERE database = currentDatabase()")["name"]:
        session.execute(f"DROP TABLE {name} SYNC")
    migrate(session, shipped()[:13])
    session.execute(WHOLE_EVENTS)
    with pytest.raises(StoreError, match="store status"):  # who only looks does not migrate, and is told what to do
        list(store.runs())
    store.close()
    store = open_store(embedded_dsn)
    assert isinstance(store, ClickHouseStore)
    store.write_runs([run("r1"), run("r2", final_text="let me look")])
    assert list(store.runs()) == [run("r0"), run("r1"), run("r2", final_text="let me look")]
    seen = store._session.select("SELECT * FROM events ORDER BY RunId, Seq")
    del seen["RunId"]
    for values in seen.values():
        assert values[0:3] == values[3:6] == values[6:9]
    assert seen["Text"][:3] == ["let me look", None, None]
    assert seen["Args"][:3] == [None, '{"n":1152921504606846977,"q":"boots"}', None]
    assert seen["Value"][:3] == [None, None, '{"ids":[1,null,"x"]}']
    assert seen["CallSeq"][:3] == [None, None, 1]
    store.close()


def test_a_new_migration_is_added(session: Session) -> None:
    new = Migration(len(shipped()) + 1, "more", "CREATE TABLE more (a UInt8) ENGINE = Memory;\n\nSELECT 1;")
    assert migrate(session, (*shipped(), new)) == [new]
    assert applied(session)[-1] == "more"
    assert new.statements == ("CREATE TABLE more (a UInt8) ENGINE = Memory", "SELECT 1")


@pytest.mark.parametrize("gone", ["events", "runs", "otel_traces"])
def test_one_that_was_cut_off_is_finished(session: Session, gone: str) -> None:
    # a new store is made at once; whatever was made before it ended, and nothing recorded, the next one completes it
    session.execute("TRUNCATE TABLE toolselect_migrations")
    session.execute(f"DROP TABLE {gone} SYNC")
    assert len(migrate(session)) == len(shipped())
    assert session.select(f"SELECT count() AS n FROM {gone}")["n"] == [0]


def test_what_is_up_to_date_is_not_touched(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    # so that a user that may not change tables can open it
    monkeypatch.setattr(session, "execute", lambda *_: pytest.fail("a statement was run"))
    assert migrate(session) == []


def test_a_changed_migration_is_refused(session: Session) -> None:
    first, *rest = shipped()
    changed = dataclasses.replace(first, text=first.text + "-- edited\n")
    with pytest.raises(StoreError, match=r"0001_spans was applied .* with another content .*add a new migration") as e:
        migrate(session, (changed, *rest))
    assert not e.value.retryable


def test_a_newer_store_is_refused(session: Session) -> None:
    new = Migration(99, "from_the_future", "SELECT 1;")
    migrate(session, (*shipped(), new))
    with pytest.raises(StoreError, match="0099_from_the_future, which this version does not know"):
        migrate(session)


def test_a_failing_migration_is_not_recorded(session: Session) -> None:
    broken = Migration(98, "broken", "CREATE TABLE half (a UInt8) ENGINE = Memory;\nSELEC 1;\n")
    with pytest.raises(StoreError, match="SYNTAX_ERROR"):
        migrate(session, (*shipped(), broken))
    assert "broken" not in applied(session)
