"""Signing in with OpenID Connect: authorization code with PKCE, state and nonce, by authlib.

What it has to remember on the way to the provider and back stands in a signed cookie of ten minutes. An ID token is
taken from the issuer of the settings only, signed by one of its published keys. A claim that the ID token does not hold
is asked for at the provider's userinfo endpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from otel_toolselect.config import Oidc
from otel_toolselect.errors import EnvironmentProblem, UsageError
from otel_toolselect.receive.settings import is_loopback
from otel_toolselect.receive.status import ForbiddenError, NotAllowedError
from otel_toolselect.web.person import SCOPES_OF, Person
from otel_toolselect.web.signin.claims import Claims, claims_of, role_of, tenant_of, tenants
from otel_toolselect.web.signin.cookies import Cookies
from otel_toolselect.web.signin.door import SIGN_IN, Visitor
from otel_toolselect.web.signin.records import Records
from otel_toolselect.web.signin.routes import local
from otel_toolselect.web.signin.sessions import Sessions
from otel_toolselect.web.site import Site

START, BACK = f"{SIGN_IN}/oidc", f"{SIGN_IN}/oidc/back"
_WAY_S = 600
_ASYMMETRIC = ("RS", "PS", "ES", "Ed")


def check(settings: Oidc) -> None:
    """Raises UsageError for settings that let nobody in or send secrets in the clear, EnvironmentProblem without
    authlib.
    """
    place = urlsplit(settings.issuer)
    if place.scheme != "https" and not is_loopback(place.hostname or ""):
        raise UsageError(f"oidc.issuer: {settings.issuer} must be https, or on this machine")
    if not (settings.viewers or settings.labellers or settings.admins):
        raise UsageError('oidc: nobody has a role; name groups in viewers, labellers or admins ("*" is everybody)')
    tenants(settings)
    try:
        import authlib.integrations.starlette_client  # noqa: F401 - asked for at the start, used when somebody comes
    except ImportError as error:
        raise EnvironmentProblem("signing in with OpenID Connect: pip install 'otel-toolselect[oidc]'") from error


class OidcSignIn:
    """The two addresses of the way: to the provider, and back."""

    def __init__(self, site: Site, sessions: Sessions, records: Records) -> None:
        from authlib.integrations.starlette_client import OAuth

        self._site = site
        self._sessions = sessions
        self._records = records
        self._cookies = Cookies(site)
        self._signer = URLSafeTimedSerializer(site.key, salt="toolselect.oidc")
        settings = site.settings.oidc
        self._settings = settings
        self._client: Any = OAuth().register(
            "toolselect",
            client_id=settings.client_id,
            client_secret=settings.client_secret or None,
            server_metadata_url=f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={
                "scope": " ".join(settings.scopes),
                "code_challenge_method": "S256",
                "token_endpoint_auth_method": "client_secret_basic" if settings.client_secret else "none",
                "timeout": 10.0,
                "trust_env": not is_loopback(urlsplit(settings.issuer).hostname or ""),
            },
        )

    def routes(self) -> Sequence[BaseRoute]:
        return [Route(START, self.start, methods=["GET"]), Route(BACK, self.back, methods=["GET"])]

    async def start(self, request: Request) -> Response:
        """To the provider."""
        await self._metadata()
        held: dict[str, Any] = {"next": local(request.query_params.get("next", ""))}
        request.scope["session"] = held
        answer: Response = await self._client.authorize_redirect(request, self._return_address(request))
        self._cookies.set_oidc(answer, str(self._signer.dumps(held)))
        return answer

    async def back(self, request: Request) -> Response:
        """From the provider, with a code or an error. Raises NotAllowedError, ForbiddenError."""
        visitor: Visitor = request.state.visitor
        try:
            held: dict[str, Any] = self._signer.loads(request.cookies.get(self._cookies.oidc, ""), max_age=_WAY_S)
        except BadSignature:
            raise NotAllowedError("this way of signing in is not yours, or took too long: begin again") from None
        try:
            claims = claims_of(self._settings, await self._told(request, held))
        except (NotAllowedError, ForbiddenError) as error:
            await self._records.refused(visitor.address, type(error).__name__)
            raise
        await self._records.signed_in(visitor.address, self._person(claims))
        answer = RedirectResponse(self._site.root + local(str(held.get("next", ""))), 303)
        self._cookies.set_session(answer, self._sessions.of_claims(claims), self._sessions.seconds, strict=False)
        self._cookies.drop(answer, self._cookies.oidc)
        return answer

    def _person(self, claims: Claims) -> Person:
        role = role_of(self._settings, claims.values)
        assert role is not None  # `claims_of` refuses those without
        return Person(claims.name, SCOPES_OF[role], "oidc", tenant_of(self._settings, claims.values))

    async def _told(self, request: Request, held: dict[str, Any]) -> Mapping[str, Any]:
        """The claims of an ID token that was checked."""
        from authlib.integrations.starlette_client import OAuthError
        from joserfc.errors import JoseError

        metadata = await self._metadata()
        request.scope["session"] = held
        try:
            token = await self._client.authorize_access_token(request)
        except (OAuthError, JoseError, KeyError) as error:
            # what the provider says is not shown: it comes with the address, which anybody may have written
            raise NotAllowedError(f"the provider did not let you in ({type(error).__name__}): begin again") from error
        except Exception as error:
            raise _away(error) from error
        found = token.get("userinfo")
        if not found:
            raise NotAllowedError("the provider sent no ID token: oidc.scopes must hold openid")
        wanted = {self._settings.claim, self._settings.name_claim}
        if wanted - found.keys() and metadata.get("userinfo_endpoint"):
            more = await self._userinfo(token)
            if more.get("sub") == found["sub"]:  # OpenID Connect Core, 5.3.2: else it is of somebody else
                found = {**more, **found}
        return dict(found)

    async def _userinfo(self, token: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            return dict(await self._client.userinfo(token=token))
        except Exception as error:
            raise _away(error) from error

    async def _metadata(self) -> Mapping[str, Any]:
        """What the provider says of itself, asked once. Raises EnvironmentProblem."""
        try:
            found: dict[str, Any] = await self._client.load_server_metadata()
        except Exception as error:
            raise _away(error) from error
        if str(found.get("issuer", "")).rstrip("/") != self._settings.issuer.rstrip("/"):
            self._client.server_metadata.clear()
            raise EnvironmentProblem("the provider names another issuer than oidc.issuer: correct the setting")
        known = found.get("id_token_signing_alg_values_supported") or ["RS256"]
        found["id_token_signing_alg_values_supported"] = [name for name in known if name.startswith(_ASYMMETRIC)]
        return found

    def _return_address(self, request: Request) -> str:
        public = self._site.settings.web.public_url.rstrip("/")
        if public:
            return public + BACK
        return f"{request.url.scheme}://{request.headers.get('host', '')}{BACK}"


def _away(error: Exception) -> EnvironmentProblem:
    return EnvironmentProblem(f"the provider of OpenID Connect does not answer ({type(error).__name__}): try again")
