"""A small provider of OpenID Connect on loopback: discovery, codes with PKCE, signed ID tokens, userinfo.

Who comes is let in at once. `Provider` has knobs for what a provider, or somebody between, may do wrongly.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import urlencode

import uvicorn
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT, SECRET = "toolselect", "provider-secret-0123456789"


@cache
def key() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "one"}, private=True)


@cache
def other_key() -> RSAKey:
    """Not among the published ones, but of the same name."""
    return RSAKey.generate_key(2048, {"kid": "one"}, private=True)


@dataclass
class Provider:
    """`claims`: of the person who signs in. `changed`: claims of the ID token that are not as they should be.
    `only_at`: claims that userinfo alone tells.
    """

    issuer: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)
    only_at_userinfo: tuple[str, ...] = ()
    userinfo_sub: str | None = None
    signs_with: RSAKey = field(default_factory=key)
    refuses: str = ""
    asked: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self.discovery),
                Route("/authorize", self.authorize),
                Route("/token", self.token, methods=["POST"]),
                Route("/keys", self.keys),
                Route("/userinfo", self.userinfo),
            ]
        )

    async def discovery(self, _: Request) -> Response:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
            }
        )

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.asked.append(asked)
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        if self.refuses:
            query = {"error": self.refuses, "state": asked["state"]}
        else:
            code = secrets.token_urlsafe(16)
            self.codes[code] = asked
            query = {"code": code, "state": asked["state"]}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(query)}", 302)

    async def token(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        asked = self.codes.pop(form.get("code", ""), None)
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).decode().rstrip("=")
        if (
            request.headers.get("authorization") != f"Basic {basic}"
            or asked is None
            or challenge != asked["code_challenge"]
            or form["redirect_uri"] != asked["redirect_uri"]
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        now = int(time.time())
        told = {name: value for name, value in self.claims.items() if name not in self.only_at_userinfo}
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": asked["nonce"], **told}
        id_token = jwt.encode({"alg": "RS256", "kid": "one"}, claims | self.changed, self.signs_with)
        return JSONResponse({"access_token": "at-1", "token_type": "Bearer", "id_token": id_token})

    async def keys(self, _: Request) -> Response:
        return JSONResponse({"keys": [key().as_dict(private=False)]})

    async def userinfo(self, request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer at-1"
        return JSONResponse(self.claims | ({"sub": self.userinfo_sub} if self.userinfo_sub else {}))


@contextmanager
def provider() -> Iterator[Provider]:
    made = Provider()
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.bind(("127.0.0.1", 0))
    bound.listen()  # at once: whoever comes before the thread has started waits, and is not refused
    made.issuer = f"http://127.0.0.1:{bound.getsockname()[1]}"
    config = uvicorn.Config(made.app(), log_config=None, lifespan="off", ws="none", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.should_exit = True
        thread.join(30)
        bound.close()
