"""Suites, cases and catalogs over a window, for `browsing`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from otel_toolselect.model.catalogs import Catalog
from otel_toolselect.model.values import canonical
from otel_toolselect.store import browse_queries, browse_rows, run_rows
from otel_toolselect.store.browse_api import MOST_ROWS, CaseHistory, CaseRun, CatalogSeen, SuiteSummary
from otel_toolselect.store.browse_conditions import Slice
from otel_toolselect.store.queries import Select, Tables
from otel_toolselect.store.session import Session

IDS_PER_QUERY = 200  # bound into the request's address: 8 KB of it
MOST_SUITES = 1_000


class Histories:
    """The part of `browse_api.Browse` that tells how things went over time."""

    def __init__(self, session: Session, tables: Tables) -> None:
        self._session = session
        self._judged = tables.has("judgements") and tables.has("run_texts")

    def first_ns(self, *, tenant: str | None) -> int | None:
        found = self._select(browse_queries.oldest(tenant))
        return next(iter(found.get("First", ())), 0) or None

    def suites(
        self,
        *,
        tenant: str | None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        suite: str | None = None,
    ) -> tuple[SuiteSummary, ...]:
        part = Slice(since_ns, until_ns)
        found = {} if part.empty else self._select(browse_queries.suites(part, tenant, suite, MOST_SUITES))
        rows = zipped(found, "Name", "RuleName", "N", "Cases", "Statuses", "First", "Last", "From")
        return tuple(SuiteSummary(*row) for row in rows)

    def cases(
        self,
        suite: str,
        *,
        tenant: str | None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        after: str | None = None,
        limit: int = 100,
        recent: int = 30,
    ) -> tuple[CaseHistory, ...]:
        part = Slice(since_ns, until_ns)
        most = max(1, min(limit, MOST_ROWS))
        return self._cases(suite, part, tenant, None, after, most, max(1, min(recent, 1_000)))

    def case(
        self,
        suite: str,
        case_id: str,
        *,
        tenant: str | None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        recent: int = 500,
    ) -> CaseHistory | None:
        part = Slice(since_ns, until_ns)
        return next(iter(self._cases(suite, part, tenant, case_id, None, 1, max(1, min(recent, 1_000)))), None)

    def _cases(
        self,
        suite: str,
        part: Slice,
        tenant: str | None,
        case_id: str | None,
        after: str | None,
        most: int,
        recent: int,
    ) -> tuple[CaseHistory, ...]:
        if part.empty or not suite:
            return ()
        found = self._select(browse_queries.cases(suite, part, tenant, case_id=case_id, after=after, most=most))
        ids = found.get("Name", [])
        if not ids:
            return ()
        runs = self._case_runs(suite, ids, part, tenant, recent)
        unseen = [
            name
            for name, statuses in zipped(found, "Name", "Statuses")
            if "fail" in statuses and all(run.status != "fail" for run in runs[name])
        ]
        older = self._case_runs(suite, unseen, part, tenant, 1, failed=True)
        return tuple(
            browse_rows.history(suite, row, runs.get(row[0], []), older.get(row[0], []))
            for row in zipped(found, "Name", "N", "Statuses", "First", "Last")
        )

    def _case_runs(
        self, suite: str, ids: Sequence[str], part: Slice, tenant: str | None, rows: int, *, failed: bool = False
    ) -> dict[str, list[CaseRun]]:
        """The latest runs of cases, newest first."""
        if not ids:
            return {}
        return browse_rows.read_case_runs(
            self._select(browse_queries.case_runs(suite, ids, part, tenant, rows, failed=failed))
        )

    # catalogs

    def catalogs(
        self, *, tenant: str | None, since_ns: int | None = None, until_ns: int | None = None, limit: int = 500
    ) -> tuple[CatalogSeen, ...]:
        found = self._catalogs(Slice(since_ns, until_ns), tenant, None, limit)
        tools: dict[str, tuple[str, ...]] = {}
        for ids in chunks([seen.id for seen in found]):
            rows = self._select(Select(browse_queries.TOOL_NAMES, {"ids": ids}))
            tools |= {name: tuple(sorted(names)) for name, names in zipped(rows, "Id", "Tools")}
        return tuple(
            CatalogSeen(
                seen.id, seen.runs, seen.first_ns, seen.last_ns, seen.agents, seen.models, tools.get(seen.id, ())
            )
            for seen in found
        )

    def _catalogs(self, part: Slice, tenant: str | None, catalog_id: str | None, limit: int) -> tuple[CatalogSeen, ...]:
        if part.empty:
            return ()
        rows = self._select(browse_queries.catalogs(part, tenant, catalog_id, max(1, min(limit, 1_000))))
        return tuple(
            CatalogSeen(name, n, first, last, tuple(a for a in agents if a), tuple(m for m in models if m))
            for name, n, first, last, agents, models in zipped(rows, "Id", "N", "First", "Last", "Agents", "Models")
        )

    def catalog(
        self, catalog_id: str, *, tenant: str | None, since_ns: int | None = None, until_ns: int | None = None
    ) -> Catalog | None:
        found = self._catalogs(Slice(since_ns, until_ns), tenant, catalog_id, 1)
        texts = self._select(Select(browse_queries.TOOLS, {"id": catalog_id})).get("Tools", []) if found else []
        if not texts:
            return None
        seen = found[0]
        tools = sorted(run_rows.read_tools(texts[0]), key=lambda t: (t.name, t.description, canonical(t.schema)))
        return Catalog(seen.id, tuple(tools), seen.runs, seen.agents, seen.models, seen.first_ns, seen.last_ns)

    def _select(self, select: Select) -> dict[str, list[Any]]:
        """Nothing where the store has no tables yet."""
        return self._session.select(select.sql, select.params) if self._judged else {}


def zipped(rows: Mapping[str, list[Any]], *names: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows.get(name, ()) for name in names), strict=True)


def chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), IDS_PER_QUERY):
        yield ids[start : start + IDS_PER_QUERY]
