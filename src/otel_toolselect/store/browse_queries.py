"""Query texts of lists, facets, suites, cases and catalogs. Values are bound, as in `queries`."""

# ruff: noqa: S608 - what is put into a text here is a name of ours, never a value

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.store.browse_api import COUNTED, Facet, RunFilter, Sort
from otel_toolselect.store.browse_conditions import Conditions, Slice, limit, listed
from otel_toolselect.store.queries import Select

EXCERPT = 300
CATALOG_AGENTS = 20

# (whether it is missing, then it comes last whatever the direction; value; ClickHouse type of a value)
_SORTED_BY: dict[Sort, tuple[str, str, str]] = {
    "start": ("", "StartNs", "UInt64"),
    "duration": ("isNull(DurationNs)", "ifNull(DurationNs, 0)", "Int64"),
    "tokens": (
        "isNull(InputTokens) AND isNull(OutputTokens)",
        "toInt128(ifNull(InputTokens, 0)) + toInt128(ifNull(OutputTokens, 0))",
        "Int128",
    ),
    "cost": ("isNull(CostUsd)", "ifNull(CostUsd, 0)", "Float64"),
    "calls": ("", "length(Calls)", "UInt64"),
}


@dataclass(frozen=True, slots=True)
class Place:
    """A place in an order: what is sorted by (`missing`: 1 when the run has none), then the id."""

    missing: int
    value: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Order:
    """`backwards`: read from the place towards the beginning, nearest first."""

    sort: Sort = "start"
    descending: bool = True
    backwards: bool = False

    @property
    def down(self) -> bool:
        """Whether values fall as they are read."""
        return self.descending != self.backwards


def page(of: RunFilter, tenant: str | None, part: Slice, order: Order, after: Place | None, rows: int) -> Select:
    """Rows of (RunId, FiledUnder, Missing, Value) after a place."""
    missing, value, kind = _SORTED_BY[order.sort]
    where = listed(of, tenant, part)
    if after is not None:
        _after(where, order, kind, after)
    way, last = ("DESC" if order.down else "ASC"), ("DESC" if order.backwards else "ASC")
    # no constant among what is sorted by: the engine would sort all rows instead of keeping the first
    keys = [f"{missing} {last}"] * bool(missing) + [f"{value} {way}", f"RunId {way}"]
    sql = f"""SELECT RunId, toUInt32(Hour) AS FiledUnder, toUInt8({missing or 0}) AS Missing, toString({value}) AS Value
FROM judgements FINAL
WHERE {where}
ORDER BY {", ".join(keys)}
LIMIT {{rows:UInt32}}"""
    return Select(sql, where.params | {"rows": rows})


def _after(where: Conditions, order: Order, kind: str, place: Place) -> None:
    missing, value, _ = _SORTED_BY[order.sort]
    sign, missing_sign = ("<" if order.down else ">"), ("<" if order.backwards else ">")
    bound = f"{{value:{kind}}}"
    text = f"({value} {sign} {bound} OR ({value} = {bound} AND RunId {sign} {{id:String}}))"
    if missing:
        flag = f"toUInt8({missing})"
        text = f"({flag} {missing_sign} {{missing:UInt8}} OR ({flag} = {{missing:UInt8}} AND {text}))"
        where.params["missing"] = place.missing
    where.add(text, value=place.value, id=place.run_id)


def place_of(sort: Sort, run_id: str, start_ns: int) -> Select:
    """Where a run stands in an order: a row of (Missing, Value)."""
    missing, value, _ = _SORTED_BY[sort]
    where = Conditions(["Suite = ''", "Gone = 0"])
    limit(where, None, Slice(start_ns, start_ns + 1))
    where.add("RunId = {id:String}", id=run_id)
    sql = f"SELECT toUInt8({missing or 0}) AS Missing, toString({value}) AS Value FROM judgements FINAL WHERE {where}"
    return Select(sql, where.params)


def count(of: RunFilter, tenant: str | None, part: Slice) -> Select:
    where = listed(of, tenant, part)
    sql = f"SELECT count() AS N FROM (SELECT 1 FROM judgements FINAL WHERE {where} LIMIT {{most:UInt32}})"
    return Select(sql, where.params | {"most": COUNTED + 1})


def newest(tenant: str | None, part: Slice) -> Select:
    """The last hour with a run, in seconds; 0 where there is none."""
    where = Conditions(["Suite = ''", "Gone = 0"])
    limit(where, tenant, part)
    return Select(f"SELECT toUInt32(max(Hour)) AS Newest FROM judgements WHERE {where}", where.params)


def oldest(tenant: str | None) -> Select:
    """A row of 0 where there is no run."""
    where = Conditions(["Suite = ''", "Gone = 0"])
    limit(where, tenant, Slice())
    return Select(f"SELECT min(StartNs) AS First FROM judgements WHERE {where}", where.params)


