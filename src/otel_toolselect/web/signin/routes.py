"""The pages of signing in and out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from otel_toolselect.receive.access import sender_of
from otel_toolselect.web.page import Show
from otel_toolselect.web.person import person_of
from otel_toolselect.web.rendering import render
from otel_toolselect.web.running import call_of, finished
from otel_toolselect.web.signin.cookies import Cookies
from otel_toolselect.web.signin.door import SIGN_IN, Visitor
from otel_toolselect.web.signin.records import Records
from otel_toolselect.web.signin.sessions import Sessions
from otel_toolselect.web.signin.throttle import Throttle
from otel_toolselect.web.site import Site

SIGN_OUT = "/sign-out"
_TOKEN_BYTES = 4096


@dataclass(frozen=True, slots=True)
class SignIn:
    """Signing in by a token, and out."""

    site: Site
    sessions: Sessions
    throttle: Throttle
    records: Records

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route(SIGN_IN, self.show, methods=["GET"]),
            Route(SIGN_IN, self.sign_in, methods=["POST"]),
            Route(SIGN_OUT, self.sign_out, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        return self._form(request, "", 200)

    async def sign_in(self, request: Request) -> Response:
        visitor: Visitor = request.state.visitor
        self.throttle.check(visitor.address)
        token = str(visitor.form.get("token", "")).strip()[:_TOKEN_BYTES]
        entry = self.site.access.holder(token, request.scope["state"].get("certificate", ())) if token else None
        if entry is None:
            await self.records.refused(visitor.address, "no such token")
            self.throttle.failed(visitor.address)
            return self._form(request, "This is no token that is known here.", 401)
        who = person_of(sender_of(entry), "session")
        if not who.may("read"):
            await self.records.refused(visitor.address, "not in its scopes", who)
            self.throttle.failed(visitor.address)
            return self._form(request, "This token may send, but not read: it needs the scope read.", 403)
        await self.records.signed_in(visitor.address, who)
        self.throttle.passed(visitor.address)
        answer = RedirectResponse(self.site.root + local(str(visitor.form.get("next", ""))), 303)
        Cookies(self.site).set_session(answer, self.sessions.of_entry(entry), self.sessions.seconds, strict=True)
        return answer

    async def sign_out(self, request: Request) -> Response:
        visitor: Visitor = request.state.visitor
        cookies = Cookies(self.site)
        answer = RedirectResponse(self.site.root + (SIGN_IN if not self.site.open else "/"), 303)
        if visitor.who is not None and visitor.who.signed_in:
            await self.records.signed_out(visitor.address, visitor.who)
            self.sessions.end(visitor.who)
        cookies.drop(answer, cookies.session)
        return answer

    def _form(self, request: Request, problem: str, status: int) -> Response:
        call = call_of(request, self.site)
        values: dict[str, Any] = {
            "problem": problem,
            "next": local(request.query_params.get("next", "") or call.field("next")),
        }
        values |= {"by_token": self.site.access.asks, "by_oidc": self.site.settings.oidc.on}
        return finished(render(call, Show("sign_in.html.j2", values, "Sign in", status)), request, self.site)


def local(path: str) -> str:
    """A path on this site; anything else leads to the first page: nobody is sent elsewhere after signing in."""
    fine = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if fine and not path.startswith(SIGN_IN) else "/"
