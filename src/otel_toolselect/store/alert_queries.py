"""Query texts over what a monitor keeps, and of what it asks besides figures. Values are bound, as in `queries`."""

# ruff: noqa: S608 - what is put into a text here is a name or an expression of ours, never a value

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_toolselect.model.alerting import Query, Window
from otel_toolselect.store.queries import MAX_TIME_NS, SPANS, Select
from otel_toolselect.store.signal_figures import DIMENSIONS
from otel_toolselect.store.window_queries import scope_conditions

RECORDS = """SELECT Alert, Series, State, toUnixTimestamp64Nano(Since) AS SinceNs,
    toUnixTimestamp64Nano(Through) AS ThroughNs, Says, Record
FROM alerts FINAL ORDER BY Alert, Series"""
SILENCES = "SELECT Id, FromNs, UntilNs, Author, Comment, Matchers FROM silences FINAL ORDER BY Id"
SETTLED = """SELECT DISTINCT Key, Receiver FROM notifications FINAL
WHERE Key IN {keys:Array(String)} AND Outcome IN ('delivered', 'dead', 'unrouted')"""

# the store's clock alone; one that went on asking keeps its place, after a gap it begins anew
CLAIM = """INSERT INTO leases (Name, Owner, Since, Expires, At)
SELECT {name:String}, {owner:String},
    if(argMax(Expires, At) > now64(9, 'UTC'), argMax(Since, At), now64(9, 'UTC')),
    now64(9, 'UTC') + toIntervalMillisecond({ms:UInt64}), now64(9, 'UTC')
FROM leases WHERE Name = {name:String} AND Owner = {owner:String}"""
RELEASE = """INSERT INTO leases (Name, Owner, Since, Expires, At)
SELECT {name:String}, {owner:String}, now64(9, 'UTC'), now64(9, 'UTC'), now64(9, 'UTC')"""
HOLDER = """SELECT Owner, dateDiff('millisecond', Since, now64(9, 'UTC')) AS HeldMs
FROM leases FINAL
WHERE Name = {name:String} AND Expires > now64(9, 'UTC')
ORDER BY Since, Owner LIMIT 1"""

NEWEST_JUDGEMENT = "SELECT max(WrittenNs) AS Newest FROM judgements"
TOUCHED = """SELECT toUInt32(Hour) AS Filed, minIf(StartNs, Gone = 0) AS First, maxIf(StartNs, Gone = 0) AS Last,
    max(Gone) AS Withdrawn, max(WrittenNs) AS Newest
FROM judgements
WHERE WrittenNs > {after:UInt64} AND Hour >= toStartOfHour(toDateTime(intDiv({since:UInt64}, 1000000000), 'UTC'))
GROUP BY Hour ORDER BY Hour"""


def sendings(wanted: Mapping[str, Any], limit: int) -> Select:
    """`wanted`: since, until (ns), alert, outcome."""
    known = {
        "since": "AtNs >= {since:UInt64}",
        "until": "AtNs < {until:UInt64}",
        "alert": "Alert = {alert:String}",
        "outcome": "Outcome = {outcome:String}",
    }
    params = {name: value for name, value in wanted.items() if value is not None}
    sql = f"""SELECT Key, Receiver, Outcome, Alert, Kind, AtNs, SettledNs, Record, Says, Attempts, Error
FROM notifications FINAL
WHERE {" AND ".join(known[name] for name in params) or "1"}
ORDER BY AtNs DESC, SettledNs DESC, Key DESC, Receiver LIMIT {{limit:UInt32}}"""
    return Select(sql, params | {"limit": limit})


def sightings(query: Query, *, facts: bool, since_ns: int, until_ns: int) -> Select:
    """Rows of (B0.., Model, PromptVersion, CatalogId, Label, First, N). What was written twice counts twice in N."""
    by = [DIMENSIONS[name] for name in query.by if name != "tool"]
    where, params = scope_conditions(query.of, facts, "", query.by)
    keys = [f"B{i}" for i in range(len(by))]
    identity = ["Model", "PromptVersion", "CatalogId", "Label"]
    named = [f"{expression} AS {key}" for expression, key in zip(by, keys, strict=True)]
    sql = f"""SELECT {", ".join([*named, *identity])}, min(StartNs) AS First, count() AS N
FROM judgements
WHERE Gone = 0 AND StartNs >= {{since:UInt64}} AND StartNs < {{until:UInt64}}
    AND Hour >= toStartOfHour(toDateTime(intDiv({{since:UInt64}}, 1000000000), 'UTC'))
    AND Hour <= toDateTime(intDiv({{until:UInt64}}, 1000000000), 'UTC') AND {" AND ".join(where) or "1"}
GROUP BY {", ".join([*keys, *identity])}
ORDER BY First"""
    return Select(sql, params | {"since": max(0, since_ns), "until": min(until_ns, MAX_TIME_NS)})


def lag(query: Query, windows: Sequence[Window]) -> Select:
    """Rows of (W, B0.., N, Value) over spans by when they were stored."""
    keys = [f"B{i}" for i in range(len(query.by))]
    named = [f"ServiceName AS {key}" for key in keys]
    service = "AND ServiceName IN {service:Array(String)}" if query.of.service else ""
    starts, ends = [w.start_ns for w in windows], [w.end_ns for w in windows]
    received = "toUnixTimestamp64Nano(ReceivedAt)"
    sql = f"""SELECT {", ".join(["toUInt32(W) AS W", *named])}, count() AS N,
    quantileTDigest(0.95)(greatest(0, {received} - toUnixTimestamp64Nano(Timestamp) - toInt64(Duration)) / 1e9) AS Value
FROM {SPANS}
ARRAY JOIN arrayFilter(
    i -> {received} >= {{starts:Array(Int64)}}[i] AND {received} < {{ends:Array(Int64)}}[i],
    arrayEnumerate({{starts:Array(Int64)}})) AS W
WHERE ReceivedAt >= fromUnixTimestamp64Nano({{first:Int64}})
    AND ReceivedAt < fromUnixTimestamp64Nano({{last:Int64}}) {service}
GROUP BY {", ".join(["W", *keys])}
ORDER BY {", ".join(["W", *keys])}"""
    params: dict[str, Any] = {"first": min(starts), "last": max(ends), "starts": starts, "ends": ends}
    return Select(sql, params | ({"service": list(query.of.service)} if query.of.service else {}))