_FACTS = (
    "RunId", "TraceId", "StartNs", "FirstAction", "ObservedClass", "Agent", "ServiceName", "Model", "Provider",
    "PromptVersion", "CatalogId", "CaseId", "Label", "Excluded", "DurationNs", "InputTokens", "OutputTokens",
    "CostUsd", "Ghosts", "length(Calls) AS CallCount",
)  # fmt: skip
_SAYS = (
    "RunId", "Status", "Failure", "Owner", "Excluded", "Severity", "Origin",
    "arrayElementOrNull(Expected, 1) AS Wanted", "arrayElementOrNull(Observed, 1) AS Got",
)  # fmt: skip


def facts(run_ids: Sequence[str], hours: Sequence[int], tenant: str | None) -> Select:
    """What these runs are, of those that are filed under these hours."""
    return _as_they_stand(_FACTS, "Suite = ''", run_ids, hours, tenant)


def standings(run_ids: Sequence[str], hours: Sequence[int], tenant: str | None) -> Select:
    """What expectations say of these runs, in order of suite and rule."""
    return _as_they_stand(_SAYS, "Suite != ''", run_ids, hours, tenant)


def _as_they_stand(
    chosen: Sequence[str], which: str, run_ids: Sequence[str], hours: Sequence[int], tenant: str | None
) -> Select:
    """As FINAL finds them, in half the time: it would read all columns of what lies around a few rows far apart."""
    params: dict[str, Any] = {"hours": list(hours), "ids": list(run_ids)}
    only = ""
    if tenant is not None:
        only, params["only"] = " AND Tenant = {only:String}", tenant
    sql = f"""SELECT * FROM
(
    SELECT {", ".join(chosen)}, Suite, Rule, Tenant, Gone
    FROM judgements
    PREWHERE {which} AND Hour IN {{hours:Array(UInt32)}} AND RunId IN {{ids:Array(String)}}
    ORDER BY RunId, Suite, Rule, Hour, Version DESC
    LIMIT 1 BY RunId, Suite, Rule, Hour
)
WHERE Gone = 0{only}
ORDER BY RunId, Suite, Rule"""
    return Select(sql, params)


def excerpts(run_ids: Sequence[str]) -> Select:
    sql = f"""SELECT RunId, substringUTF8(Request, 1, {EXCERPT}) AS Excerpt
FROM runs
WHERE Gone = 0 AND RunId IN {{ids:Array(String)}}
ORDER BY Version DESC LIMIT 1 BY RunId"""
    return Select(sql, {"ids": list(run_ids)})


def starts(run_ids: Sequence[str]) -> Select:
    sql = "SELECT RunId, StartNs FROM runs FINAL WHERE Gone = 0 AND RunId IN {ids:Array(String)}"
    return Select(sql, {"ids": list(run_ids)})


def children(run_id: str, trace_ids: Sequence[str]) -> Select:
    sql = """SELECT RunId FROM runs FINAL
WHERE Gone = 0 AND hasAny(TraceIds, {ids:Array(String)}) AND ParentRunId = {id:String}
ORDER BY StartNs, RunId LIMIT 1000"""
    return Select(sql, {"id": run_id, "ids": list(trace_ids)})


def verdicts(columns: Mapping[str, str], suites: Sequence[str], run_id: str) -> Select:
    chosen = ", ".join(f"{expression} AS `{alias}`" for alias, expression in columns.items())
    sql = f"""SELECT {chosen}
FROM verdicts FINAL
WHERE Gone = 0 AND Suite IN {{suites:Array(String)}} AND RunId = {{id:String}}
ORDER BY Suite"""
    return Select(sql, {"suites": list(suites), "id": run_id})


FACT_FACETS: Mapping[Facet, str] = {
    "agent": "Agent", "service": "ServiceName", "model": "Model", "provider": "Provider", "prompt": "PromptVersion",
    "catalog": "CatalogId", "tenant": "Tenant", "label": "Label", "first_action": "FirstAction", "case": "CaseId",
}  # fmt: skip
SAID_FACETS: Mapping[Facet, str] = {
    "suite": "Suite", "status": "Status", "failure": "Failure", "owner": "Owner", "origin": "Origin",
}  # fmt: skip


def facets(names: Sequence[Facet], part: Slice, tenant: str | None, most: int, *, said: bool) -> Select:
    """Rows of (Kind, Value, N); Kind counts the names from 0. Values of one kind of rows: of an expectation or not."""
    columns = [(SAID_FACETS if said else FACT_FACETS)[name] for name in names]
    where = Conditions(["Gone = 0", "Suite != '' AND Counts = 1" if said else "Suite = ''"])
    limit(where, tenant, part)
    kinds = ", ".join(f"grouping({c}) = 0" for c in columns)
    value = ", ".join(f"if(grouping({c}) = 0, toString({c}), '')" for c in columns)
    sql = f"""SELECT toUInt8(indexOf([{kinds}], 1) - 1) AS Kind, concat({value}, '') AS Value, count() AS N
FROM judgements
WHERE {where}
GROUP BY GROUPING SETS ({", ".join(f"({c})" for c in columns)})
HAVING Value != ''
ORDER BY Kind, N DESC, Value
LIMIT {{most:UInt32}} BY Kind"""
    return Select(sql, where.params | {"most": most})


