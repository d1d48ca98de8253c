"""/api/v1/runs: lists of runs, what to filter them by, one run."""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any

from fastapi import APIRouter, Query

from otel_toolselect.app import browse
from otel_toolselect.app.browse.run_models import FacetList, RunList, RunTimeline
from otel_toolselect.reports import jsonable
from otel_toolselect.web.api import Endpoints, Paged, Reader, Text, Texts
from otel_toolselect.web.problems import NotFoundError

router = APIRouter(tags=["runs"])
MEMBERS = tuple(field.name for field in fields(RunTimeline))
Sort = Annotated[
    str | None, Query(max_length=20, description="start, duration, tokens, cost, calls; - for largest first")
]


@router.get("/runs")
def runs(
    call: Reader,
    paged: Paged,
    status: Texts = None,
    failure: Texts = None,
    owner: Texts = None,
    origin: Texts = None,
    expected: Texts = None,
    observed: Texts = None,
    provider: Texts = None,
    prompt: Texts = None,
    label: Texts = None,
    case: Texts = None,
    first_action: Texts = None,
    called: Texts = None,
    has: Texts = None,
    text: Text = None,
    sort: Sort = None,
) -> RunList:
    """Judged runs, a page at a time."""
    return browse.run_list(call.reader, call.filters)


@router.get("/facets")
def facets(call: Reader) -> FacetList:
    """Values to filter runs by, with how many runs each has, and how many runs fit the filters."""
    return browse.facet_list(call.reader, call.filters)


@router.get("/runs/{run_id:path}")
def run(call: Reader, run_id: str) -> dict[str, Any]:
    """One run in order, with verdicts, their evidence, and raw spans: the members of `RunTimeline`. What is not known
    is {"unknown": reason}.
    """
    found = browse.run_timeline(call.reader, run_id, call.filters)
    if found is None:
        raise NotFoundError("there is no such run here; it may be another store's, or another tenant's")
    return {name: jsonable(getattr(found, name)) for name in MEMBERS}


PLUGIN = Endpoints("runs", router)
