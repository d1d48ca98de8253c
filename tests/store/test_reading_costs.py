"""What a query reads, in rows and bytes: it must grow with what is asked for, not with what is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from otel_toolselect.store.api import RawResult
from otel_toolselect.store.clickhouse import ClickHouseStore

from .builders import run, span

MIB = 2**20


def read_by(store: ClickHouseStore, call: Callable[[], object]) -> tuple[int, int]:
    """Rows and bytes that the engine reads for all queries of a call."""
    session, asked = store._session, []
    select = type(session).select

    def noting(sql: str, params: Mapping[str, Any] | None = None) -> dict[str, list[Any]]:
        asked.append((sql, dict(params or {})))
        return select(session, sql, params)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "select", noting)
        call()
    found = [run_raw(store, sql, params) for sql, params in asked]
    return sum(one.rows_read for one in found), sum(one.bytes_read for one in found)


def run_raw(store: ClickHouseStore, sql: str, params: Mapping[str, Any]) -> RawResult:
    engine = store.raw_engine()
    assert engine is not None
    database = store._session.select("SELECT currentDatabase() AS d")["d"][0]
    texts = {name: json.dumps(v).replace('"', "'") if isinstance(v, list) else str(v) for name, v in params.items()}
    try:
        return engine.raw_query(sql.encode(), params=texts, settings={}, database=database, fmt="Native")
    finally:
        engine.close()


def test_arrivals_read_what_is_new_and_not_the_history(store: ClickHouseStore) -> None:
    store.insert([span(n, n) for n in range(40_000)], [])
    store._session.execute(
        "ALTER TABLE otel_traces UPDATE ReceivedAt = ReceivedAt - 3600 WHERE 1 SETTINGS mutations_sync = 2"
    )
    caught_up = store.arrivals(limit=10**6)
    assert len(caught_up.trace_ids) == 40_000
    assert read_by(store, lambda: store.arrivals(caught_up.cursor))[0] < 100
    store.insert([span(n, 1) for n in range(50)], [])
    assert len(store.arrivals(caught_up.cursor).trace_ids) == 50
    assert read_by(store, lambda: store.arrivals(caught_up.cursor))[0] < 500


def test_listing_reads_no_large_value(store: ClickHouseStore) -> None:
    # bug 37: an attribute of 5 MiB is kept, and nobody who lists runs or counts spans pays for it
    blob = span(1, 1, attributes={"blob": "x" * (5 * MIB)})
    store.insert([blob, *(span(n, n) for n in range(2, 100))], [])
    store.write_runs(run(f"r{n:03}") for n in range(100))
    for listing in (
        store.overview,
        store.arrivals,
        lambda: list(store.runs()),
        lambda: store._session.select("SELECT * FROM events LIMIT 100"),
        lambda: store._session.select(
            "SELECT TraceId, SpanName, Timestamp FROM otel_traces ORDER BY Timestamp LIMIT 100"
        ),
    ):
        assert read_by(store, listing)[1] < MIB
    (spans, _), *_ = store.traces()
    assert spans == (blob,)
    assert read_by(store, lambda: list(store.traces()))[1] > 5 * MIB  # the measure sees it where it is read
