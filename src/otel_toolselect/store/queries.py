"""Every query text of the store. Values are bound by ClickHouse as `{name:Type}`, never pasted in.

Only two things are put together here: which of our own columns a table has (a Collector's table has none, then an
expression over the Collector's columns stands in), and which filters a caller asked for.
"""

# ruff: noqa: S608 - what is put into a text here is a name of ours, never a value

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.store.cluster import LOCAL, Cluster, local
from otel_toolselect.store.ddl import literal

SPANS, LOGS = "otel_traces", "otel_logs"
MAX_TIME_NS = 2**63 - 1

# String as Arrow binary: a String may hold any bytes; words of few kinds travel once, with numbers in their place
READ_SETTINGS = (
    "\nSETTINGS output_format_arrow_string_as_string = 0, output_format_arrow_low_cardinality_as_dictionary = 1,"
    " optimize_aggregation_in_order = 1"
)

TABLE_COLUMNS = "SELECT table, name FROM system.columns WHERE database = currentDatabase()"
TABLE_ENGINES = "SELECT name, engine FROM system.tables WHERE database = currentDatabase()"
STORAGE_VOLUMES = (
    "SELECT policy_name AS Policy, volume_name AS Volume FROM system.storage_policies ORDER BY Policy, volume_priority"
)
TABLE_TEXT = (
    "SELECT create_table_query AS Text FROM system.tables WHERE database = currentDatabase() AND name = {name:String}"
)
TABLE_TEXTS = "SELECT name AS Name, create_table_query AS Text FROM system.tables WHERE database = currentDatabase()"
ENGINE_VERSION = "SELECT version() AS Version"
ENGINE_TEXT = (
    "SELECT engine AS Engine, engine_full AS Text FROM system.tables"
    " WHERE database = currentDatabase() AND name = {name:String}"
)
NOW = "SELECT toUnixTimestamp64Nano(now64(9, 'UTC')) AS Now"
DATABASE_EXISTS = "SELECT count() AS n FROM system.databases WHERE name = {name:String}"
CREATE_DATABASE = "CREATE DATABASE IF NOT EXISTS {name:Identifier}"

CREATE_MIGRATIONS = """
CREATE TABLE IF NOT EXISTS toolselect_migrations
(
    Number UInt32,
    Name String,
    Checksum String,
    AppliedAt DateTime64(9, 'UTC') DEFAULT now64(9, 'UTC')
)
ENGINE = ReplacingMergeTree(AppliedAt)
ORDER BY Number
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1
"""
APPLIED_MIGRATIONS = "SELECT Number, Name, Checksum FROM toolselect_migrations FINAL ORDER BY Number"


@dataclass(frozen=True, slots=True)
class Select:
    """A query and its values."""

    sql: str
    params: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Tables:
    """The columns and engines that are there, by table name."""

    columns: Mapping[str, Collection[str]] = field(default_factory=dict)
    engines: Mapping[str, str] = field(default_factory=dict)

    def has(self, table: str, column: str | None = None) -> bool:
        found = self.columns.get(table)
        return found is not None and (column is None or column in found)

    def foreign(self, table: str) -> bool:
        """Whether the table is there without our columns: a Collector made it."""
        return self.has(table) and not self.has(table, "Shape")

    def source(self, table: str) -> str:
        """The table to read from, without superseded rows where its engine knows them."""
        engine = self.engines.get(local(table), self.engines.get(table, ""))
        return f"{table} FINAL" if "Replacing" in engine else table


def found_tables(columns: Mapping[str, list[Any]], engines: Mapping[str, list[Any]]) -> Tables:
    """What `TABLE_COLUMNS` and `TABLE_ENGINES` found."""
    by_table: dict[str, set[str]] = {}
    for table, name in zip(columns.get("table", ()), columns.get("name", ()), strict=True):
        by_table.setdefault(table, set()).add(name)
    return Tables(by_table, dict(zip(engines.get("name", ()), engines.get("engine", ()), strict=True)))


def table_sizes(cluster: Cluster | None) -> str:
    """Rows, parts and bytes of the tables; on a cluster of one replica of each shard."""
    parts = f"cluster({literal(cluster.name)}, system.parts)" if cluster else "system.parts"
    return f"""SELECT replaceRegexpOne(table, '{LOCAL}$', '') AS table, sum(rows) AS Rows, count() AS Parts,
    sum(bytes_on_disk) AS Bytes
FROM {parts} WHERE active AND database = currentDatabase() GROUP BY table ORDER BY table"""


