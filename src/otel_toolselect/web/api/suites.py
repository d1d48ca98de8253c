"""/api/v1/suites: suites and rules, cases with history."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from otel_toolselect.app import browse
from otel_toolselect.app.browse.figure_models import CaseRow, SuiteRow, SuiteView
from otel_toolselect.web.api import Endpoints, Paged, Reader
from otel_toolselect.web.problems import NotFoundError

router = APIRouter(tags=["suites"])


@router.get("/suites")
def suites(call: Reader) -> list[SuiteRow]:
    """Every suite and rule with decisions in the window."""
    return list(browse.suite_list(call.reader, call.filters))


@router.get("/suites/{name}")
def suite(
    call: Reader,
    paged: Paged,
    name: str,
    after: Annotated[str, Query(max_length=400, description="`next` of the page before")] = "",
) -> SuiteView:
    """A page of cases with their latest runs. None for a suite without decisions in the window."""
    return browse.suite_view(call.reader, name, call.filters, after or None)


@router.get("/suites/{name}/cases/{case_id:path}")
def case(call: Reader, name: str, case_id: str) -> CaseRow:
    """One case with up to 500 runs."""
    found = browse.case_view(call.reader, name, case_id, call.filters)
    if found is None:
        raise NotFoundError(f"{name} has no run of the case {case_id} in this window; choose a longer one")
    return found


PLUGIN = Endpoints("suites", router)
