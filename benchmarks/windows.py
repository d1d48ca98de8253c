"""What a figure over a window costs, in processor milliseconds and rows read, as the history behind it grows.

    python -m benchmarks.windows [DECISIONS]

Decisions (5 million when nothing is said) are made in the store by SQL: 30 days, 40 tools, 3 agents, one wrong choice
in ten, and one run in twenty judged twice, so that replaced rows are there. The same questions are asked of the last
tenth and of all of them. Processor time is that of this process with the embedded engine in it, the best of ROUNDS;
rows read are the engine's own count.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.alerting import Query, Scope, Span, Window, WindowSpec
from otel_toolselect.stats.windows import Windows
from otel_toolselect.store import Store, open_store, window_queries
from otel_toolselect.store.queries import Select

ROUNDS = 3
DAYS = 30
ZONE = "Europe/Berlin"
DAY_NS = 86_400 * 10**9
BEGIN_NS = 1_790_035_200 * 10**9  # a midnight in UTC
OF = Scope(suite=("support",))

FILL = """INSERT INTO judgements (Suite, Hour, RunId, Rule, Version, Start, StartNs, TraceId, CaseId, Status,
    FirstAction, ObservedClass, Expected, Observed, Selection, Origin, ServiceName, Agent, Provider, Model,
    PromptVersion, CatalogId, Calls, CallsRedundant, DurationNs, InputTokens, OutputTokens)
SELECT 'support', toStartOfHour(toDateTime(intDiv(Ns, 1000000000), 'UTC')), lower(hex(sipHash128(number))), '',
    {version:UInt64}, fromUnixTimestamp64Nano(toInt64(Ns), 'UTC'), Ns, lower(hex(sipHash128(number, 1))),
    concat('case', toString(number % 500)), if(Wanted = Got, 'pass', 'fail'), Got, 'call', [Wanted], [Got],
    if(Wanted = Got, 'pass', 'fail'), 'suite', 'shop', concat('agent', toString(cityHash64(number, 1) % 3)), 'openai',
    concat('model', toString(cityHash64(number, 2) % 2)), 'p1', 'c1', [Got], [0],
    cityHash64(number, 3) % 5000000000, cityHash64(number, 4) % 5000, cityHash64(number, 5) % 500
FROM
(
    SELECT number, toUInt64({begin:UInt64} + number * {step:UInt64}) AS Ns,
        concat('tool', toString(cityHash64(number, 6) % 40)) AS Wanted,
        if(cityHash64(number, 7) % 10 = 0, concat('tool', toString(cityHash64(number, 8) % 40)), Wanted) AS Got
    FROM numbers({first:UInt64}, {count:UInt64})
    WHERE number % {every:UInt64} = 0
)"""


@dataclass(frozen=True, slots=True)
class Cost:
    cpu_ms: float
    rows_read: int
    answer_rows: int


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000_000
    with tempfile.TemporaryDirectory(prefix="windows-") as folder:
        store = open_store(f"chdb://{folder}")
        # a day at a time, as it would have come; the last days first, so that they stand alone before the rest comes
        shown: list[dict[str, Cost]] = []
        for days in (range(DAYS - DAYS // 10, DAYS), range(DAYS - DAYS // 10)):
            for day in days:
                fill(store, day, count)
            shown.append({name: cost(store, select) for name, select in questions().items()})
        store.close()
    print(f"{count:,} decisions in {DAYS} days; processor ms and rows read")
    print(f"{'':34}{'a tenth of the history':>26}{'all of it':>26}{'rows of the answer':>20}")
    for name in questions():
        small, whole = shown[0][name], shown[1][name]
        cells = "".join(f"{one.cpu_ms:>12,.0f}{one.rows_read:>14,}" for one in (small, whole))
        print(f"{name:34}{cells}{whole.answer_rows:>20,}")


def fill(store: Store, day: int, count: int) -> None:
    first, end = count * day // DAYS, count * (day + 1) // DAYS
    place = {"begin": BEGIN_NS, "step": DAYS * DAY_NS // count, "first": first, "count": end - first}
    for version, every in ((1, 1), (2, 20)):
        store._session.execute(FILL, place | {"version": version, "every": every})  # type: ignore[attr-defined]


def questions() -> Mapping[str, Select]:
    end = BEGIN_NS + DAYS * DAY_NS
    hour = [Window(end - 7_200 * 10**9, end - 3_600 * 10**9)]
    sliding = windows(WindowSpec(Span(1, "h"), Span(5, "m")), end - DAY_NS, end)
    month = windows(WindowSpec(Span(1, "d"), Span(1, "d"), ZONE), BEGIN_NS, end)
    recall = Query("recall", OF, by=("tool",))
    one_tool = Query("recall", Scope(suite=OF.suite, tool=("tool7",)))
    return {
        "1 hour, confusion": window_queries.confusion(OF, (), hour),
        "1 hour, confusion by agent": window_queries.confusion(OF, ("agent",), hour),
        "1 day, 1 h sliding by 5 min": window_queries.figures(recall, sliding),
        "30 days, recall by day and tool": window_queries.figures(recall, month),
        "30 days, recall by day, one tool": window_queries.figures(one_tool, month),
    }


def windows(spec: WindowSpec, start_ns: int, end_ns: int) -> list[Window]:
    cut = Windows(spec)
    return [cut.containing(start)[-1] for start in cut.boundaries(start_ns, end_ns)]


def cost(store: Store, select: Select) -> Cost:
    engine = store.raw_engine()
    assert engine is not None
    texts = {name: json.dumps(v).replace('"', "'") if isinstance(v, list) else str(v) for name, v in
             select.params.items()}  # fmt: skip
    answer = engine.raw_query(select.sql.encode(), params=texts, settings={}, database="default", fmt="JSONCompact")
    engine.close()
    rows = store._session.select(select.sql, select.params)["W"]  # type: ignore[attr-defined]
    cpu = min(timed(lambda: store._session.select(select.sql, select.params)) for _ in range(ROUNDS))  # type: ignore[attr-defined]
    return Cost(cpu * 1_000, answer.rows_read, len(rows))


def timed(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


if __name__ == "__main__":
    main()
