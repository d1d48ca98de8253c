"""Every query text of the store. Values are bound by ClickHouse as `{name:Type}`, never pasted in.

Only two things are put together here: which of our own columns a table has (a Collector's table has none, then an
expression over the Collector's columns stands in), and which filters a caller asked for.
"""

# ruff: noqa: S608 - what is put into a text here is a name of ours, never a value

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.store.cluster import LOCAL, Cluster, local
from otel_toolselect.store.ddl import literal

SPANS, LOGS = "otel_traces", "otel_logs"
MAX_TIME_NS = 2**63 - 1
NAMED = "TraceId IN {ids:Array(String)}"

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
class TraceFilter:
    """Which traces: see `Store.traces`. None means no condition."""

    since_ns: int | None = None
    until_ns: int | None = None
    service: str | None = None
    trace_ids: tuple[str, ...] | None = None

    @property
    def conditions(self) -> list[str]:
        found = []
        if self.since_ns is not None:
            found.append("Timestamp >= fromUnixTimestamp64Nano({since:Int64})")
        if self.until_ns is not None:
            found.append("Timestamp < fromUnixTimestamp64Nano({until:Int64})")
        if self.service is not None:
            found.append("ServiceName = {service:String}")
        if self.trace_ids is not None:
            found.append(NAMED)
        return found

    @property
    def params(self) -> dict[str, Any]:
        values = {
            "since": _in_range(self.since_ns),
            "until": _in_range(self.until_ns),
            "service": self.service,
            "ids": None if self.trace_ids is None else list(self.trace_ids),
        }
        return {name: value for name, value in values.items() if value is not None}


def _in_range(time_ns: int | None) -> int | None:
    return None if time_ns is None else max(0, min(time_ns, MAX_TIME_NS))


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


# alias -> (columns that must be there, expression) in order of preference
_Choice = tuple[tuple[str, ...], str]
_SPAN_SELECT: dict[str, tuple[_Choice, ...]] = {
    "TraceId": (((), "TraceId"),),
    "StartNs": ((("StartNs",), "StartNs"), ((), "toUInt64(toUnixTimestamp64Nano(Timestamp))")),
    "EndNs": (
        (("EndNs",), "EndNs"),
        ((), "toUInt64(toUnixTimestamp64Nano(Timestamp) + toInt64(Duration))"),
    ),
    "SpanId": (((), "SpanId"),),
    "ParentSpanId": (((), "ParentSpanId"),),
    "TraceState": (((), "TraceState"),),
    "SpanName": (((), "SpanName"),),
    "SpanKind": (((), "SpanKind"),),
    # older exporters kept the scope among the attributes
    "ScopeName": ((("ScopeName",), "ScopeName"), ((), "SpanAttributes['otel.scope.name']")),
    "ScopeVersion": ((("ScopeVersion",), "ScopeVersion"), ((), "SpanAttributes['otel.scope.version']")),
    "StatusCode": (((), "StatusCode"),),
    "StatusMessage": ((("StatusMessage",), "StatusMessage"), ((), "''")),
    "Shape": ((("Shape",), "Shape"), ((), "''")),
    "SpanAttributes": (((), "SpanAttributes"),),
    "ResourceAttributes": (((), "ResourceAttributes"),),
    "EventNs": (
        (("EventNs",), "EventNs"),
        ((), "arrayMap(t -> toUInt64(toUnixTimestamp64Nano(t)), Events.Timestamp)"),
    ),
    "EventNames": (((), "Events.Name"),),
    "EventAttributes": (((), "Events.Attributes"),),
    "LinkTraceIds": (((), "Links.TraceId"),),
    "LinkSpanIds": (((), "Links.SpanId"),),
    "LinkTraceStates": (((), "Links.TraceState"),),
    "LinkAttributes": (((), "Links.Attributes"),),
}
_LOG_SELECT: dict[str, tuple[_Choice, ...]] = {
    "TraceId": (((), "TraceId"),),
    "TimeNs": ((("TimeNs",), "TimeNs"), ((), "toUInt64(toUnixTimestamp64Nano(Timestamp))")),
    "ObservedNs": ((("ObservedNs",), "ObservedNs"), ((), "toUInt64(0)")),
    "SpanId": (((), "SpanId"),),
    "EventName": ((("EventName",), "EventName"), ((), "''")),
    "SeverityNumber": (((), "toInt64(SeverityNumber)"),),
    "SeverityText": (((), "SeverityText"),),
    "Body": (((), "Body"),),
    "Shape": ((("Shape",), "Shape"), ((), "''")),
    "LogAttributes": (((), "LogAttributes"),),
    "ResourceAttributes": (((), "ResourceAttributes"),),
    "ScopeName": ((("ScopeName",), "ScopeName"), ((), "''")),
    "ScopeVersion": ((("ScopeVersion",), "ScopeVersion"), ((), "''")),
}
_SELECTS = {SPANS: _SPAN_SELECT, LOGS: _LOG_SELECT}


def _select_list(tables: Tables, table: str) -> str:
    chosen = []
    for alias, choices in _SELECTS[table].items():
        expression = next(sql for needs, sql in choices if all(tables.has(table, name) for name in needs))
        # qualified: an alias may bear the name of the column that it stands for
        chosen.append(f"{expression} AS {alias}" if expression != alias else alias)
    return ",\n    ".join(chosen)


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


def _where(conditions: list[str]) -> str:
    return " AND ".join(conditions) if conditions else "1"