def facet_rules(part: Slice, tenant: str | None, most: int) -> Select:
    where = Conditions(["Gone = 0", "Suite != '' AND Rule != '' AND Counts = 1"])
    limit(where, tenant, part)
    sql = f"""SELECT concat(Suite, '/', Rule) AS Value, count() AS N FROM judgements WHERE {where}
GROUP BY Value ORDER BY N DESC, Value LIMIT {{most:UInt32}}"""
    return Select(sql, where.params | {"most": most})


def facet_called(part: Slice, tenant: str | None, most: int) -> Select:
    where = Conditions(["Gone = 0", "Suite = ''"])
    limit(where, tenant, part)
    sql = f"""SELECT toString(Value) AS Value, count() AS N
FROM (SELECT arrayJoin(arrayDistinct(Calls)) AS Value FROM judgements WHERE {where})
GROUP BY Value ORDER BY N DESC, Value LIMIT {{most:UInt32}}"""
    return Select(sql, where.params | {"most": most})


def suites(part: Slice, tenant: str | None, suite: str | None, most: int) -> Select:
    where = Conditions(["Gone = 0", "Suite != ''"])
    if suite is not None:
        where.add("Suite = {suite:String}", suite=suite)
    limit(where, tenant, part)
    sql = f"""SELECT toString(Suite) AS Name, toString(Rule) AS RuleName, count() AS N, uniqExact(CaseId) AS Cases,
    sumMap(map(toString(Status), toUInt64(1))) AS Statuses, min(StartNs) AS First, max(StartNs) AS Last,
    any(toString(Origin)) AS From
FROM judgements FINAL
WHERE {where}
GROUP BY Name, RuleName
ORDER BY Name, RuleName
LIMIT {{most:UInt32}}"""
    return Select(sql, where.params | {"most": most})


def _of_suite(suite: str, part: Slice, tenant: str | None) -> Conditions:
    where = Conditions(["Gone = 0"])
    where.add("Suite = {suite:String}", suite=suite)
    limit(where, tenant, part)
    return where


def cases(suite: str, part: Slice, tenant: str | None, *, case_id: str | None, after: str | None, most: int) -> Select:
    where = _of_suite(suite, part, tenant)
    if case_id is not None:
        where.add("CaseId = {case:String}", case=case_id)
    if after is not None:
        where.add("CaseId > {after:String}", after=after)
    sql = f"""SELECT toString(CaseId) AS Name, count() AS N, sumMap(map(toString(Status), toUInt64(1))) AS Statuses,
    min(StartNs) AS First, max(StartNs) AS Last
FROM judgements FINAL
WHERE {where}
GROUP BY Name
ORDER BY Name
LIMIT {{most:UInt32}}"""
    return Select(sql, where.params | {"most": most})


def case_runs(
    suite: str, case_ids: Sequence[str], part: Slice, tenant: str | None, recent: int, *, failed: bool
) -> Select:
    """The latest runs of each case, newest first; `failed`: of those that failed."""
    where = _of_suite(suite, part, tenant)
    where.add("CaseId IN {cases:Array(String)}", cases=list(case_ids))
    if failed:
        where.add("Status = 'fail'")
    sql = f"""SELECT CaseId, RunId, StartNs, Status, FirstAction, Selection, Excluded, Failure, Owner, Label, Model,
    arrayElementOrNull(Expected, 1) AS Wanted, arrayElementOrNull(Observed, 1) AS Got
FROM judgements FINAL
WHERE {where}
ORDER BY CaseId, StartNs DESC, RunId DESC, Rule
LIMIT {{recent:UInt32}} BY CaseId"""
    return Select(sql, where.params | {"recent": recent})


def catalogs(part: Slice, tenant: str | None, catalog_id: str | None, most: int) -> Select:
    where = Conditions(["Suite = ''", "Gone = 0", "CatalogId != ''"])
    limit(where, tenant, part)
    if catalog_id is not None:
        where.add("CatalogId = {catalog:String}", catalog=catalog_id)
    sql = f"""SELECT toString(CatalogId) AS Id, count() AS N, min(StartNs) AS First, max(StartNs) AS Last,
    arraySort(groupUniqArray({CATALOG_AGENTS})(if(Agent = '', toString(ServiceName), toString(Agent)))) AS Agents,
    arraySort(groupUniqArray({CATALOG_AGENTS})(toString(Model))) AS Models
FROM judgements FINAL
WHERE {where}
GROUP BY Id
ORDER BY N DESC, Id
LIMIT {{most:UInt32}}"""
    return Select(sql, where.params | {"most": most})


TOOL_NAMES = """SELECT CatalogId AS Id, any(Names) AS Tools FROM catalogs
WHERE CatalogId IN {ids:Array(String)} GROUP BY CatalogId"""
TOOLS = """SELECT Tools FROM catalogs WHERE CatalogId = {id:String} ORDER BY Tools LIMIT 1"""