SERVERS = """SELECT toUInt32(shard_num) AS Shard, host_name AS Host FROM system.clusters
WHERE cluster = {name:String} ORDER BY shard_num, replica_num"""


def replicas(cluster: Cluster) -> str:
    """What the replicated tables of this database say, by the name that each server has for itself."""
    return f"""SELECT hostName() AS Host, toUInt64(sum(is_readonly)) AS Readonly,
    toUInt64(max(absolute_delay)) AS Delay, toUInt64(sum(queue_size)) AS Waiting
FROM clusterAllReplicas({literal(cluster.name)}, system.replicas)
WHERE database = currentDatabase() GROUP BY Host"""


def record_tables(tables: Tables) -> list[str]:
    """Those of the tables of spans and log records that are there."""
    return [table for table in (SPANS, LOGS) if tables.has(table)]


def where(conditions: list[str]) -> str:
    return " AND ".join(conditions) if conditions else "1"


def base_conditions(table: str) -> list[str]:
    """Which rows belong to a trace: log records without a trace id are none's (see `orphan_logs`)."""
    return ["TraceId != ''"] if table == LOGS else []


def newest_version(table: str) -> str:
    return f"SELECT max(Version) AS Version FROM {table}"


def runs(
    tables: Tables, columns: Mapping[str, str], wanted: Mapping[str, Any], after: str | None, limit: int
) -> Select:
    """The next runs after an id. `columns`: alias -> expression; `wanted`: suite, ids, since, until."""
    known = {
        "suite": "Suite = {suite:String}",
        "ids": "RunId IN {ids:Array(String)}",
        "since": "StartNs >= {since:UInt64}",
        "until": "StartNs < {until:UInt64}",
        "after": "RunId > {after:String}",
    }
    return _keyed(tables, "runs", "RunId", columns, known, dict(wanted) | {"after": after}, limit)


def verdicts(
    tables: Tables,
    columns: Mapping[str, str],
    wanted: Mapping[str, Any],
    after: tuple[str, str] | None,
    limit: int,
) -> Select:
    """The next verdicts after a (suite, run id). `wanted`: suite, since, until."""
    known = {
        "suite": "Suite = {suite:String}",
        "since": "StartNs >= {since:UInt64}",
        "until": "StartNs < {until:UInt64}",
        "after_suite": "(Suite, RunId) > ({after_suite:String}, {after_run:String})",
    }
    place = {} if after is None else {"after_suite": after[0], "after_run": after[1]}
    return _keyed(tables, "verdicts", "Suite, RunId", columns, known, dict(wanted) | place, limit)


def _keyed(
    tables: Tables,
    table: str,
    key: str,
    columns: Mapping[str, str],
    known: Mapping[str, str],
    values: Mapping[str, Any],
    limit: int,
) -> Select:
    params = {name: value for name, value in values.items() if value is not None}
    conditions = [*_standing(tables, table), *(text for name, text in known.items() if name in params)]
    chosen = ", ".join(f"{expression} AS `{alias}`" for alias, expression in columns.items())
    sql = f"SELECT {chosen}\nFROM {table} FINAL\nWHERE {where(conditions)}\nORDER BY {key}\nLIMIT {{limit:UInt32}}"
    return Select(sql, params | {"limit": limit})


def _standing(tables: Tables, table: str) -> list[str]:
    """Of rows that can be marked as gone, those that are not."""
    return ["Gone = 0"] if tables.has(table, "Gone") else []


CATALOGS = "SELECT ToolsKey, any(Tools) AS Tools FROM catalogs WHERE ToolsKey IN {keys:Array(String)} GROUP BY ToolsKey"


def counts(tables: Tables) -> str:
    """Rows of each of our tables, 0 where there is no such table."""
    wanted = {
        "Spans": (SPANS, "1"),
        "Logs": (LOGS, "1"),
        "OrphanLogs": (LOGS, "TraceId = ''"),
        "Runs": ("runs", "1"),
        "Verdicts": ("verdicts", "1"),
    }
    parts = []
    for alias, (table, condition) in wanted.items():
        met = where([*_standing(tables, table), condition])
        counted = f"(SELECT count() FROM {tables.source(table)} WHERE {met})" if tables.has(table) else "0"
        parts.append(f"{counted} AS {alias}")
    return "SELECT " + ", ".join(parts)
