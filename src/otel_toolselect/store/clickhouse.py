"""The store on ClickHouse, embedded or remote: one code path, as clickhouse-connect speaks to both engines."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from otel_toolselect.errors import StoreError
from otel_toolselect.model.alerting import Observed, Query, Scope, Series, Window
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import Run, ToolDefinition
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.store import (
    arrivals,
    inspecting,
    observing,
    overviews,
    queries,
    retention,
    rows,
    run_rows,
    trace_queries,
    verdict_rows,
)
from otel_toolselect.store.alert_api import Alerts
from otel_toolselect.store.alert_rows import AlertRows
from otel_toolselect.store.api import Overview, RawEngine, TableSize, Trace
from otel_toolselect.store.arrival_api import Arrivals, Cursor
from otel_toolselect.store.audit_api import Audit
from otel_toolselect.store.audit_rows import AuditRows
from otel_toolselect.store.browse_api import Browse
from otel_toolselect.store.browsing import Browsing
from otel_toolselect.store.crew_api import Crews
from otel_toolselect.store.crew_rows import CrewRows
from otel_toolselect.store.judged_api import Judged
from otel_toolselect.store.judgements import Judgements
from otel_toolselect.store.label_api import Labels
from otel_toolselect.store.label_rows import LabelRows
from otel_toolselect.store.queries import LOGS, SPANS, Select, Tables
from otel_toolselect.store.retention_api import Tier
from otel_toolselect.store.session import Session
from otel_toolselect.store.state_api import StoreState
from otel_toolselect.store.trace_queries import TraceFilter
from otel_toolselect.store.trace_rows import TraceRows
from otel_toolselect.store.versions import Versions

T = TypeVar("T")

ROWS_PER_INSERT = 8_000  # at 3 KB a span 25 MB, of which the engine needs a tenfold for a moment
RUNS_PER_PAGE = 500
RUNS_PER_INSERT = 4_000
CATALOGS_REMEMBERED = 10_000
IDS_PER_QUERY = 64  # ids that a caller names are bound into the request's address, which has a limit


class ClickHouseStore:
    """Implements `api.Store`. Made by `open_store`, which also says how to let go of the engine."""

    def __init__(
        self,
        session: Session,
        *,
        via: str | None = None,
        engine: Callable[[], RawEngine] | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        self._session = session
        self._via = via
        self._engine = engine
        self._on_close = on_close
        self._closing = threading.Lock()
        self._versions = Versions(session)
        self._catalogs: set[str] = set()  # keys that this store has written, replaced as a whole for other threads
        self.tables = _tables(session)
        self._traces = TraceRows(session, self.tables)
        self._judgements = Judgements(session, self.tables, self._versions.next)
        self._labels = LabelRows(session, self.tables, self._versions.next)
        one_engine = engine is not None or via is not None
        self._crews = CrewRows(session)
        self._alerts = AlertRows(session, self.tables, self._versions.next, alone=one_engine)

    @property
    def dsn(self) -> str:
        return self._session.where

    @property
    def via(self) -> str | None:
        return self._via

    @property
    def foreign(self) -> bool:
        return self.tables.foreign(SPANS)

    def raw_engine(self) -> RawEngine | None:
        return None if self._engine is None else self._engine()

    def close(self) -> None:
        with self._closing:
            self._session.close()
            after, self._on_close = self._on_close, None
        if after is not None:
            after()

    # spans and log records

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord]) -> None:
        for part in _parts(spans, ROWS_PER_INSERT):
            self._insert_records(SPANS, rows.span_columns(part))
        for chunk in _parts(logs, ROWS_PER_INSERT):
            self._insert_records(LOGS, rows.log_columns(chunk))

    def _insert_records(self, table: str, columns: dict[str, Any]) -> None:
        if self.tables.foreign(table):
            raise StoreError(
                f"the table {table} at {self.dsn} was made by a Collector and is only read; "
                "name another database in --store for what toolselect receives",
                retryable=False,
            )
        self._session.insert(table, columns)

    def traces(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        trace_ids: Sequence[str] | None = None,
        service: str | None = None,
    ) -> Iterator[Trace]:
        return self._traces.traces(TraceFilter(since_ns, until_ns, service), trace_ids)

    def orphan_logs(
        self, *, since_ns: int | None = None, until_ns: int | None = None, service: str | None = None
    ) -> tuple[LogRecord, ...]:
        return self._traces.orphan_logs(TraceFilter(since_ns, until_ns, service))

    def arrivals(self, since: Cursor | None = None, limit: int = 10_000) -> Arrivals:
        return arrivals.read(self._session, self.tables, since, limit)

    def state(self) -> StoreState:
        return inspecting.state(self._session, self.tables)

    def set_retention(self, days: int | None, *, run_days: int | None = None, tier: Tier | None = None) -> None:
        retention.apply(self._session, self.tables, days, run_days, tier)

    # runs and verdicts

    def mark(self) -> int:
        return self._versions.mark()

    def write_runs(self, runs: Iterable[Run], as_of: int | None = None) -> None:
        source = iter(runs)
        while page := list(islice(source, RUNS_PER_INSERT)):
            version = self._versions.next("runs") if as_of is None else as_of
            self._write_runs(list({run.run_id: run for run in page}.values()), version)

    def _write_runs(self, runs: list[Run], version: int) -> None:
        keys: list[str | None] = []
        catalogs: dict[str, Run] = {}
        known: dict[int, str] = {}  # runs of one request mostly share one list of tools
        for run in runs:
            key = None if run.tools is None else known.get(id(run.tools))
            if run.tools is not None and key is None:
                key = known[id(run.tools)] = run_rows.tools_key(run_rows.tools_text(run.tools))
            keys.append(key)
            if key is not None and key not in self._catalogs:
                catalogs.setdefault(key, run)
        if catalogs:  # first: a run must never name tools that are not there
            self._session.insert("catalogs", run_rows.catalog_columns(catalogs, version))
            full = len(self._catalogs) >= CATALOGS_REMEMBERED
            self._catalogs = {*catalogs} if full else self._catalogs | catalogs.keys()
        self._session.insert("runs", run_rows.run_columns(runs, keys, version))

    def runs(
        self,
        *,
        suite: str | None = None,
        run_ids: Sequence[str] | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
    ) -> Iterator[Run]:
        if not self.tables.has("runs"):
            return
        wanted: dict[str, Any] = {"suite": suite, "since": since_ns, "until": until_ns}
        if run_ids is None:
            yield from self._runs(wanted)
            return
        for ids in _parts(sorted(set(run_ids)), IDS_PER_QUERY):
            yield from self._runs(wanted | {"ids": ids})

    def _runs(self, wanted: dict[str, Any]) -> Iterator[Run]:
        after: str | None = None
        while True:
            found = self._select(queries.runs(self.tables, run_rows.READ_COLUMNS, wanted, after, RUNS_PER_PAGE))
            ids = found.get("RunId", [])
            yield from run_rows.read_runs(found, self._tools(found.get("ToolsKey", [])))
            if len(ids) < RUNS_PER_PAGE:
                return
            after = ids[-1]

    def _tools(self, keys: Sequence[str | None]) -> dict[str, tuple[ToolDefinition, ...]]:
        tools: dict[str, tuple[ToolDefinition, ...]] = {}
        for part in _parts(sorted({key for key in keys if key is not None}), IDS_PER_QUERY):
            found = self._session.select(queries.CATALOGS, {"keys": part})
            tools |= {
                key: run_rows.read_tools(text) for key, text in zip(found["ToolsKey"], found["Tools"], strict=True)
            }
        return tools

    def write_verdicts(self, verdicts: Iterable[RunVerdict], as_of: int | None = None) -> None:
        source = iter(verdicts)
        while page := list(islice(source, RUNS_PER_INSERT)):
            unique = list({(verdict.suite, verdict.run_id): verdict for verdict in page}.values())
            version = self._versions.next("verdicts") if as_of is None else as_of
            self._session.insert("verdicts", verdict_rows.verdict_columns(unique, version))

    def verdicts(
        self, suite: str | None = None, *, since_ns: int | None = None, until_ns: int | None = None
    ) -> Iterator[RunVerdict]:
        if not self.tables.has("verdicts"):
            return
        wanted = {"suite": suite, "since": since_ns, "until": until_ns}
        after: tuple[str, str] | None = None
        while True:
            found = self._select(queries.verdicts(self.tables, verdict_rows.READ_COLUMNS, wanted, after, RUNS_PER_PAGE))
            yield from verdict_rows.read_verdicts(found)
            if len(found.get("RunId", ())) < RUNS_PER_PAGE:
                return
            after = (found["Suite"][-1], found["RunId"][-1])

    # decisions

    def add_judged(
        self, verdicts: Iterable[RunVerdict], decisions: Iterable[Decision], as_of: int | None = None
    ) -> None:
        self.write_verdicts(verdicts, as_of)
        self._judgements.add(decisions, as_of)

    def replace_judged(
        self,
        suites: Sequence[str],
        runs: Sequence[Run],
        verdicts: Sequence[RunVerdict],
        decisions: Sequence[Decision],
        as_of: int | None = None,
    ) -> None:
        starts = {run.run_id: run.start_ns for run in runs}
        before = self._judgements.standing(suites, starts)
        self.add_judged(verdicts, decisions, as_of)
        self._judgements.mark_gone(before, verdicts, decisions, as_of)

    def decisions(
        self, suite: str | None = None, *, since_ns: int | None = None, until_ns: int | None = None
    ) -> Iterator[Decision]:
        return self._judgements.read(suite, since_ns, until_ns)

    def observe(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Observed, ...]]:
        return observing.observe(self._session, query, windows)

    def mixes(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Mapping[str, int], ...]]:
        return observing.mixes(self._session, query, windows)

    def confusion(
        self, of: Scope, by: Sequence[str], windows: Sequence[Window]
    ) -> Mapping[Series, tuple[Mapping[Cell, int], ...]]:
        return observing.confusion(self._session, of, by, windows)

    def judged_since(self, since: Cursor | None = None, limit: int = 1_000, *, tenant: str | None = None) -> Judged:
        return self._judgements.since(since or Cursor(), limit, tenant)

    def span_ids(self, trace_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for ids in _parts(sorted(set(trace_ids)), IDS_PER_QUERY) if self.tables.has(SPANS) else ():
            rows = self._select(trace_queries.span_ids(ids))
            found |= dict(zip(rows.get("TraceId", ()), map(tuple, rows.get("SpanIds", ())), strict=True))
        return found

    def runs_of_traces(self, trace_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        return self._judgements.runs_of_traces(trace_ids)

    def retract(self, run_ids: Sequence[str], as_of: int | None = None) -> None:
        self._judgements.retract(run_ids, as_of)

    @property
    def crews(self) -> Crews:
        return self._crews

    @property
    def browse(self) -> Browse:
        return Browsing(self._session, self.tables, self)

    @property
    def audit(self) -> Audit:
        return AuditRows(self._session, self.tables)

    @property
    def alerts(self) -> Alerts:
        return self._alerts

    @property
    def labels(self) -> Labels:
        return self._labels

    def bookmark(self, name: str) -> str | None:
        return self._judgements.bookmark(name)

    def set_bookmark(self, name: str, place: str) -> None:
        self._judgements.set_bookmark(name, place)

    def overview(self) -> Overview:
        return overviews.overview(self._session, self.tables)

    def sizes(self) -> tuple[TableSize, ...]:
        return overviews.sizes(self._session)

    def _select(self, select: Select | None) -> dict[str, list[Any]]:
        return {} if select is None else self._session.select(select.sql, select.params)


def _tables(session: Session) -> Tables:
    return queries.found_tables(session.select(queries.TABLE_COLUMNS), session.select(queries.TABLE_ENGINES))


def _parts(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]
