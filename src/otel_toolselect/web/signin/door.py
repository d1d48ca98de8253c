"""Stands before every page and the read API: who calls, by which name of ours, and whether a form is our own."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlencode, urlsplit

from starlette.datastructures import FormData, Headers
from starlette.formparsers import MultiPartException
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from otel_toolselect.errors import InputError
from otel_toolselect.receive.http_protocol import CERTIFICATE
from otel_toolselect.receive.settings import is_loopback
from otel_toolselect.receive.status import ForbiddenError, NotAllowedError
from otel_toolselect.web.bounds import Refuse
from otel_toolselect.web.person import ANYBODY, LOCAL, Person, person_of
from otel_toolselect.web.problems import RefusedError
from otel_toolselect.web.signin import forms
from otel_toolselect.web.signin.cookies import Cookies
from otel_toolselect.web.signin.sessions import Sessions
from otel_toolselect.web.signin.throttle import Throttle
from otel_toolselect.web.site import Site
from otel_toolselect.web.statics import PREFIX

SIGN_IN, API = "/sign-in", "/api/"
_SAFE = ("GET", "HEAD", "OPTIONS")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_AGAIN = '<!DOCTYPE html><html lang="en"><meta http-equiv="refresh" content="0"><title>toolselect</title></html>'


@dataclass(frozen=True, slots=True)
class Visitor:
    """In the state of every request behind the door. `who` None: only where nobody has to be known."""

    who: Person | None
    browser: str
    csrf: str
    address: str
    form: FormData = field(default_factory=FormData)


class Door:
    """The application behind it finds a `Visitor` as `visitor` in the state of its requests. `refuse` tells errors."""

    def __init__(self, app: ASGIApp, site: Site, sessions: Sessions, throttle: Throttle, refuse: Refuse) -> None:
        self._app = app
        self._site = site
        self._sessions = sessions
        self._throttle = throttle
        self._refuse = refuse
        self._cookies = Cookies(site)
        self._hosts = _hosts(site)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"].startswith(f"{PREFIX}/"):  # nothing of it is secret
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        address = connection.client.host if connection.client else ""
        answer: Response | None = None
        try:
            if self._site.open and self._site.loopback:
                self._check_host(connection.headers)
            who = self._who(connection, address)
            browser = connection.cookies.get(self._cookies.browser) or forms.new_browser()
            csrf = forms.token(self._site.key, browser, who)
            form = FormData() if scope["method"] in _SAFE else await self._checked_form(scope, receive, who, browser)
            scope.setdefault("state", {})["visitor"] = Visitor(who, browser, csrf, address, form)
            if who is None and not _is_public(scope["path"]):
                answer = self._to_sign_in(connection)
            elif who is not None:
                who.must("read")
        except Exception as error:  # noqa: BLE001 - told by the one table
            await self._refuse(scope, receive, send, error)
            return
        if answer is not None:
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        """Without tokens the address of the machine is all that protects: a page elsewhere whose name was made to mean
        127.0.0.1 (DNS rebinding) is told by the name.
        """
        name = _split(f"//{headers.get('host', '')}").hostname or ""
        if name not in self._hosts and not name.endswith(".localhost") and not _is_loopback_address(name):
            raise RefusedError(f"{name!r} is no name of this machine: use localhost, or set web.public_url")

    def _who(self, connection: HTTPConnection, address: str) -> Person | None:
        authorization = connection.headers.get("authorization")
        certificate = connection.scope.get("state", {}).get(CERTIFICATE, ())
        access = self._site.access
        if authorization is not None and access.asks:
            try:
                return person_of(access.admit(authorization, certificate, "read"), "bearer")
            except NotAllowedError:
                self._throttle.check(address)  # who waits is told so, and not whether this one was right
                self._throttle.failed(address)
                raise
        found = self._sessions.person(connection.cookies.get(self._cookies.session, ""), certificate)
        if found is not None:
            return found
        if self._site.open:
            return LOCAL if self._site.loopback else ANYBODY
        return self._by_certificate(certificate)

    def _by_certificate(self, certificate: tuple[str, ...]) -> Person | None:
        if not certificate or not self._site.access.asks:
            return None
        try:
            return person_of(self._site.access.admit(None, certificate, "read"), "certificate")
        except (NotAllowedError, ForbiddenError):
            return None

    async def _checked_form(self, scope: Scope, receive: Receive, who: Person | None, browser: str) -> FormData:
        """The form that is posted. Raises RefusedError when it may be that of another site."""
        headers = Headers(scope=scope)
        form = FormData()
        if headers.get("content-type", "").split(";")[0].strip().lower() in _FORMS:
            form = await _form(Request(scope, receive))
        if who is not None and who.via == "bearer":
            return form  # a browser adds no such header by itself
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise RefusedError("this was sent by a page of another site")
        origin = headers.get("origin")
        if origin is not None and _split(origin).netloc not in self._names(headers):  # "null" has no netloc
            raise RefusedError("this was sent by a page of another site; behind a proxy, set web.public_url")
        given = headers.get(forms.HEADER) or str(form.get(forms.FIELD, ""))
        forms.check(self._site.key, browser, who, given)
        return form

    def _names(self, headers: Headers) -> tuple[str, ...]:
        names = headers.get("host", ""), urlsplit(self._site.settings.web.public_url).netloc
        return tuple(name for name in names if name)

    def _to_sign_in(self, connection: HTTPConnection) -> Response:
        scope, headers = connection.scope, connection.headers
        if scope["path"].startswith(API) or scope["method"] not in _SAFE:
            raise NotAllowedError("sign in, or present a bearer token with the scope read")
        if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") == "navigate":
            # a link elsewhere: the session's cookie is not sent with it (Strict), but it is when we load ourselves
            return HTMLResponse(_AGAIN)
        query = scope["query_string"].decode("latin-1")
        wanted = f"{scope['path']}{'?' if query else ''}{query}"
        place = f"{self._site.root}{SIGN_IN}?{urlencode({'next': wanted})}"
        if "hx-request" in headers:
            return Response(status_code=401, headers={"hx-redirect": place})
        return RedirectResponse(place, 303)


def _split(address: str) -> SplitResult:
    """Of a header that anybody may have written; what is no address has no name."""
    try:
        found = urlsplit(address)
        _ = found.hostname
    except ValueError:
        return SplitResult("", "", "", "", "")
    return found


async def _form(request: Request) -> FormData:
    try:
        return await request.form(max_files=0)
    except MultiPartException as error:
        raise InputError(f"the form cannot be read: {error.message}", where="body") from None


def _is_public(path: str) -> bool:
    return path == SIGN_IN or path.startswith(f"{SIGN_IN}/")


def _hosts(site: Site) -> frozenset[str]:
    named = (site.settings.receive.host, urlsplit(site.settings.web.public_url).hostname or "")
    return frozenset({"localhost", "127.0.0.1", "::1", *(name for name in named if name)})


def _is_loopback_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return is_loopback(name)
