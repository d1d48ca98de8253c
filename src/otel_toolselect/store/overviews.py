"""What a store holds at the moment, for `doctor` and for metrics."""

from __future__ import annotations

from otel_toolselect.store import queries, trace_queries
from otel_toolselect.store.api import Overview, ScopeFigures, TableSize
from otel_toolselect.store.queries import SPANS, Tables
from otel_toolselect.store.session import Session


def overview(session: Session, tables: Tables) -> Overview:
    """See `Store.overview`."""
    counts = {name: values[0] for name, values in session.select(queries.counts(tables)).items()}
    sql = trace_queries.scopes(tables)
    found = session.select(sql) if sql else {}
    names = ("Service", "Scope", "Version", "Spans", "Traces", "First", "Last")
    figures = zip(*(found.get(name, ()) for name in names), strict=True)
    return Overview(
        scopes=tuple(ScopeFigures(*row) for row in figures),
        spans=counts["Spans"],
        logs=counts["Logs"],
        orphan_logs=counts["OrphanLogs"],
        runs=counts["Runs"],
        verdicts=counts["Verdicts"],
        foreign=tables.foreign(SPANS),
    )


def sizes(session: Session) -> tuple[TableSize, ...]:
    """See `Store.sizes`."""
    found = session.select(queries.table_sizes(session.cluster))
    columns = (found.get(name, ()) for name in ("table", "Rows", "Parts", "Bytes"))
    return tuple(TableSize(*row) for row in zip(*columns, strict=True))
