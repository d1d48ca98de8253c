"""/api/v1/catalogs: what agents were offered."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from otel_toolselect.app import browse
from otel_toolselect.app.browse.state_models import CatalogDiffView, CatalogList, CatalogView
from otel_toolselect.web.api import Endpoints, Reader
from otel_toolselect.web.problems import NotFoundError

router = APIRouter(tags=["catalogs"])
Id = Annotated[str, Query(min_length=4, max_length=200, description="A catalog's id, or the beginning of it")]
_MISSING = "there is no such catalog in this window; choose a longer one"


@router.get("/catalogs")
def catalogs(call: Reader) -> CatalogList:
    """Catalogs of the window and who was offered them."""
    return browse.catalog_list(call.reader, call.filters)


@router.get("/catalogs/compare")
def compare(call: Reader, before: Id, after: Id) -> CatalogDiffView:
    """What changed from one to another, and which suspicions are new."""
    found = browse.catalog_diff(call.reader, before, after, call.filters)
    if found is None:
        raise NotFoundError(_MISSING)
    return found


@router.get("/catalogs/{catalog_id}")
def catalog(call: Reader, catalog_id: str) -> CatalogView:
    """One catalog with its tools, and what in it makes wrong choices likely."""
    found = browse.catalog_view(call.reader, catalog_id, call.filters)
    if found is None:
        raise NotFoundError(_MISSING)
    return found


PLUGIN = Endpoints("catalogs", router)
