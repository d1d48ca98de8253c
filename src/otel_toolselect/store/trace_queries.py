"""Query texts for spans and log records by trace (see `trace_rows`). A Collector's table has none of our own columns:
then an expression over the Collector's columns stands in.
"""

# ruff: noqa: S608 - what is put into a text here is a name of ours, never a value

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.store.queries import (
    LOGS,
    MAX_TIME_NS,
    SPANS,
    Select,
    Tables,
    base_conditions,
    record_tables,
    where,
)

NAMED = "TraceId IN {ids:Array(String)}"


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


def _chosen_ids(tables: Tables, conditions: list[str], limit: str = "") -> str:
    """A sub-query for the ids of traces with a record that meets the conditions."""
    parts = [
        f"SELECT TraceId FROM {table} WHERE {where(base_conditions(table) + conditions)} GROUP BY TraceId{limit}"
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
        f" FROM {table} WHERE {where([*base_conditions(table), condition])} GROUP BY TraceId"
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
WHERE {where(base_conditions(table) + conditions)}
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
    return Select(f"SELECT\n    {_select_list(tables, LOGS)}\nFROM {LOGS}\nWHERE {where(conditions)}", wanted.params)


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
