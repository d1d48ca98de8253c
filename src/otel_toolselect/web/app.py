"""Pages, read API and signing in as one ASGI application, for the HTTP port of `serve`."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from typing import Any

import anyio.to_thread
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from otel_toolselect.web import statics
from otel_toolselect.web.api import api_app
from otel_toolselect.web.bounds import Bounds
from otel_toolselect.web.headers import Headers
from otel_toolselect.web.page import sections
from otel_toolselect.web.running import Refusing, endpoint
from otel_toolselect.web.signin.door import Door
from otel_toolselect.web.signin.records import Records
from otel_toolselect.web.signin.routes import SignIn
from otel_toolselect.web.signin.sessions import Sessions
from otel_toolselect.web.signin.throttle import Throttle
from otel_toolselect.web.site import Site

API = "/api/v1"


def pages_app(site: Site) -> ASGIApp:
    """Everything that the receiver does not answer itself. It asks who calls."""
    refusing = Refusing(site)
    sessions, throttle, records = Sessions(site), Throttle(), Records(site)
    routes: list[BaseRoute] = [
        Route(f"{statics.PREFIX}/{{name}}", statics.serve, methods=["GET"]),
        Mount(API, api_app(site)),
        *SignIn(site, sessions, throttle, records).routes(),
        *_oidc_routes(site, sessions, records),
        *_page_routes(site),
    ]

    door = Door(_Told(Router(routes), refusing), site, sessions, throttle, refusing)
    web = site.settings.web
    bounds = Bounds(_Threads(door, web.threads), refusing, threads=web.threads, seconds=web.query_seconds)
    return Headers(bounds, tls=site.secure)


def _oidc_routes(site: Site, sessions: Sessions, records: Records) -> Sequence[BaseRoute]:
    if not site.settings.oidc.on:
        return ()
    from otel_toolselect.web.signin.oidc import OidcSignIn

    return OidcSignIn(site, sessions, records).routes()


def _page_routes(site: Site) -> list[BaseRoute]:
    found: list[BaseRoute] = []
    for section in sections():
        for page in section.pages:
            found.append(Route(page.path, endpoint(site, page.view, page.scope), methods=["GET"]))
        for action in section.actions:
            found.append(Route(action.path, endpoint(site, action.view, action.scope), methods=["POST"]))
    return found


class _Told:
    """Errors of the routes, as the answers that they are."""

    def __init__(self, app: ASGIApp, refusing: Refusing) -> None:
        self._app = app
        self._refusing = refusing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = False

        async def watched(message: MutableMapping[str, Any]) -> None:
            nonlocal began
            began = True
            await send(message)

        scope.setdefault("app", self)  # within an application a router raises what it has no route for
        try:
            await self._app(scope, receive, watched)
        except Exception as error:  # noqa: BLE001 - told by the one table
            if not began:  # else the API has told it, and raises it for those who would show it
                await self._refusing(scope, receive, send, error)


class _Threads:
    """Views and endpoints run in so many threads at most; the receiver's own work has other ones."""

    def __init__(self, app: ASGIApp, threads: int) -> None:
        self._app = app
        self._threads = threads

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        anyio.to_thread.current_default_thread_limiter().total_tokens = self._threads
        await self._app(scope, receive, send)
