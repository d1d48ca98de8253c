"""From a request to a view function and back: the view runs in one of few threads, its errors become pages."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.receive.access import Scope as Right
from otel_toolselect.web.call import Call
from otel_toolselect.web.page import Go, Show, View
from otel_toolselect.web.person import ANYBODY
from otel_toolselect.web.problems import as_json, problem_of
from otel_toolselect.web.rendering import render
from otel_toolselect.web.signin.cookies import Cookies, theme_of
from otel_toolselect.web.site import Site

if TYPE_CHECKING:
    from otel_toolselect.web.signin.door import Visitor

SAID_SECONDS = 60


def call_of(request: Request, site: Site, *, plain: bool = False) -> Call:
    """What the view function is given. `plain`: without the filters, for pages that tell of an error in them."""
    visitor: Visitor | None = getattr(request.state, "visitor", None)
    who = (visitor.who if visitor else None) or ANYBODY
    filters = Filters() if plain else Filters.parse(request.query_params.multi_items())
    if who.tenant is not None:
        filters = replace(filters, tenant=())  # it is theirs, and no choice
    return Call(
        site=site,
        who=who,
        path=request.scope["path"],
        now_ns=time.time_ns(),
        filters=filters,
        query=request.query_params,
        params=request.path_params,
        form=visitor.form if visitor else FormData(),
        address=visitor.address if visitor else "",
        csrf=visitor.csrf if visitor else "",
        theme=theme_of(request.cookies),
        said=_said(request, site),
    )


def endpoint(site: Site, view: View, right: Right) -> Callable[[Request], Awaitable[Response]]:
    """For a route of starlette."""

    async def answer(request: Request) -> Response:
        call = call_of(request, site)
        call.who.must(right)
        return finished(await run_in_threadpool(_made, view, call), request, site)

    return answer


def _made(view: View, call: Call) -> Response:
    found = view(call)
    if isinstance(found, Show):
        return render(call, found)
    answer = RedirectResponse(found.to, 303)
    if found.said:
        _say(answer, found, call.site)
    return answer


def finished(answer: Response, request: Request, site: Site) -> Response:
    """With the cookies that the browser lacks, and without what it was told."""
    cookies, visitor = Cookies(site), request.state.visitor
    if cookies.browser not in request.cookies:
        cookies.set_browser(answer, visitor.browser)
    if cookies.said in request.cookies and answer.status_code == 200:
        cookies.drop(answer, cookies.said)
    return answer


def _say(answer: Response, go: Go, site: Site) -> None:
    Cookies(site).set_said(answer, str(_once(site).dumps(go.said[:1000])))


def _said(request: Request, site: Site) -> str:
    held = request.cookies.get(Cookies(site).said)
    if held is None:
        return ""
    try:
        return str(_once(site).loads(held, max_age=SAID_SECONDS))
    except BadSignature:
        return ""


def _once(site: Site) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(site.key, salt="toolselect.said")


class Refusing:
    """Errors as answers: pages for people, problem documents for programs."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send, error: Exception) -> None:
        await self.answer(Request(scope, receive), error)(scope, receive, send)

    def answer(self, request: Request, error: Exception) -> Response:
        problem = problem_of(error)
        if request.scope["path"].startswith("/api/"):
            return as_json(problem)
        call = call_of(request, self._site, plain=True)
        answer = render(call, Show("error.html.j2", {"problem": problem}, problem.title, problem.status))
        answer.headers.update(problem.headers)
        return answer
