"""What a page costs, in processor milliseconds and rows read, with a million runs behind it.

    python -m benchmarks.browse [RUNS]

Runs (a million when nothing is said) are made in the store by SQL: 30 days up to now, 40 tools, 3 agents, requests and
answers of some 80 words of a vocabulary of 3,000; half of them judged under a suite, a fifth under a rule, one in
twenty judged twice, so that replaced rows are there. The same questions are asked of the last three days and of all.
Processor time is that of this process with the embedded engine in it, the best of ROUNDS, without the engine's cache of
conditions; rows read are the engine's own count, over all queries of the question.
"""

# ruff: noqa: S608 - what is put into a text here is a text of ours

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from otel_toolselect.app.browse import Filters, Reader, matrix, overview, run_list, run_timeline, suite_view
from otel_toolselect.store import Store, open_store, queries
from otel_toolselect.store.browse_api import RunFilter

ROUNDS = 3
DAYS = 30
DAY_NS = 86_400 * 10**9

_RUN = """FROM
(
    SELECT number, lower(hex(sipHash128(number))) AS Id, lower(hex(sipHash128(number, 1))) AS Trace,
        toUInt64({begin:UInt64} + number * {step:UInt64} + cityHash64(number, 33) % {step:UInt64}) AS Ns,
        concat('tool', toString(cityHash64(number, 6) % 40)) AS Wanted,
        if(cityHash64(number, 7) % 10 = 0, concat('tool', toString(cityHash64(number, 8) % 40)), Wanted) AS Got
    FROM numbers({first:UInt64}, {count:UInt64})
    WHERE number % {every:UInt64} = {rest:UInt64}
)"""
_JUDGED = f"""INSERT INTO judgements (Suite, Hour, RunId, Rule, Version, Start, StartNs, TraceId, CaseId, Status,
    FirstAction, ObservedClass, Expected, Observed, Selection, Origin, ServiceName, Agent, Provider, Model, Failure,
    PromptVersion, CatalogId, Calls, CallsRedundant, Ghosts, DurationNs, InputTokens, OutputTokens, CostUsd)
SELECT {{suite:String}}, toStartOfHour(toDateTime(intDiv(Ns, 1000000000), 'UTC')), Id, {{rule:String}},
    {{version:UInt64}}, fromUnixTimestamp64Nano(toInt64(Ns), 'UTC'), Ns, Trace, concat('case', toString(number % 500)),
    multiIf({{suite:String}} = '', 'n/a', Wanted = Got, 'pass', 'fail'), Got, 'call',
    if({{suite:String}} = '', [], [Wanted]), if({{suite:String}} = '', [], [Got]),
    multiIf({{suite:String}} = '', '', Wanted = Got, 'pass', 'fail'), if({{rule:String}} = '', 'suite', 'rule'), 'shop',
    concat('agent', toString(cityHash64(number, 1) % 3)), 'openai',
    concat('model', toString(cityHash64(number, 2) % 4)),
    if({{suite:String}} = '' OR Wanted = Got, '', 'wrong_tool'), concat('p', toString(number % 4)),
    concat('sha256:', toString(cityHash64(number, 11) % 5)),
    [Got, concat('tool', toString(cityHash64(number, 9) % 40))], [0, 0],
    if(cityHash64(number, 12) % 200 = 0, [Got], []), cityHash64(number, 3) % 5000000000, cityHash64(number, 4) % 5000,
    cityHash64(number, 5) % 500, cityHash64(number, 4) % 5000 / 100000
{_RUN}"""
_RUNS = f"""INSERT INTO runs (RunId, Version, TraceId, TraceIds, ServiceName, Agent, Provider, Model, PromptVersion,
    CatalogId, Request, FinalText, FirstAction, ObservedClass, Start, StartNs, DurationNs, EventList)
WITH (SELECT groupArray(lower(substring(hex(sipHash64(number, 77)), 1, 2 + number % 9))) FROM numbers(3000)) AS Words
SELECT Id, 1, Trace, [Trace], 'shop', concat('agent', toString(cityHash64(number, 1) % 3)), 'openai',
    concat('model', toString(cityHash64(number, 2) % 4)), 'p1', 'c1',
    arrayStringConcat(arrayMap(i -> Words[1 + cityHash64(number, i) % 3000], range(12 + number % 10)), ' '),
    arrayStringConcat(arrayMap(i -> Words[1 + cityHash64(number, i, 1) % 3000], range(40 + number % 50)), ' '), Got,
    'call', fromUnixTimestamp64Nano(toInt64(Ns), 'UTC'), Ns, 5,
    concat('[["assistant",0,0,"genai",null,"',
        arrayStringConcat(arrayMap(i -> Words[1 + cityHash64(number, i, 2) % 3000], range(100)), ' '), '"',
        repeat(',null', 17), ']]')
{_RUN}"""


