"""Query texts over `judgements`, and over what was judged once and is no more. Values are bound, as in `queries`."""

# ruff: noqa: S608 - what is put into a text here is a name of ours, never a value

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_toolselect.store.queries import Select

MOVES_AT_MOST_S = 86_400
"""How far the start of a run may move when late spans arrive, for its earlier decisions to be found."""


def page(columns: Mapping[str, str], wanted: Mapping[str, Any], after: Sequence[Any] | None, limit: int) -> Select:
    """The next decisions after a key. `wanted`: suite, since, until (ns)."""
    known = {
        "suite": "Suite = {suite:String}",
        "since": "StartNs >= {since:UInt64}"
        " AND Hour >= toStartOfHour(toDateTime(intDiv({since:UInt64}, 1000000000), 'UTC'))",
        "until": "StartNs < {until:UInt64} AND Hour <= toDateTime(intDiv({until:UInt64}, 1000000000), 'UTC')",
    }
    params = {name: value for name, value in wanted.items() if value is not None}
    conditions = ["Gone = 0", *(known[name] for name in params)]
    if after is not None:
        conditions.append("(Suite, toUInt32(Hour), RunId, Rule) > ({s:String}, {h:UInt32}, {r:String}, {u:String})")
        params |= dict(zip("shru", after, strict=True))
    chosen = ", ".join(f"{expression} AS `{alias}`" for alias, expression in columns.items())
    sql = f"""SELECT {chosen}, toUInt32(Hour) AS FiledUnder
FROM judgements FINAL
WHERE {" AND ".join(conditions)}
ORDER BY Suite, Hour, RunId, Rule
LIMIT {{limit:UInt32}}"""
    return Select(sql, params | {"limit": limit})


def versions(after: int, limit: int, tenant: str | None = None) -> Select:
    """What was kept after a time, by time: all rows of an insert bear one."""
    sql = f"""SELECT WrittenNs AS At, count() AS Rows FROM judgements
WHERE WrittenNs > {{after:UInt64}}{_of(tenant)} GROUP BY At ORDER BY At LIMIT {{limit:UInt32}}"""
    return Select(sql, {"after": after, "limit": limit, **_named(tenant)})


def of_versions(columns: Mapping[str, str], kept: Sequence[int], tenant: str | None = None) -> Select:
    """Decisions as they were kept then, replaced since or not, in that order. `Kept`: the time."""
    chosen = ", ".join(f"{expression} AS `{alias}`" for alias, expression in columns.items())
    sql = f"""SELECT {chosen}, WrittenNs AS Kept
FROM judgements
WHERE Gone = 0 AND WrittenNs >= {{first:UInt64}} AND WrittenNs <= {{last:UInt64}}
    AND WrittenNs IN {{kept:Array(UInt64)}}{_of(tenant)}
ORDER BY WrittenNs, Suite, Hour, RunId, Rule"""
    return Select(sql, {"first": kept[0], "last": kept[-1], "kept": list(kept), **_named(tenant)})


def _of(tenant: str | None) -> str:
    return "" if tenant is None else " AND Tenant = {tenant:String}"


def _named(tenant: str | None) -> dict[str, str]:
    return {} if tenant is None else {"tenant": tenant}


def standing(suites: Sequence[str], run_ids: Sequence[str], first_hour: int, last_hour: int) -> Select:
    """Keys of the decisions that stand for these runs, filed under hours (epoch seconds) from first to last."""
    sql = """SELECT Suite, toUInt32(Hour) AS FiledUnder, RunId, Rule
FROM judgements FINAL
WHERE Gone = 0 AND Suite IN {suites:Array(String)} AND RunId IN {ids:Array(String)}
    AND Hour >= toDateTime({first:UInt32}, 'UTC') AND Hour <= toDateTime({last:UInt32}, 'UTC')"""
    return Select(sql, {"suites": list(suites), "ids": list(run_ids), "first": first_hour, "last": last_hour})


def starts(run_ids: Sequence[str]) -> Select:
    sql = "SELECT RunId, StartNs FROM runs FINAL WHERE Gone = 0 AND RunId IN {ids:Array(String)}"
    return Select(sql, {"ids": list(run_ids)})


def verdict_keys(suites: Sequence[str], run_ids: Sequence[str]) -> Select:
    sql = """SELECT Suite, RunId FROM verdicts FINAL
WHERE Gone = 0 AND Suite IN {suites:Array(String)} AND RunId IN {ids:Array(String)}"""
    return Select(sql, {"suites": list(suites), "ids": list(run_ids)})


def run_ids_of(trace_ids: Sequence[str]) -> Select:
    sql = """SELECT RunId, arrayIntersect(TraceIds, {ids:Array(String)}) AS Traces
FROM runs FINAL
WHERE Gone = 0 AND hasAny(TraceIds, {ids:Array(String)})
ORDER BY RunId"""
    return Select(sql, {"ids": list(trace_ids)})


SUITES = "SELECT DISTINCT Suite FROM judgements"
BOOKMARK = "SELECT argMax(Place, Version) AS Place FROM bookmarks WHERE Name = {name:String} GROUP BY Name"
