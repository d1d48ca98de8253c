"""Catalogs that were seen, one of them with what is suspicious in it, and two side by side (R46)."""

from __future__ import annotations

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.browse.state_models import CatalogDiffView, CatalogList, CatalogView
from otel_toolselect.model.catalogs import Catalog, Suspicion
from otel_toolselect.triage.catalog_lint import Context, lint
from otel_toolselect.triage.catalogs import chosen, diff


def catalog_list(reader: Reader, filters: Filters) -> CatalogList:
    window = filters.runs(reader.now_ns)
    found = reader.store.browse.catalogs(tenant=reader.tenant, since_ns=window.since_ns, until_ns=window.until_ns)
    return CatalogList(filters, found)


def catalog_view(reader: Reader, catalog_id: str, filters: Filters) -> CatalogView | None:
    """A catalog by its id or the beginning of it. Raises UsageError when the beginning fits several."""
    found = _catalog(reader, catalog_id, filters)
    if found is None:
        return None
    others = tuple(seen for seen in catalog_list(reader, filters).catalogs if seen.id != found.id)
    return CatalogView(found, _suspicions(reader, found, filters), others)


def catalog_diff(reader: Reader, before: str, after: str, filters: Filters) -> CatalogDiffView | None:
    """What changed from one catalog to another; None when one of them is not there."""
    old, new = _catalog(reader, before, filters), _catalog(reader, after, filters)
    if old is None or new is None:
        return None
    known = {_what(one) for one in _suspicions(reader, old, filters)}
    fresh = tuple(one for one in _suspicions(reader, new, filters) if _what(one) not in known)
    return CatalogDiffView(diff(old, new), fresh)


def _catalog(reader: Reader, named: str, filters: Filters) -> Catalog | None:
    window = filters.runs(reader.now_ns)
    browse, tenant = reader.store.browse, reader.tenant
    since, until = window.since_ns, window.until_ns
    exact = browse.catalog(named, tenant=tenant, since_ns=since, until_ns=until)
    if exact is not None or not named:
        return exact
    seen = browse.catalogs(tenant=tenant, since_ns=since, until_ns=until)
    wanted = named.removeprefix("sha256:")
    listed = [Catalog(one.id, (), one.runs) for one in seen if one.id.removeprefix("sha256:").startswith(wanted)]
    if not listed:
        return None
    return browse.catalog(chosen(listed, named).id, tenant=tenant, since_ns=since, until_ns=until)


def _suspicions(reader: Reader, catalog: Catalog, filters: Filters) -> tuple[Suspicion, ...]:
    """With what was confused in the runs that were offered it."""
    scope = filters.changed(catalog=catalog.id).scope(reader.tenant)
    cells = reader.store.confusion(scope, (), [filters.window(reader.now_ns)]).get((), ({},))[0]
    return lint([catalog], Context(confused=cells))


def _what(one: Suspicion) -> tuple[str, tuple[str, ...], str]:
    return one.kind, one.tools, one.message
