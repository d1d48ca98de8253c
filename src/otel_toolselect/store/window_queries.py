"""Query texts for figures over windows. Rows are first counted by slice (from one boundary of any window to the next),
so that each is read once however windows overlap; slices then add up to windows.
"""

# ruff: noqa: S608 - what is put into a text here is an expression of ours, never a value

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from otel_toolselect.model.alerting import Query, Scope, Window
from otel_toolselect.model.decisions import LABELS
from otel_toolselect.store.queries import MAX_TIME_NS, Select
from otel_toolselect.store.signal_figures import DIMENSIONS, FIGURES, JOINS, LISTS, MIXES, Grain

_RANGE = [
    "Gone = 0",
    "Hour >= toStartOfHour(toDateTime(intDiv({first:UInt64}, 1000000000), 'UTC'))",
    "Hour <= toDateTime(intDiv({last:UInt64}, 1000000000), 'UTC')",
    "StartNs >= {first:UInt64}",
    "StartNs < {last:UInt64}",
]


def figures(query: Query, windows: Sequence[Window]) -> Select:
    """Rows of (W, B0.., N, Hits, Value): window (from 1), values of `by`, and what was counted. Needs a window."""
    figure = FIGURES[query.signal]
    by = [_dimension(name, figure.tool) for name in query.by] + ([figure.split] if figure.split else [])
    listed = figure.grain in LISTS
    conditions, params = scope_conditions(query.of, figure.facts, "" if listed else figure.tool, query.by)
    hit = f"{figure.hit} AND Tool IN {{tool:Array(String)}}" if listed and query.of.tool else figure.hit
    counted = [f"sum({figure.n}) AS N", f"sum({hit}) AS Hits"]
    total = ["sum(N) AS N", "sum(Hits) AS Hits"]
    if figure.kind == "quantile":
        counted.append(f"quantileTDigestStateIf({figure.level})(toFloat64(ifNull({figure.value}, 0)), {figure.n}) AS V")
        total.append(f"quantileTDigestMerge({figure.level})(V) AS Value")
    return _sliced(by, counted, total, figure.grain, conditions, params, windows)


def mix(query: Query, windows: Sequence[Window]) -> Select:
    """Rows of (W, B0.., What, N): how often each value came, for tests of drift."""
    grain, what, facts = MIXES[query.signal]
    by = [_dimension(name, "FirstAction") for name in query.by]
    conditions, params = scope_conditions(query.of, facts, "FirstAction", query.by)
    conditions.append("Excluded = ''")
    return _sliced([*by, f"toString({what})"], ["count() AS N"], ["sum(N) AS N"], grain, conditions, params, windows)


def confusion(of: Scope, by: Sequence[str], windows: Sequence[Window]) -> Select:
    """Rows of (W, B0.., Bk, Bk+1, N): how often each pair came, the expected before the observed. Needs a window."""
    conditions, params = scope_conditions(of, False, "Wanted", by)
    if of.pair is not None:
        conditions.append("Wanted = {expected:String} AND Got = {observed:String}")
    named = [*(_dimension(name, "Wanted") for name in by), "Wanted", "Got"]
    return _sliced(named, ["count() AS N"], ["sum(N) AS N"], "cell", conditions, params, windows)


def _sliced(
    by: Sequence[str],
    counted: Sequence[str],
    total: Sequence[str],
    grain: Grain,
    conditions: Sequence[str],
    params: dict[str, Any],
    windows: Sequence[Window],
) -> Select:
    named = [f"{expression} AS B{i}" for i, expression in enumerate(by)]
    keys = [f"B{i}" for i in range(len(by))]
    # one level over the table, so that on a cluster each shard counts its own rows; those conditions that name no
    # joined value are carried out before arrays are joined, by the engine
    sql = f"""WITH Slices AS
(
    SELECT {", ".join(["roundDown(StartNs, {bounds:Array(UInt64)}) AS Slice", *named, *counted])}
    FROM judgements FINAL
    {JOINS[grain]}
    WHERE {" AND ".join([*_RANGE, *conditions])}
    GROUP BY {", ".join(["Slice", *keys])}
)
SELECT {", ".join(["toUInt32(W) AS W", *keys, *total])}
FROM Slices
ARRAY JOIN arrayFilter(
    i -> Slice >= {{starts:Array(UInt64)}}[i] AND Slice < {{ends:Array(UInt64)}}[i],
    arrayEnumerate({{starts:Array(UInt64)}})) AS W
GROUP BY {", ".join(["W", *keys])}
ORDER BY {", ".join(["W", *keys])}"""
    starts, ends = [_time(w.start_ns) for w in windows], [_time(w.end_ns) for w in windows]
    bounds = sorted({*starts, *ends})
    times = {"first": bounds[0], "last": bounds[-1], "bounds": bounds, "starts": starts, "ends": ends}
    return Select(sql, params | times)


def scope_conditions(of: Scope, facts: bool, tool: str, by: Sequence[str] = ()) -> tuple[list[str], dict[str, Any]]:
    """What limits the rows of `judgements` to a scope, with its values; `tool`: the expression that tools stand for.

    A run has a decision for each origin of its labels. Cut by origin each counts for its own; else one of them counts,
    and only where labels are asked for by name, so that they count no run a second time beside suites and rules.
    """
    cut = bool(of.origin) or "origin" in by
    conditions: list[str] = []
    params: dict[str, Any] = {}
    if of.pair is not None:
        params |= {"expected": of.pair[0], "observed": of.pair[1]}
    sources = []
    if of.suite:
        sources.append(f"((Rule = '' OR Suite = '{LABELS}') AND Suite IN {{suite:Array(String)}})")
        params["suite"] = list(of.suite)
    if of.policy:
        sources.append("(Rule != '' AND (Suite IN {policy:Array(String)}"
                       " OR concat(Suite, '/', Rule) IN {policy:Array(String)}))")  # fmt: skip
        params["policy"] = list(of.policy)
    if sources:
        conditions.append(f"({' OR '.join(sources)})")
        conditions += [] if cut else ["Counts = 1"]
    elif cut:
        conditions.append("Suite != ''")
    else:
        conditions.append("Suite = ''" if facts else f"Suite NOT IN ('', '{LABELS}')")
    for name in ("agent", "service", "model", "prompt", "catalog", "tenant", "origin"):
        wanted = getattr(of, name)
        if wanted:
            conditions.append(f"{DIMENSIONS[name]} IN {{{name}:Array(String)}}")
            params[name] = list(wanted)
    if of.tool:
        params["tool"] = list(of.tool)
        if tool:
            conditions.append(f"{tool} IN {{tool:Array(String)}}")
    return conditions, params


def _dimension(name: str, tool: str) -> str:
    return tool if name == "tool" else DIMENSIONS[name]


def _time(ns: int) -> int:
    return max(0, min(ns, MAX_TIME_NS))
