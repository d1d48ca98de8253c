"""Query texts over labels and over the traffic that is sampled for them. Values are bound, as in `queries`."""

# ruff: noqa: S608 - what is put into a text here is a name of ours, never a value

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_toolselect.model.decisions import LABELS
from otel_toolselect.store.queries import MAX_TIME_NS, Select

COLUMNS = (
    "RunId", "Source", "Labeller", "AtNs", "Gone", "TraceId", "StartNs", "Expected", "FirstAction", "Note", "Agent",
    "Model", "PromptVersion", "CatalogId", "Stratum", "Chance", "Record", "Version",
)  # fmt: skip
_KEY = "RunId, Source, Labeller"


def standing(wanted: Mapping[str, Any], after: Sequence[str] | None, limit: int) -> Select:
    """The next labels that stand, after a key. `wanted`: ids, since, until (ns), source, labeller."""
    known = {
        "ids": "RunId IN {ids:Array(String)}",
        "since": "StartNs >= {since:UInt64}",
        "until": "StartNs < {until:UInt64}",
        "source": "Source = {source:String}",
        "labeller": "Labeller = {labeller:String}",
    }
    params = {name: value for name, value in wanted.items() if value is not None}
    conditions = [known[name] for name in params]
    if after is not None:
        conditions.append(f"({_KEY}) > ({{r:String}}, {{s:String}}, {{l:String}})")
        params |= dict(zip("rsl", after, strict=True))
    sql = f"""SELECT {", ".join(COLUMNS)}
FROM (SELECT * FROM labels WHERE {" AND ".join(conditions) or "1"} ORDER BY {_KEY}, Version DESC LIMIT 1 BY {_KEY})
WHERE Gone = 0
ORDER BY {_KEY}
LIMIT {{limit:UInt32}}"""
    return Select(sql, params | {"limit": limit})


ANY = "SELECT RunId FROM labels LIMIT 1"
HISTORY = f"""SELECT {", ".join(COLUMNS)} FROM labels FINAL
WHERE RunId = {{id:String}} ORDER BY Version, Source, Labeller"""
RUNS = """SELECT RunId FROM runs FINAL
WHERE Gone = 0 AND startsWith(RunId, {prefix:String}) ORDER BY RunId LIMIT {limit:UInt32}"""
RUNS_OF_TRACE = """SELECT RunId FROM runs FINAL
WHERE Gone = 0 AND ParentRunId IS NULL AND startsWith(TraceId, {prefix:String}) ORDER BY RunId LIMIT {limit:UInt32}"""

_RANGE = """Gone = 0 AND StartNs >= {first:UInt64} AND StartNs < {last:UInt64}
        AND Hour >= toStartOfHour(toDateTime(intDiv({first:UInt64}, 1000000000), 'UTC'))
        AND Hour <= toDateTime(intDiv({last:UInt64}, 1000000000), 'UTC')"""

_FRAME = f"""WITH Vague AS
(
    SELECT RunId FROM runs FINAL
    WHERE Gone = 0 AND StartNs >= {{first:UInt64}} AND StartNs < {{last:UInt64}} AND ObservedClass != 'call'
        AND NoCallConfidence < {{below:Float64}}
),
Facts AS
(
    SELECT
        RunId, any(TraceId) AS TraceId, any(StartNs) AS Began, any(Agent) AS Agent,
        anyIf(FirstAction, Suite = '') AS Action,
        arraySort(groupArrayIf(concat(Suite, '/', Rule), Rule != '' AND Suite != '{LABELS}' AND Status = 'fail'))
            AS Failed,
        countIf(Suite != '{LABELS}' AND Status = 'needs_review') > 0 AS Review,
        countIf(Suite = '' AND notEmpty(Ghosts)) > 0 AS Ghost,
        RunId IN Vague AS Unclear
    FROM judgements FINAL
    WHERE {_RANGE}
    GROUP BY RunId
    HAVING countIf(Suite = '' AND Excluded = '') > 0
),
Strata AS
(
    SELECT *, multiIf(notEmpty(Failed), 'failure', Review OR Ghost OR Unclear, concat('unsure: ', Action),
        concat('tool: ', Action)) AS Stratum
    FROM Facts
)"""


def sizes(first_ns: int, last_ns: int, below: float) -> Select:
    """Rows of (Stratum, N). `below`: confidence under which the reading of a text without a call is unsure."""
    sql = f"{_FRAME}\nSELECT Stratum, count() AS N FROM Strata GROUP BY Stratum ORDER BY Stratum"
    return Select(sql, _times(first_ns, last_ns) | {"below": below})


def drawn(first_ns: int, last_ns: int, below: float, *, seed: str, per_stratum: int, random: int) -> Select:
    """The sample. Each run has two numbers drawn from its id and the seed, by which it is ranked in its stratum and
    among all: what arrives later, or is judged again, moves no other run's number.
    """
    sql = f"""{_FRAME}
SELECT RunId, TraceId, Began, Agent, Action, Stratum, Failed, Review, Ghost, Unclear, Rank, Place, Size, Everybody
FROM
(
    SELECT *, count() OVER (PARTITION BY Stratum) AS Size, count() OVER () AS Everybody,
        row_number() OVER (PARTITION BY Stratum ORDER BY sipHash64({{seed:String}}, 'stratum', RunId), RunId) AS Rank,
        row_number() OVER (ORDER BY sipHash64({{seed:String}}, 'random', RunId), RunId) AS Place
    FROM Strata
)
WHERE Stratum = 'failure' OR Rank <= {{per:UInt32}} OR Place <= {{random:UInt32}}
ORDER BY Stratum, Rank"""
    params = {"below": below, "seed": seed, "per": per_stratum, "random": random}
    return Select(sql, _times(first_ns, last_ns) | params)


def decisions(columns: Mapping[str, str], run_ids: Sequence[str], first_ns: int, last_ns: int) -> Select:
    chosen = ", ".join(f"{expression} AS `{alias}`" for alias, expression in columns.items())
    sql = f"""SELECT {chosen}
FROM judgements FINAL
WHERE {_RANGE} AND RunId IN {{ids:Array(String)}}
ORDER BY RunId, Suite, Rule"""
    return Select(sql, _times(first_ns, last_ns) | {"ids": list(run_ids)})


def _times(first_ns: int, last_ns: int) -> dict[str, Any]:
    return {"first": max(0, min(first_ns, MAX_TIME_NS)), "last": max(0, min(last_ns, MAX_TIME_NS))}