def base_conditions(table: str) -> list[str]:
    """Which rows belong to a trace: log records without a trace id are none's (see `orphan_logs`)."""
    return ["TraceId != ''"] if table == LOGS else []


def _chosen_ids(tables: Tables, conditions: list[str], limit: str = "") -> str:
    """A sub-query for the ids of traces with a record that meets the conditions."""
    parts = [
        f"SELECT TraceId FROM {table} WHERE {_where(base_conditions(table) + conditions)} GROUP BY TraceId{limit}"
        for table in record_tables(tables)
    ]
    return "\n    UNION ALL ".join(parts)


def trace_sizes(tables: Tables, wanted: TraceFilter, after: str | None, limit: int) -> Select | None:
    """The next `limit` trace ids after one, each with the rows and bytes of the whole trace, and how many of the rows
    are log records; None: no tables. Ids that are named alone are looked up as they are, all of them at once.
    """
    if not record_tables(tables):
        return None
    if after is None and wanted.conditions == [NAMED]:
        return Select(_sizes(tables, NAMED), wanted.params)
    conditions = wanted.conditions + ([] if after is None else ["TraceId > {after:String}"])
    ids = _chosen_ids(tables, conditions, " ORDER BY TraceId LIMIT {limit:UInt32}")
    chosen = f"WITH Chosen AS (SELECT DISTINCT TraceId FROM ({ids}) ORDER BY TraceId LIMIT {{limit:UInt32}})\n"
    params = wanted.params | {"limit": limit} | ({} if after is None else {"after": after})
    return Select(chosen + _sizes(tables, "TraceId IN Chosen"), params)


def _sizes(tables: Tables, condition: str) -> str:
    sizes = "\n    UNION ALL ".join(
        f"SELECT TraceId, count() AS Rows, sum({'RowBytes' if tables.has(table, 'RowBytes') else '0'}) AS Bytes,"
        f" {'count()' if table == LOGS else 'toUInt64(0)'} AS Logs"
        f" FROM {table} WHERE {_where([*base_conditions(table), condition])} GROUP BY TraceId"
        for table in record_tables(tables)
    )
    return f"""SELECT TraceId, sum(Rows) AS Rows, sum(Bytes) AS Bytes, sum(Logs) AS Logs
FROM ({sizes})
GROUP BY TraceId
ORDER BY TraceId"""


def records_between(tables: Tables, table: str, first: str, last: str) -> Select | None:
    """All records, spans or logs, of the traces with ids from `first` to `last`."""
    between = ["TraceId >= {first:String}", "TraceId <= {last:String}"]
    return _records(tables, table, between, {"first": first, "last": last})


def records_of(tables: Tables, table: str, trace_ids: Sequence[str]) -> Select | None:
    """All records, spans or logs, of these traces."""
    return _records(tables, table, [NAMED], {"ids": list(trace_ids)})


def _records(tables: Tables, table: str, conditions: list[str], params: dict[str, Any]) -> Select | None:
    if not tables.has(table):
        return None
    sql = f"""SELECT
    {_select_list(tables, table)}
FROM {table}
WHERE {_where(base_conditions(table) + conditions)}
ORDER BY TraceId"""
    return Select(sql, params)


def span_ids(trace_ids: Sequence[str]) -> Select:
    sql = f"""SELECT TraceId, groupUniqArray(SpanId) AS SpanIds
FROM {SPANS} WHERE TraceId IN {{ids:Array(String)}} GROUP BY TraceId"""
    return Select(sql, {"ids": list(trace_ids)})


def orphan_logs(tables: Tables, wanted: TraceFilter) -> Select | None:
    if not tables.has(LOGS):
        return None
    conditions = ["TraceId = ''", *wanted.conditions]
    return Select(f"SELECT\n    {_select_list(tables, LOGS)}\nFROM {LOGS}\nWHERE {_where(conditions)}", wanted.params)


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
    sql = f"SELECT {chosen}\nFROM {table} FINAL\nWHERE {_where(conditions)}\nORDER BY {key}\nLIMIT {{limit:UInt32}}"
    return Select(sql, params | {"limit": limit})


def _standing(tables: Tables, table: str) -> list[str]:
    """Of rows that can be marked as gone, those that are not."""
    return ["Gone = 0"] if tables.has(table, "Gone") else []


CATALOGS = "SELECT ToolsKey, any(Tools) AS Tools FROM catalogs WHERE ToolsKey IN {keys:Array(String)} GROUP BY ToolsKey"


def scopes(tables: Tables) -> str | None:
    """Figures per service and scope."""
    if not tables.has(SPANS):
        return None
    scope, version = (
        next(sql for needs, sql in _SPAN_SELECT[name] if all(tables.has(SPANS, need) for need in needs))
        for name in ("ScopeName", "ScopeVersion")
    )
    return f"""SELECT
    ServiceName AS Service, {scope} AS Scope, {version} AS Version, count() AS Spans, uniqExact(TraceId) AS Traces,
    toUInt64(min(toUnixTimestamp64Nano(Timestamp))) AS First, toUInt64(max(toUnixTimestamp64Nano(Timestamp))) AS Last
FROM {tables.source(SPANS)}
GROUP BY Service, Scope, Version
ORDER BY Service, Scope, Version"""


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
        where = _where([*_standing(tables, table), condition])
        counted = f"(SELECT count() FROM {tables.source(table)} WHERE {where})" if tables.has(table) else "0"
        parts.append(f"{counted} AS {alias}")
    return "SELECT " + ", ".join(parts)
