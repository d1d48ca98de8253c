"""Built query texts, frozen as files. `TOOLSELECT_GOLDEN=write` writes them again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from otel_toolselect.store import (
    arrivals,
    decision_rows,
    judgement_queries,
    queries,
    run_rows,
    trace_queries,
    verdict_rows,
)
from otel_toolselect.store.queries import LOGS, SPANS, Select, Tables
from otel_toolselect.store.trace_queries import TraceFilter

GOLDEN = Path(__file__).parent / "golden"

OUR_COLUMNS = {"StartNs", "EndNs", "TimeNs", "ObservedNs", "EventNs", "EventName", "ScopeName", "ScopeVersion"} | {
    "Shape",
    "RowBytes",
    "ReceivedAt",
    "StatusMessage",
}
OURS = Tables(
    {SPANS: OUR_COLUMNS, LOGS: OUR_COLUMNS, "runs": ("Gone",), "verdicts": ("Gone",)}, {SPANS: "ReplacingMergeTree"}
)
THEIRS = Tables({SPANS: (), LOGS: ()}, {SPANS: "MergeTree", LOGS: "MergeTree"})
EVERYTHING = TraceFilter()
WINDOW = TraceFilter(1, 2, "shop", ("a", "b"))
PLACE = {"suite": "s", "ids": ["r"], "since": 1, "until": 2}

CASES: dict[str, Select | str | None] = {
    "sizes_first_page": trace_queries.trace_sizes(OURS, EVERYTHING, None, 10),
    "sizes_filtered": trace_queries.trace_sizes(OURS, WINDOW, "a", 10),
    "sizes_collector": trace_queries.trace_sizes(THEIRS, EVERYTHING, "a", 10),
    "sizes_named": trace_queries.trace_sizes(OURS, TraceFilter(trace_ids=("a", "b")), None, 10),
    "spans": trace_queries.records_between(OURS, SPANS, "a", "b"),
    "spans_named": trace_queries.records_of(OURS, SPANS, ["a", "b"]),
    "spans_collector": trace_queries.records_between(THEIRS, SPANS, "a", "b"),
    "logs": trace_queries.records_between(OURS, LOGS, "a", "b"),
    "logs_collector": trace_queries.records_between(THEIRS, LOGS, "a", "b"),
    "orphan_logs": trace_queries.orphan_logs(OURS, WINDOW),
    "runs": queries.runs(OURS, run_rows.READ_COLUMNS, PLACE, "r", 10),
    "verdicts": queries.verdicts(
        OURS, verdict_rows.READ_COLUMNS, {"suite": "s", "since": 1, "until": 2}, ("s", "r"), 10
    ),
    "decisions": judgement_queries.page(
        decision_rows.READ_COLUMNS, {"suite": "s", "since": 1, "until": 2}, ("s", 3600, "r", ""), 10
    ),
    "decisions_standing": judgement_queries.standing(["s"], ["r"], 0, 3600),
    "runs_of_traces": judgement_queries.run_ids_of(["t"]),
    "arrivals": arrivals._places(OURS, 1, 2, 10),
    "arrivals_ids": arrivals._ids(OURS, LOGS, [1, 2]),
    "arrivals_collector": arrivals._places(THEIRS, 1, 2, 10),
    "scopes": trace_queries.scopes(OURS),
    "scopes_collector": trace_queries.scopes(THEIRS),
    "counts": queries.counts(OURS),
    "counts_collector": queries.counts(THEIRS),
}


@pytest.mark.parametrize("name", CASES)
def test_query_text(name: str) -> None:
    built = CASES[name]
    assert built is not None
    text = f"{built.sql}\n-- {built.params}\n" if isinstance(built, Select) else f"{built}\n"
    path = GOLDEN / f"{name}.sql"
    if os.environ.get("TOOLSELECT_GOLDEN") == "write":
        path.write_text(text)
    assert path.read_text() == text


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sql")} == set(CASES)


def test_every_value_is_bound() -> None:
    for built in CASES.values():
        if isinstance(built, Select):
            assert all(f"{{{name}:" in built.sql for name in built.params)
            assert "shop" not in built.sql
