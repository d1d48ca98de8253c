"""The read API, /api/v1: what pages show, as JSON, by the same view functions (`app.browse`).

A part of it is one module here with one `PLUGIN`, an `Endpoints`:

    router = APIRouter(prefix="/catalogs", tags=["catalogs"])

    @router.get("")
    def catalogs(call: Reader) -> CatalogList:              # a frozen dataclass is its own response model
        return browse.catalog_list(call.reader, call.filters)

    PLUGIN = Endpoints("catalogs", router)

`Paged` tells of the parameters size and cursor. `Reader` is a `Call` with the filters of the address; `Labeller` and
`Admin` are one whose caller has that scope. Who may not is answered before the function is called. Functions are
plain (`def`): they run in one of few threads. Errors of `errors` are answered as application/problem+json. What only
some callers may see is never in the document of others: `call.reader.tenant` is the caller's tenant. Parameters of a
list that `_reader` does not name are declared by the function that has them, and are in `call.filters` all the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from otel_toolselect import __version__
from otel_toolselect.app.browse.filters import MOST_CHARACTERS, MOST_VALUES
from otel_toolselect.errors import ToolselectError, UsageError
from otel_toolselect.registry import discover
from otel_toolselect.store.browse_api import MOST_ROWS
from otel_toolselect.web.call import Call
from otel_toolselect.web.problems import PROBLEM, as_json, problem_of
from otel_toolselect.web.running import call_of

if TYPE_CHECKING:
    from otel_toolselect.web.site import Site


@dataclass(frozen=True, slots=True)
class Endpoints:
    """One module of the API."""

    name: str
    router: APIRouter


_TIME = "24h for that long ago, or an ISO 8601 date or time, in UTC unless it names another zone"
Text = Annotated[str | None, Query(max_length=MOST_CHARACTERS)]
Texts = Annotated[list[str] | None, Query(max_length=MOST_VALUES)]


def _reader(
    request: Request,
    since: Annotated[str | None, Query(max_length=100, description=f"{_TIME}; empty: ever. Default: 7d")] = None,
    until: Annotated[str | None, Query(max_length=100, description=f"{_TIME}. Default: now")] = None,
    suite: Texts = None,
    agent: Texts = None,
    service: Texts = None,
    model: Texts = None,
    catalog: Texts = None,
    tenant: Texts = None,
) -> Call:
    """The parameters are here for the document, which has those that all lists share; `Filters.parse` reads them."""
    return call_of(request, request.app.state.site)


Reader = Annotated[Call, Depends(_reader)]


def _paged(
    size: Annotated[int | None, Query(ge=1, le=MOST_ROWS, description="Rows. Default: 50")] = None,
    cursor: Annotated[str | None, Query(max_length=MOST_CHARACTERS, description="`next` of the page before")] = None,
) -> None:
    """For the document; they are in `Call.filters`, too."""


Paged = Annotated[None, Depends(_paged)]
"""Of a list that has pages."""


def _bare(request: Request) -> Call:
    return call_of(request, request.app.state.site, plain=True)


Bare = Annotated[Call, Depends(_bare)]
"""A caller whose address has no filters."""


def _labeller(call: Bare) -> Call:
    call.who.must("label")
    return call


def _admin(call: Bare) -> Call:
    call.who.must("admin")
    return call


Labeller = Annotated[Call, Depends(_labeller)]
Admin = Annotated[Call, Depends(_admin)]


class AsciiJson(JSONResponse):
    """Texts of traces may hold half characters, which UTF-8 cannot spell, but JSON can."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


_PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what was wrong and what to do next"},
    },
}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"description": text, "content": {PROBLEM: {"schema": _PROBLEM_SCHEMA}}}
    for code, text in (
        (400, "Parameters that cannot be used"),
        (401, "No token or session, or one that is over"),
        (403, "Known, but not for this"),
        (404, "Not there, or not for the caller"),
        (503, "The store does not answer, or too much is asked at the same time"),
        (504, "Not answered in time: choose a shorter window or more filters"),
    )
}


def api_app(site: Site) -> FastAPI:
    """To be mounted; it stands behind the door (`web.signin.door`), which asks who calls."""
    app = FastAPI(
        title="toolselect",
        summary="Did my agent pick the right tool? What the pages show, as JSON.",
        version=__version__,
        docs_url=None,  # they load their scripts from elsewhere
        redoc_url=None,
        default_response_class=AsciiJson,
        dependencies=[Depends(HTTPBearer(auto_error=False, description="a token with the scope read"))],
        responses=_RESPONSES,
    )
    app.state.site = site
    for endpoints in parts():
        app.include_router(endpoints.router)

    async def told(request: Request, error: Exception) -> Response:
        return as_json(problem_of(_said(error)))

    for kind in (RequestValidationError, HTTPException, ToolselectError, Exception):
        app.add_exception_handler(kind, told)
    return app


def _said(error: Exception) -> Exception:
    """Which parameter cannot be used; its value is not repeated."""
    if not isinstance(error, RequestValidationError):
        return error
    return UsageError("; ".join(f"{'.'.join(map(str, e['loc'][1:]))}: {e['msg']}" for e in error.errors()))


def parts() -> Sequence[Endpoints]:
    return tuple(discover(__name__).values())
