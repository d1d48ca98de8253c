"""Sessions: a signed cookie that says by which entry, or with which claims, somebody signed in.

Nothing about them is kept here but the ids of those that were ended before their time. The mark of a token's entry is
made of its digest: once the token is removed or replaced, the session is over with the next request.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer

from otel_toolselect.receive.access import sender_of
from otel_toolselect.receive.status import ForbiddenError
from otel_toolselect.receive.tokens import Entry
from otel_toolselect.web.person import SCOPES_OF, Person, person_of
from otel_toolselect.web.signin.claims import Claims, role_of, tenant_of
from otel_toolselect.web.site import Site

_ENDED_KEPT = 100_000


class Sessions:
    """Safe for threads."""

    def __init__(self, site: Site, clock: Callable[[], float] = time.time) -> None:
        self._site = site
        self._clock = clock
        self._serializer = URLSafeTimedSerializer(site.key, salt="toolselect.session")
        self._ended: dict[str, float] = {}
        self._lock = threading.Lock()

    @property
    def seconds(self) -> int:
        return int(self._site.settings.web.session_hours * 3600)

    def of_entry(self, entry: Entry) -> str:
        """The cookie of whoever presented the entry's token."""
        return self._dump({"k": "token", "n": entry.name, "m": self._mark(entry)})

    def of_claims(self, claims: Claims) -> str:
        """The cookie of whoever a provider of OpenID Connect vouches for."""
        return self._dump({"k": "oidc", "n": claims.name, "v": list(claims.values)})

    def person(self, cookie: str, certificate: Sequence[str] = ()) -> Person | None:
        """Whose session a cookie is, as their rights are now; None when it is nobody's (any more)."""
        try:
            held: dict[str, Any] = self._serializer.loads(cookie, max_age=self.seconds)
        except BadSignature:  # or too old
            return None
        if held["s"] in self._ended:
            return None
        return self._of_token(held, certificate) if held["k"] == "token" else self._of_provider(held)

    def end(self, person: Person) -> None:
        """The cookie is of no use any more, whoever has a copy of it."""
        with self._lock:
            now = self._clock()
            self._ended = {sid: until for sid, until in self._ended.items() if until > now}
            if len(self._ended) >= _ENDED_KEPT:
                self._ended.pop(next(iter(self._ended)))
            self._ended[person.session] = now + self.seconds

    def _dump(self, held: Mapping[str, Any]) -> str:
        return str(self._serializer.dumps({**held, "s": secrets.token_urlsafe(12)}))

    def _of_token(self, held: Mapping[str, Any], certificate: Sequence[str]) -> Person | None:
        entry = self._site.access.named(held["n"])
        if entry is None or not hmac.compare_digest(self._mark(entry), held["m"]) or "read" not in entry.scopes:
            return None
        if entry.certificate and entry.certificate not in certificate:
            return None
        return person_of(sender_of(entry), "session", held["s"])

    def _of_provider(self, held: Mapping[str, Any]) -> Person | None:
        settings = self._site.settings.oidc
        role = role_of(settings, held["v"]) if settings.on else None
        if role is None:
            return None
        try:
            tenant = tenant_of(settings, held["v"])
        except ForbiddenError:  # the settings are other ones than when they signed in
            return None
        return Person(held["n"], SCOPES_OF[role], "oidc", tenant, held["s"])

    def _mark(self, entry: Entry) -> str:
        return hmac.new(self._site.key, b"entry" + (entry.digest or b""), hashlib.sha256).hexdigest()[:32]
