"""What a store promises, with no backend in sight (design section 9, R20: raw is kept before anything is normalized).

Every implementation runs the same suite, `tests/store/contract`. Times are UTC nanoseconds since the epoch; a
window is half open, `since_ns <= t < until_ns`. Every method may raise `StoreError`, whose `retryable` says whether
the same call may succeed later. A store may be shared by threads; an iterator belongs to the thread that made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from otel_toolselect.model.alerting import Observed, Query, Scope, Series, Window
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.store.alert_api import Alerts
from otel_toolselect.store.arrival_api import Arrivals, Cursor
from otel_toolselect.store.audit_api import Audit
from otel_toolselect.store.browse_api import Browse
from otel_toolselect.store.crew_api import Crews
from otel_toolselect.store.judged_api import Judged
from otel_toolselect.store.label_api import Labels
from otel_toolselect.store.retention_api import Tier
from otel_toolselect.store.state_api import StoreState

Trace: TypeAlias = tuple[tuple[Span, ...], tuple[LogRecord, ...]]
"""All spans and all log records of one trace id."""


@dataclass(frozen=True, slots=True)
class ScopeFigures:
    """Spans of one service and instrumentation scope. `first_ns` and `last_ns` are span times, not arrival times."""

    service: str
    scope: str
    scope_version: str
    spans: int
    traces: int
    first_ns: int
    last_ns: int


@dataclass(frozen=True, slots=True)
class Overview:
    """What the store holds: counts without duplicates. `foreign` says that a Collector made the span table."""

    scopes: tuple[ScopeFigures, ...]
    spans: int
    logs: int
    orphan_logs: int
    runs: int
    verdicts: int
    foreign: bool = False


@dataclass(frozen=True, slots=True)
class TableSize:
    """What one table takes at the moment: rows with repeats that are not merged yet, parts, bytes on disk."""

    table: str
    rows: int
    parts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class RawResult:
    """Answer of `RawEngine.raw_query`: body in the asked format, and what the engine read for it."""

    body: bytes
    rows_read: int = 0
    bytes_read: int = 0
    elapsed_ns: int = 0


@runtime_checkable
class RawEngine(Protocol):
    """The embedded engine as such, for the gateway that lends it to other processes (`web/gateway.py`)."""

    def raw_query(
        self,
        sql: bytes,
        *,
        data: bytes | None = None,
        params: Mapping[str, str],
        settings: Mapping[str, str],
        database: str | None,
        fmt: str,
    ) -> RawResult:
        """Run one statement. `data` are the rows of an `INSERT ... FORMAT name`. Calls are serialized.

        `params` are ClickHouse query parameters without the `param_` prefix, in the text form that ClickHouse's
        HTTP interface takes. `fmt` applies where the statement names no format. Raises `StoreError` whose text
        holds ClickHouse's own `Code: N. DB::Exception: ...`.
        """
        ...

    def timezone(self) -> str:
        """The engine's time zone name, which the HTTP interface reports."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class Store(Protocol):
    """Spans, log records, runs and verdicts in ClickHouse, embedded or remote."""

    @property
    def dsn(self) -> str:
        """Where the store is, without a password."""
        ...

    @property
    def via(self) -> str | None:
        """Whom the store is reached through ("the running server on 127.0.0.1:4318"), None when directly."""
        ...

    @property
    def foreign(self) -> bool:
        """Whether a Collector made the span table: it is only read then, `insert` refuses."""
        ...

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord]) -> None:
        """Keep spans and log records. They are on disk and visible to every reader when this returns.

        Repeating a call, in part or as a whole, changes nothing that a reader sees: equal spans collapse. Two
        spans of one id with different content are both kept (assembly decides). After an error some of the batch
        may be kept; send it again. Values come back equal and with their types; object member order is not kept.
        """
        ...

    def traces(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        trace_ids: Sequence[str] | None = None,
        service: str | None = None,
    ) -> Iterator[Trace]:
        """Whole traces in order of trace id, each id once.

        A trace is chosen when one of its spans or log records lies in the window and belongs to the service (both
        by the same record); it then comes with *all* its spans and log records, each in order of time, then
        of content. Spans without a trace id are one trace of id "". Memory is bounded by a page or by the largest
        single trace. Traces that arrive during the iteration may or may not be seen, never in part of a page.
        """
        ...

    def orphan_logs(
        self, *, since_ns: int | None = None, until_ns: int | None = None, service: str | None = None
    ) -> tuple[LogRecord, ...]:
        """Log records without a trace id, in order of time, then of content."""
        ...

    def arrivals(self, since: Cursor | None = None, limit: int = 10_000) -> Arrivals:
        """Traces that got spans or log records since the cursor (None: since ever), whoever inserted them.

        No row is missed though several writers insert at once, as long as an insert becomes visible within 60 s of
        its begin (`arrivals.OVERLAP_S`; inserts of this store give up before). A trace is told of again for each
        later insert that brought it rows, also the same rows again. A page holds arrivals of `limit` rows or a single
        insert, so memory is bounded; ask on with its cursor, which `str` and `Cursor.parse` keep in a bookmark.
        What is read grows with what came in the last 60 s, not with the history.

        A table that a Collector made has no arrival time: there the span's own time stands for it, in steps of 10 s
        and with an overlap of an hour. Spans that come more than an hour after their start are missed, a step that
        grows is told of as a whole again, and what is dated ahead by more than an hour waits until then.
        """
        ...

    def set_retention(self, days: int | None, *, run_days: int | None = None, tier: Tier | None = None) -> None:
        """Keep spans and log records for so many days, None for ever (as at first); runs and all that is said of them
        but labels for `run_days`. `tier`: where spans, log records, runs and verdicts go before. Safe to repeat.

        What is older goes when ClickHouse cleans up, hours later at most. The age counts from the record's own time
        or its arrival, whichever is earlier, so a date in the future keeps nothing alive; that of a run from when it
        was written last. Raises `StoreError`, not retryable, for a Collector's table, for days out of 1..36500, and
        for a tier that the server does not have.
        """
        ...

    def mark(self) -> int:
        """A point in the order of what is written, by the store's clock: taken before what is judged is read, and given
        to what is written of it as `as_of`. Of two writers that judge the same run the one whose mark is later wins,
        whoever writes last. Without `as_of` the time of writing counts.
        """
        ...

    def write_runs(self, runs: Iterable[Run], as_of: int | None = None) -> None:
        """Keep runs with their events; a run replaces the one of the same `run_id` as a whole, atomically."""
        ...

    def runs(
        self,
        *,
        suite: str | None = None,
        run_ids: Sequence[str] | None = None,
        since_ns: int | None = None,
        until_ns: int | None = None,
    ) -> Iterator[Run]:
        """Runs in order of `run_id`, equal to those written; the window is over the start of the run."""
        ...

    def write_verdicts(self, verdicts: Iterable[RunVerdict], as_of: int | None = None) -> None:
        """Keep verdicts; one replaces that of the same (suite, run_id) as a whole, so judging again never doubles."""
        ...

    def verdicts(
        self, suite: str | None = None, *, since_ns: int | None = None, until_ns: int | None = None
    ) -> Iterator[RunVerdict]:
        """Verdicts in order of (suite, run_id). Evidence comes back as JSON values: a tuple as a list."""
        ...

    def add_judged(
        self, verdicts: Iterable[RunVerdict], decisions: Iterable[Decision], as_of: int | None = None
    ) -> None:
        """Keep what was said of runs that were never judged before under the same suites; cheaper than replacing.

        Repeating a call changes nothing that a reader sees.
        """
        ...

    def replace_judged(
        self,
        suites: Sequence[str],
        runs: Sequence[Run],
        verdicts: Sequence[RunVerdict],
        decisions: Sequence[Decision],
        as_of: int | None = None,
    ) -> None:
        """What stands of these runs under these suites and rule files is exactly this afterwards, and each run counts
        once. Finds what was said before when a run starts within a day of where it started then.
        """
        ...

    def decisions(
        self, suite: str | None = None, *, since_ns: int | None = None, until_ns: int | None = None
    ) -> Iterator[Decision]:
        """Decisions in order of (suite, hour of the start, run id, rule)."""
        ...

    def observe(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Observed, ...]]:
        """A signal over windows, from decisions as they stand: one Observed per window, in order, for each series.

        Reads the hours that the windows cover and no more, each row once. A query without `by` has the series ()
        always; no reference is given. KeyError for signals that are not counted from decisions.
        """
        ...

    def mixes(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Mapping[str, int], ...]]:
        """For signals of drift: how often each first action, or each pair of expected and observed, came."""
        ...

    def confusion(
        self, of: Scope, by: Sequence[str], windows: Sequence[Window]
    ) -> Mapping[Series, tuple[Mapping[Cell, int], ...]]:
        """The confusion matrix of each window, in order, for each combination of `by` (names of
        `model.alerting.DIMENSIONS`): how often each cell came. Without `by` the series () is there always.

        A scope without suite and policy takes all of both; its tools and `by` tool mean the expected one. Excluded runs
        have no cells. Reads the hours that the windows cover and no more, each row once however they overlap.
        """
        ...

    def judged_since(self, since: Cursor | None = None, limit: int = 1_000, *, tenant: str | None = None) -> Judged:
        """Decisions kept since the cursor (None: since ever), whoever judged, in the order in which they were kept.

        As with `arrivals`, nothing is missed though several judge at once, and a page, of `limit` decisions or one
        insert, may tell of one again. One that was replaced meanwhile may come as it was, then the later one comes too;
        that one was withdrawn is not told. With a tenant the cursor, too, is of its decisions alone: it says nothing of
        those of others.
        """
        ...

    def span_ids(self, trace_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Ids of all spans of these traces, in no order; a trace without spans is absent."""
        ...

    def runs_of_traces(self, trace_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Ids of the runs that hold spans of these traces, by trace id; a trace without a run is absent."""
        ...

    def retract(self, run_ids: Sequence[str], as_of: int | None = None) -> None:
        """Runs that are none any more, with all verdicts and decisions on them: no reader sees them again, unless they
        are written again.
        """
        ...

    @property
    def crews(self) -> Crews:
        """Workers that share the judging of what arrives."""
        ...

    @property
    def browse(self) -> Browse:
        """Lists, facets and histories, for pages and the read API."""
        ...

    @property
    def audit(self) -> Audit:
        """Who gave labels, silenced alerts and signed in."""
        ...

    @property
    def alerts(self) -> Alerts:
        """States, silences, notifications and leases of monitors, and what they ask besides figures."""
        ...

    @property
    def labels(self) -> Labels:
        """What people and judges say was expected of runs, and the sample that they are asked about."""
        ...

    def bookmark(self, name: str) -> str | None:
        """What `set_bookmark` kept under the name last."""
        ...

    def set_bookmark(self, name: str, place: str) -> None: ...

    def overview(self) -> Overview:
        """Counts per service and scope, for `doctor`."""
        ...

    def sizes(self) -> tuple[TableSize, ...]:
        """What the tables take, in order of name; tables without rows are left out. Reads no data, only the catalog."""
        ...

    def state(self) -> StoreState:
        """Engine, schema, tables, retention and replicas as they are. Reads no data, only the catalog."""
        ...

    def raw_engine(self) -> RawEngine | None:
        """The embedded engine, to be lent to other processes; None when the store is not in this process."""
        ...

    def close(self) -> None:
        """Let go of the store; closing twice is fine. Other methods then raise `StoreError`."""
        ...