@dataclass(frozen=True, slots=True)
class Cost:
    cpu_ms: float
    rows_read: int
    queries: int


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    queries.READ_SETTINGS += ", use_query_condition_cache = 0"
    with tempfile.TemporaryDirectory(prefix="browse-") as folder:
        store = open_store(f"chdb://{folder}")
        now = time.time_ns()
        # a day at a time, as it would have come; the last days first, so that they stand alone before the rest comes
        shown: list[dict[str, Cost]] = []
        for days in (range(DAYS - DAYS // 10, DAYS), range(DAYS - DAYS // 10)):
            for day in days:
                fill(store, day, count, now - DAYS * DAY_NS)
            settle(store)
            shown.append({name: cost(store, ask) for name, ask in questions(store, now).items()})
        for size in store.sizes():
            print(f"{size.table:28}{size.rows:>12,} rows{size.parts:>6} parts{size.bytes / 2**20:>10,.0f} MiB")
        store.close()
    print(f"\n{count:,} runs in {DAYS} days; processor ms, rows read, queries")
    print(f"{'':44}{'a tenth of the history':>28}{'all of it':>28}")
    for name in shown[1]:
        cells = "".join(f"{c.cpu_ms:>10,.0f}{c.rows_read:>14,}{c.queries:>4}" for c in (shown[0][name], shown[1][name]))
        print(f"{name:44}{cells}")


def fill(store: Store, day: int, count: int, begin: int) -> None:
    fill_part(store, count * day // DAYS, count * (day + 1) // DAYS, count, begin)


def fill_part(store: Store, first: int, end: int, count: int, begin: int) -> None:
    """Runs `first` to `end` of the `count` that there are in all."""
    place = {"begin": begin, "step": DAYS * DAY_NS // count, "first": first, "count": end - first}
    for suite, rule, version, every, rest in (
        ("", "", 1, 1, 0), ("", "", 2, 20, 3), ("support", "", 1, 2, 0), ("policies", "never", 1, 5, 0),
        ("policies", "never", 2, 20, 0),
    ):  # fmt: skip
        said = {"suite": suite, "rule": rule, "version": version, "every": every, "rest": rest}
        store._session.execute(_JUDGED, place | said)  # type: ignore[attr-defined]
    store._session.execute(_RUNS, place | {"every": 1, "rest": 0})  # type: ignore[attr-defined]


def settle(store: Store) -> None:
    """Until what goes on in the background is done: it would be counted with the questions."""
    running = "SELECT count() AS N FROM system.merges"
    while store._session.select(running)["N"][0]:  # type: ignore[attr-defined]
        time.sleep(0.2)


def questions(store: Store, now: int) -> Mapping[str, Callable[[], Any]]:
    reader = Reader(store, None, now_ns=now)
    ever, week = Filters(since=""), Filters(since="7d")
    first = run_list(reader, ever)
    deep = store.browse.runs(RunFilter(until_ns=now - DAYS // 2 * DAY_NS), tenant=None).next
    run_id = first.rows[0].run_id

    def listed(filters: Filters) -> Callable[[], Any]:
        return lambda: run_list(reader, filters)

    cell = {"expected": "tool7", "observed": "tool9"}
    return {
        "first page, ever": listed(ever),
        "first page, 7 days": listed(week),
        "second page": listed(replace(ever, cursor=first.next_cursor or "")),
        "page in the middle of the history": listed(replace(ever, cursor=deep or "")),
        "oldest first, ever": listed(ever.changed(sort="start")),
        "agent, two models, a tool called; ever": listed(
            ever.changed(agent="agent1", model=["model1", "model2"], called="tool7")
        ),
        "nothing fits; ever": listed(ever.changed(agent="nobody")),
        "confusion cell; ever": listed(ever.changed(**cell)),
        "confusion cell of one suite; 7 days": listed(week.changed(**cell, suite="support")),
        "failed a rule; ever": listed(ever.changed(suite="policies/never", status="fail")),
        "longest first; 7 days": listed(week.changed(sort="-duration")),
        "longest first; ever": listed(ever.changed(sort="-duration")),
        "dearest failure of one suite; 7 days": listed(week.changed(sort="-cost", status="fail", suite="support")),
        "text that occurs nowhere; ever": listed(ever.changed(text="no such words")),
        "text that occurs often; ever": listed(ever.changed(text="abc")),
        "text in some runs, longest first; 7 days": listed(week.changed(text="3f2a", sort="-duration")),
        "text that occurs often, longest first; ever": listed(ever.changed(text="abc", sort="-duration")),
        "count; ever": lambda: store.browse.count(RunFilter(), tenant=None),
        "facets; 7 days": lambda: store.browse.facets(week.runs(now), tenant=None),
        "facets; ever": lambda: store.browse.facets(RunFilter(), tenant=None),
        "one run": lambda: run_timeline(reader, run_id, week),
        "confusion matrix; 7 days": lambda: matrix(reader, week),
        "confusion matrix; ever": lambda: matrix(reader, ever),
        "suite with 100 cases; 7 days": lambda: suite_view(reader, "support", replace(week, size=100)),
        "catalogs; 7 days": lambda: store.browse.catalogs(tenant=None, since_ns=now - 7 * DAY_NS),
        "overview; 1 day": lambda: overview(reader, Filters(since="24h")),
        "overview; 7 days": lambda: overview(reader, week),
    }


def cost(store: Store, ask: Callable[[], Any]) -> Cost:
    session = store._session  # type: ignore[attr-defined]
    asked: list[tuple[str, Mapping[str, Any]]] = []
    select = session.select

    def listening(sql: str, params: Mapping[str, Any] | None = None) -> Any:
        asked.append((sql, dict(params or {})))
        return select(sql, params)

    session.select = listening
    ask()
    del session.select
    cpu = min(timed(ask) for _ in range(ROUNDS))
    return Cost(cpu * 1_000, sum(rows_read(store, sql, params) for sql, params in asked), len(asked))


def rows_read(store: Store, sql: str, params: Mapping[str, Any]) -> int:
    engine = store.raw_engine()
    assert engine is not None
    texts = {name: json.dumps(v).replace('"', "'") if isinstance(v, list) else str(v) for name, v in params.items()}
    answer = engine.raw_query(sql.encode(), params=texts, settings={}, database="default", fmt="JSONCompact")
    engine.close()
    return answer.rows_read


def timed(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
