"""Lists of runs, and what there is to filter them by."""

from __future__ import annotations

from collections.abc import Sequence

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.browse.run_models import FacetList, RunList
from otel_toolselect.store.browse_api import Facet

LISTED_FACETS: tuple[Facet, ...] = (
    "suite", "status", "failure", "owner", "origin", "agent", "service", "model", "provider", "prompt", "catalog",
    "label", "first_action", "called",
)  # fmt: skip
"""What a page of runs offers to choose from."""
VALUES = 50


def run_list(reader: Reader, filters: Filters) -> RunList:
    """The page that the cursor of the filters names, else the first."""
    page = reader.store.browse.runs(
        filters.runs(reader.now_ns),
        tenant=reader.tenant,
        sort=filters.order,
        descending=filters.descending,
        cursor=filters.cursor or None,
        limit=filters.size,
    )
    return RunList(
        filters=filters,
        rows=page.rows,
        next=filters.query(cursor=page.next) if page.next else None,
        previous=filters.query(cursor=page.previous) if page.previous else None,
        next_cursor=page.next,
        previous_cursor=page.previous,
    )


def facet_list(reader: Reader, filters: Filters, names: Sequence[Facet] | None = None) -> FacetList:
    """Values of the filters' window, of all tenants only for those who may see them."""
    chosen = list(names or (*LISTED_FACETS, *(("tenant",) if reader.tenant is None else ())))
    browse, of = reader.store.browse, filters.runs(reader.now_ns)
    return FacetList(
        filters=filters,
        count=browse.count(of, tenant=reader.tenant),
        values=browse.facets(of, tenant=reader.tenant, names=chosen, limit=VALUES),
    )
