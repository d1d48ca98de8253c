"""The schema of a new store on one server and on a cluster, frozen as files; both are made of the same migrations.

`TOOLSELECT_GOLDEN=write` writes the files again. ClickHouse's own parser says whether a statement is one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import chdb
import pytest

from otel_toolselect.errors import SchemaError, UsageError
from otel_toolselect.store import ddl, migrations, schema
from otel_toolselect.store.cluster import SHARDING, Cluster
from otel_toolselect.store.cluster_ddl import OnCluster
from otel_toolselect.store.migrations import Migration, schema_of, shipped
from otel_toolselect.store.schema import Schema

GOLDEN = Path(__file__).parent / "golden" / "schema"
TARGET = OnCluster(Cluster("prod"), "tool's")


def replayed(on: OnCluster) -> list[str]:
    """Each migration after the other, as an existing cluster would get them."""
    known, found = migrations.schema_of(()), []
    for migration in shipped():
        for where, text, statement in migration.read():
            known = known.after(statement, where)
            found += on.rewritten(statement, text, known, where)
    return found


@pytest.fixture(scope="module")
def connection(engine_home: Path) -> Iterator[chdb.state.sqlitelike.Connection]:
    opened = chdb.connect(str(engine_home))
    yield opened
    opened.close()


@pytest.mark.parametrize("kind", ["server", "cluster"])
def test_the_schema_of_a_new_store(kind: str) -> None:
    wanted = schema_of(shipped())
    made = schema.statements(wanted) if kind == "server" else TARGET.create(wanted)
    text = ";\n\n".join(made) + ";\n"
    path = GOLDEN / f"{kind}.sql"
    if os.environ.get("TOOLSELECT_GOLDEN") == "write":
        path.write_text(text)
    assert path.read_text() == text


def test_clickhouse_reads_each_statement_for_a_cluster(connection: chdb.state.sqlitelike.Connection) -> None:
    statements = [*TARGET.create(schema_of(shipped())), *replayed(TARGET)]
    for statement in statements:
        connection.query("EXPLAIN AST " + statement)
    with pytest.raises(RuntimeError, match="SYNTAX_ERROR"):
        connection.query("EXPLAIN AST " + statements[0].replace("ON CLUSTER", "ON"))


def test_each_table_is_there_twice_and_every_row_has_its_shard() -> None:
    wanted = schema_of(shipped())
    made = "\n".join(TARGET.create(wanted))
    for table in wanted.tables:
        assert f"CREATE TABLE IF NOT EXISTS {table}_local ON CLUSTER 'prod'" in made
        assert f"ENGINE = Distributed('prod', 'tool\\'s', '{table}_local', {SHARDING[table]})" in made
    views = {name for name, view in wanted.views.items() if view.to is None}
    assert SHARDING.keys() == wanted.tables.keys() | views
    assert made.count("ENGINE = Replicated") == len(wanted.tables)


def test_a_new_store_is_as_one_that_was_migrated_step_by_step(connection: chdb.state.sqlitelike.Connection) -> None:
    def shown(database: str, statements: list[str]) -> dict[str, str]:
        connection.query(f"CREATE DATABASE {database}")
        connection.query(f"USE {database}")
        for statement in statements:
            connection.query(statement)
        sql = f"SELECT name, create_table_query FROM system.tables WHERE database = '{database}'"
        rows = connection.query(sql, "JSONCompactEachRow").bytes().decode().splitlines()
        return {name: text.replace(f"{database}.", "") for name, text in map(json.loads, rows)}

    by_steps = [text for migration in shipped() for text in migration.statements]
    at_once = schema.statements(schema_of(shipped()))[1:]  # without the table of the migrations themselves
    assert shown("at_once", at_once) == shown("by_steps", by_steps)


def read(*texts: str) -> Schema:
    found = Schema()
    for where, _, statement in schema.numbered("0001_x", texts):
        found = found.after(statement, where)
    return found


TABLE = "CREATE TABLE IF NOT EXISTS t (a UInt8, b String DEFAULT 'x,(') ENGINE = ReplacingMergeTree(a) ORDER BY a"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("DROP TABLE t", "a form of statement that is not known"),
        ("CREATE TABLE t (a UInt8) ENGINE = Memory", "a form of statement"),
        ("CREATE TABLE IF NOT EXISTS t (a UInt8) ENGINE = Memory", "no ENGINE = and ORDER BY"),
        ("CREATE TABLE IF NOT EXISTS t (a UInt8 ENGINE = MergeTree ORDER BY a", "not closed"),
        ("CREATE TABLE IF NOT EXISTS t (a) ENGINE = MergeTree ORDER BY a", "a column without a type"),
        ("ALTER TABLE u ADD COLUMN a UInt8", "a change of u, which is no table yet"),
        ("ALTER TABLE t RENAME COLUMN a TO b", "a change that is not one of ADD COLUMN"),
        ("ALTER TABLE t MODIFY COLUMN z UInt8", "no such column in t"),
        ("CREATE MATERIALIZED VIEW IF NOT EXISTS v AS SELECT a FROM t", "a materialized one without TO"),
        ("CREATE OR REPLACE VIEW v AS WITH x AS (SELECT 1) SELECT 1", "a view that is not AS SELECT"),
        ("INSERT INTO t VALUES (1)", "an INSERT that is not of a SELECT"),
        ("DROP VIEW IF EXISTS v SYNC", "more than the name"),
    ],
)
def test_what_is_not_known_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(SchemaError, match=rf"0001_x.sql, statement 2: .*{says}") as caught:
        read(TABLE, text)
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TABLE, "a table without a sharding key"),
        (
            TABLE.replace(" t ", " runs ").replace("a UInt8", "RunId UInt8"),
            "sharding key of RunId, which ORDER BY does not",
        ),
        (TABLE.replace("ReplacingMergeTree(a)", "Memory"), "an engine that cannot be replicated"),
    ],
)
def test_a_table_that_cannot_be_parted_is_refused(text: str, says: str) -> None:
    with pytest.raises(SchemaError, match=says):
        TARGET.create(read(text))


def test_a_view_of_two_tables_is_refused() -> None:
    runs = TABLE.replace(" t ", " runs ").replace("a UInt8", "RunId UInt8").replace("BY a", "BY RunId")
    view = "CREATE OR REPLACE VIEW events AS SELECT a FROM runs JOIN t ON 1"
    with pytest.raises(SchemaError, match="a view of more than one table"):
        TARGET.create(read(runs, view))


def test_changes_lead_to_the_columns_that_are_there_in_the_end() -> None:
    table = read(
        TABLE,
        "ALTER TABLE t ADD COLUMN IF NOT EXISTS c Array(UInt8) CODEC(ZSTD(1)) AFTER a",
        "ALTER TABLE t MODIFY COLUMN c Array(UInt16), DROP COLUMN IF EXISTS b, MODIFY SETTING x = 1, y = 2",
        "ALTER TABLE t UPDATE a = 1, c = [] WHERE a = 2 SETTINGS mutations_sync = 2",
        "ALTER TABLE t MODIFY TTL toDateTime(a) + INTERVAL 1 DAY",
    ).tables["t"]
    assert [column.text() for column in table.columns] == ["a UInt8", "c Array(UInt16) CODEC(ZSTD(1))"]
    assert list(table.tail) == ["ENGINE", "ORDER BY", "TTL", "SETTINGS"]
    assert table.tail["SETTINGS"] == "x = 1, y = 2"


def test_a_later_migration_changes_local_and_distributed_tables() -> None:
    text = "ALTER TABLE runs ADD COLUMN IF NOT EXISTS New UInt8 DEFAULT 7 CODEC(ZSTD(1));"
    text += "\nALTER TABLE runs ADD INDEX i New TYPE minmax;"
    migration = Migration(99, "more", text)
    known = schema_of(shipped())
    made: list[str] = []
    for where, sql, statement in migration.read():
        known = known.after(statement, where)
        made += TARGET.rewritten(statement, sql, known, where)
    local, over, index = made
    assert local == f"ALTER TABLE runs_local ON CLUSTER 'prod' {text.split('runs ', 1)[1].split(';')[0]}"
    assert over.startswith("CREATE OR REPLACE TABLE runs ON CLUSTER 'prod'")
    assert "New UInt8 DEFAULT 7\n)" in over
    assert index == "ALTER TABLE runs_local ON CLUSTER 'prod' ADD INDEX i New TYPE minmax"


@pytest.mark.parametrize("name", ["", "a b", "x'y", "{", "a" * 65])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="no name of a cluster"):
        Cluster(name)


def test_names_in_an_expression() -> None:
    assert ddl.names("cityHash64(Crew, Worker)") == ["Crew", "Worker"]
