"""Tokens against forms that other sites send: each is made for one browser and one session, and opens no other."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from otel_toolselect.web.person import Person
from otel_toolselect.web.problems import RefusedError

FIELD, HEADER = "csrf", "x-csrf-token"


def new_browser() -> str:
    """What a browser is known by between two requests, before anybody signs in."""
    return secrets.token_urlsafe(16)


def token(key: bytes, browser: str, who: Person | None) -> str:
    session = f"{who.name}\0{who.session}" if who is not None else ""
    return hmac.new(key, f"form\0{browser}\0{session}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def check(key: bytes, browser: str, who: Person | None, given: str) -> None:
    """Raises RefusedError."""
    wanted = token(key, browser, who).encode()
    if not browser or not hmac.compare_digest(wanted, given.encode("utf-8", "replace")):
        raise RefusedError("the form is not of this session, or older than it: load the page again and send it anew")
