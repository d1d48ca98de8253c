from __future__ import annotations

import dataclasses

import pytest

from otel_toolselect.errors import StoreError
from otel_toolselect.store import open_store
from otel_toolselect.store.clickhouse import ClickHouseStore
from otel_toolselect.store.migrations import Migration, migrate, shipped
from otel_toolselect.store.session import Session


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


def test_a_new_migration_is_added(session: Session) -> None:
    new = Migration(len(shipped()) + 1, "more", "CREATE TABLE more (a UInt8) ENGINE = Memory;\n\nSELECT 1;")
    assert migrate(session, (*shipped(), new)) == [new]
    assert applied(session)[-1] == "more"
    assert new.statements == ("CREATE TABLE more (a UInt8) ENGINE = Memory", "SELECT 1")


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
