"""Traces out of `otel_traces` and `otel_logs`, by pages: first the next ids with the size of each trace, then whole
traces in chunks of bounded size. Rows that a table has twice, as it has not merged yet, are read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from otel_toolselect.model.spans import LogRecord
from otel_toolselect.store import records, trace_queries
from otel_toolselect.store.api import Trace
from otel_toolselect.store.queries import LOGS, SPANS, Select, Tables
from otel_toolselect.store.session import Session
from otel_toolselect.store.trace_queries import TraceFilter

IDS_PER_PAGE = 10_000
TRACES_PER_QUERY = 2_000  # 70 KB of ids: the client sends them as a form, of which ClickHouse takes 128 KiB a field
CHUNK_ROWS, CHUNK_BYTES = 5_000, 32 * 2**20


class TraceRows:
    """Reads traces, and log records without one."""

    def __init__(self, session: Session, tables: Tables) -> None:
        self._session = session
        self._tables = tables

    def traces(self, wanted: TraceFilter, trace_ids: Sequence[str] | None) -> Iterator[Trace]:
        """See `Store.traces`."""
        if trace_ids is None:
            yield from self._traces(wanted)
            return
        ids = sorted(set(trace_ids))
        for start in range(0, len(ids), TRACES_PER_QUERY):
            yield from self._traces(replace(wanted, trace_ids=tuple(ids[start : start + TRACES_PER_QUERY])))

    def orphan_logs(self, wanted: TraceFilter) -> tuple[LogRecord, ...]:
        """See `Store.orphan_logs`."""
        return records.logs_by_trace(self._select(trace_queries.orphan_logs(self._tables, wanted))).get("", ())

    def _traces(self, wanted: TraceFilter) -> Iterator[Trace]:
        after: str | None = None
        while True:
            found = self._select(trace_queries.trace_sizes(self._tables, wanted, after, IDS_PER_PAGE))
            for chunk in _chunks(found):
                yield from self._chunk(chunk, named=bool(wanted.conditions))
            ids = found.get("TraceId", [])
            if len(ids) < IDS_PER_PAGE:
                return
            after = ids[-1]

    def _chunk(self, chunk: _Chunk, *, named: bool) -> Iterator[Trace]:
        """`named`: others may lie between the first and the last."""

        def found(table: str) -> dict[str, list[Any]]:
            if named:
                return self._select(trace_queries.records_of(self._tables, table, chunk.ids))
            return self._select(trace_queries.records_between(self._tables, table, chunk.ids[0], chunk.ids[-1]))

        spans = records.spans_by_trace(found(SPANS))
        logs = records.logs_by_trace(found(LOGS)) if chunk.logs else {}
        for trace_id in sorted(spans.keys() | logs.keys(), key=_as_sorted_by_clickhouse):
            yield spans.pop(trace_id, ()), logs.pop(trace_id, ())

    def _select(self, select: Select | None) -> dict[str, list[Any]]:
        return {} if select is None else self._session.select(select.sql, select.params)


@dataclass(slots=True)
class _Chunk:
    """Traces that are read together, and what they hold."""

    ids: list[str] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0
    logs: int = 0


def _chunks(found: Mapping[str, Sequence[Any]]) -> Iterator[_Chunk]:
    """Traces that stay under the chunk limits, or one; of what `trace_queries.trace_sizes` found."""
    chunk = _Chunk()
    columns = (found.get(name, ()) for name in ("TraceId", "Rows", "Bytes", "Logs"))
    for trace_id, count, size, logs in zip(*columns, strict=True):
        full = chunk.rows + count > CHUNK_ROWS or chunk.bytes + size > CHUNK_BYTES
        if chunk.ids and (full or len(chunk.ids) >= TRACES_PER_QUERY):
            yield chunk
            chunk = _Chunk()
        chunk.ids.append(trace_id)
        chunk.rows += count
        chunk.bytes += size
        chunk.logs += logs
    if chunk.ids:
        yield chunk


def _as_sorted_by_clickhouse(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
