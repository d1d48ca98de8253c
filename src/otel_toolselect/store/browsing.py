"""The part of the store that pages and the read API ask (contract in `browse_api`).

A list is read in two steps: first the ids of a page, by filters and order, from columns of a few bytes; then what its
rows show. Where a list is by start, the latest stretch of its window is asked first and the rest only if that does not
fill the page, so that a page costs what it shows and not what the history holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Span, tenant_of
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.store import browse_cursors, browse_queries, browse_rows, verdict_rows
from otel_toolselect.store.browse_api import (
    COUNTED,
    FACETS,
    MOST_ROWS,
    Count,
    Facet,
    FacetValue,
    RunFilter,
    RunPage,
    RunRecord,
    RunSummary,
    Sort,
)
from otel_toolselect.store.browse_conditions import Slice
from otel_toolselect.store.browse_histories import Histories, chunks, zipped
from otel_toolselect.store.browse_queries import Order, Place
from otel_toolselect.store.decision_rows import hour_of
from otel_toolselect.store.queries import NOW, Select, Tables
from otel_toolselect.store.session import Session

if TYPE_CHECKING:
    from otel_toolselect.store.api import Store

HOUR_NS = 3_600 * 10**9
STEPS = (6, 48, 384, 3_072)
"""Hours back from where a list begins to which it is asked first, then next, before it is asked for the rest."""


class Browsing(Histories):
    """Implements `browse_api.Browse`."""

    def __init__(self, session: Session, tables: Tables, store: Store) -> None:
        super().__init__(session, tables)
        self._store = store

    # lists

    def runs(
        self,
        of: RunFilter,
        *,
        tenant: str | None,
        sort: Sort = "start",
        descending: bool = True,
        cursor: str | None = None,
        limit: int = 50,
    ) -> RunPage:
        order, after = Order(sort, descending), None
        if cursor:
            order, after = browse_cursors.parse(cursor, sort, descending)
        size = max(1, min(limit, MOST_ROWS))
        found = self._places(of, tenant, order, after, size + 1)
        more, found = len(found) > size, found[:size]
        if order.backwards:
            found.reverse()
        rows = self._rows([place.run_id for place, _ in found], [hour for _, hour in found], tenant)
        forward, back = Order(sort, descending), Order(sort, descending, backwards=True)
        earlier, later = (more, True) if order.backwards else (after is not None, more)
        return RunPage(
            rows,
            next=browse_cursors.text(forward, found[-1][0]) if found and later else None,
            previous=browse_cursors.text(back, found[0][0]) if found and earlier else None,
        )

    def _places(
        self, of: RunFilter, tenant: str | None, order: Order, after: Place | None, rows: int
    ) -> list[tuple[Place, int]]:
        """Places of the next runs with the hours that they are filed under."""
        found: list[tuple[Place, int]] = []
        for part in self._parts(of, tenant, order, after):
            select = browse_queries.page(of, tenant, part, order, after, rows - len(found))
            page = self._select(select)
            names = ("Missing", "Value", "RunId", "FiledUnder")
            for missing, value, run_id, hour in zip(*(page.get(name, ()) for name in names), strict=True):
                found.append((Place(missing, value, run_id), hour))
            if len(found) >= rows:
                break
        return found

    def _parts(self, of: RunFilter, tenant: str | None, order: Order, after: Place | None) -> Iterator[Slice]:
        """The window in stretches, in the order in which they are asked."""
        whole = Slice(of.since_ns, of.until_ns)
        if whole.empty or order.sort != "start":
            yield from () if whole.empty else (whole,)
            return
        if after is not None:
            place = int(after.value)
            whole = _narrowed(whole, until_ns=place + 1) if order.down else _narrowed(whole, since_ns=place)
        if not order.down:
            yield from _upwards(whole)
            return
        now = self._select(Select(NOW, {})).get("Now", [0])[0] if whole.until_ns is None else whole.until_ns
        for part in _downwards(whole, now, STEPS[:2]):
            yield part
            if part.since_ns == whole.since_ns:
                return
        # nothing recent fills the page: the next stretches go back from where there is something
        rest = Slice(whole.since_ns, part.since_ns)
        newest = self._select(browse_queries.newest(tenant, rest)).get("Newest", [0])[0]
        if newest:
            yield from _downwards(rest, (newest + 3_600) * 10**9, (*STEPS, None))

    def count(self, of: RunFilter, *, tenant: str | None) -> Count:
        part = Slice(of.since_ns, of.until_ns)
        n = 0 if part.empty else self._select(browse_queries.count(of, tenant, part)).get("N", [0])[0]
        return Count(min(n, COUNTED), n <= COUNTED)

    def summaries(self, run_ids: Sequence[str], *, tenant: str | None) -> tuple[RunSummary, ...]:
        wanted = list(dict.fromkeys(run_ids))[:1_000]
        found: dict[str, RunSummary] = {}
        for ids in chunks(wanted):
            starts = self._select(browse_queries.starts(ids))
            hours = [hour_of(start) for start in starts.get("StartNs", ())]
            found |= {row.run_id: row for row in self._rows(starts.get("RunId", ()), hours, tenant)}
        return tuple(found[run_id] for run_id in wanted if run_id in found)

    def _rows(self, run_ids: Sequence[str], hours: Sequence[int], tenant: str | None) -> tuple[RunSummary, ...]:
        """Rows of a list, in order of the ids."""
        if not run_ids:
            return ()
        filed = sorted(set(hours))
        facts = self._select(browse_queries.facts(run_ids, filed, tenant))
        said = self._select(browse_queries.standings(run_ids, filed, tenant))
        texts = self._select(browse_queries.excerpts(run_ids))
        requests = dict(zip(texts.get("RunId", ()), texts.get("Excerpt", ()), strict=True))
        found = browse_rows.read_summaries(facts, browse_rows.read_standings(said), requests)
        return tuple(found[run_id] for run_id in run_ids if run_id in found)

    def facets(
        self, of: RunFilter, *, tenant: str | None, names: Sequence[Facet] = FACETS, limit: int = 50
    ) -> Mapping[Facet, tuple[FacetValue, ...]]:
        part, most = Slice(of.since_ns, of.until_ns), max(1, min(limit, 1_000))
        found: dict[Facet, list[FacetValue]] = {name: [] for name in names}
        if part.empty:
            return dict.fromkeys(names, ())
        for known, said in ((browse_queries.FACT_FACETS, False), (browse_queries.SAID_FACETS, True)):
            asked = [name for name in names if name in known]
            if asked:
                rows = self._select(browse_queries.facets(asked, part, tenant, most, said=said))
                for kind, value, n in zipped(rows, "Kind", "Value", "N"):
                    found[asked[kind]].append(FacetValue(value, n))
        for name, asks in (("suite", browse_queries.facet_rules), ("called", browse_queries.facet_called)):
            if name in found:
                more = self._select(asks(part, tenant, most))
                found[name] += [FacetValue(value, n) for value, n in zipped(more, "Value", "N")]
        return {name: tuple(values) for name, values in found.items()}

    # one run

    def run(self, run_id: str, *, tenant: str | None) -> RunRecord | None:
        kept = list(self._store.runs(run_ids=[run_id])) if self._judged else []
        if not kept:
            return None
        run = kept[0]
        decisions = self._decisions(run)
        owner = next((d.tenant for d in decisions if d.suite == ""), "")
        if tenant is not None and owner != tenant:
            return None
        ids = self._select(browse_queries.children(run_id, run.trace_ids)).get("RunId", [])
        return RunRecord(
            run=run,
            tenant=owner,
            decisions=decisions,
            verdicts=self._verdicts(run_id, sorted({d.suite for d in decisions if d.suite})),
            labels=self._store.labels.of_runs([run_id]),
            parent=next(iter(self.summaries([run.parent_run_id], tenant=tenant)), None) if run.parent_run_id else None,
            children=self.summaries(ids, tenant=tenant),
        )

    def _decisions(self, run: Run) -> tuple[Decision, ...]:
        return self._store.labels.decisions([run.run_id], run.start_ns, run.start_ns + 1)

    def _verdicts(self, run_id: str, suites: Sequence[str]) -> tuple[RunVerdict, ...]:
        found = self._select(browse_queries.verdicts(verdict_rows.READ_COLUMNS, suites, run_id)) if suites else {}
        return tuple(verdict_rows.read_verdicts(found))

    def spans(self, run: Run, *, tenant: str | None, limit: int = 2_000) -> tuple[Span, ...]:
        found: list[Span] = []
        for spans, _ in self._store.traces(trace_ids=run.trace_ids):
            found += [s for s in spans if tenant is None or tenant_of(s.resource) == tenant]
        found.sort(key=lambda span: (span.start_ns, span.span_id))
        return tuple(found[:limit])

    def neighbours(
        self, run_id: str, of: RunFilter, *, tenant: str | None, sort: Sort = "start", descending: bool = True
    ) -> tuple[str | None, str | None]:
        start = self._select(browse_queries.starts([run_id])).get("StartNs", ())
        stands = self._select(browse_queries.place_of(sort, run_id, start[0])) if start else {}
        for missing, value in zipped(stands, "Missing", "Value"):
            place = Place(missing, value, run_id)
            before = self._places(of, tenant, Order(sort, descending, backwards=True), place, 1)
            after = self._places(of, tenant, Order(sort, descending), place, 1)
            return before[0][0].run_id if before else None, after[0][0].run_id if after else None
        return None, None


def _narrowed(whole: Slice, *, since_ns: int | None = None, until_ns: int | None = None) -> Slice:
    """The overlap of two stretches."""
    since = [n for n in (whole.since_ns, since_ns) if n is not None]
    until = [n for n in (whole.until_ns, until_ns) if n is not None]
    return Slice(max(since, default=None), min(until, default=None))


def _downwards(whole: Slice, anchor: int, steps: Sequence[int | None]) -> Iterator[Slice]:
    """From the anchor back in time by hours, None: as far as the whole goes, at whose begin it ends. What is dated
    later than the anchor comes with the first stretch.
    """
    until = whole.until_ns
    for hours in steps:
        since = None if hours is None else anchor - hours * HOUR_NS
        if since is None or since <= (whole.since_ns or 0):
            yield Slice(whole.since_ns, until)
            return
        if until is None or since < until:
            yield Slice(since, until)
            until = since


def _upwards(whole: Slice) -> Iterator[Slice]:
    since = whole.since_ns
    for hours in STEPS if since is not None else ():
        until = (whole.since_ns or 0) + hours * HOUR_NS
        if whole.until_ns is not None and until >= whole.until_ns:
            break
        yield Slice(since, until)
        since = until
    yield Slice(since, whole.until_ns)
