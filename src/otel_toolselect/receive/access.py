"""Who may send, and as whom: the one place that turns what a connection presents into a Sender."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from otel_toolselect.model.runs import TENANT
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.quotas import Quotas
from otel_toolselect.receive.status import ForbiddenError, NotAllowedError, QuotaError
from otel_toolselect.receive.tokens import SCOPES, UNLIMITED, Entry, Quota, digest_of, read_tokens
from otel_toolselect.receive.watched import Watched

Scope = Literal["send", "read", "label", "admin"]
_NO_TOKEN = bytes(32)


@dataclass(frozen=True, slots=True)
class Sender:
    """Somebody who was let in. `attributes` are stamped on the resource of everything that it sends."""

    name: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    scopes: frozenset[str] = frozenset(SCOPES)
    quota: Quota = UNLIMITED

    @property
    def tenant(self) -> str | None:
        """The only tenant whose data it may read, that which its own data is stamped with; None: it may read all."""
        return self.attributes.get(TENANT)


ANYBODY = Sender()
"""The sender of a port that asks for nothing: loopback only, unless asked for in so many words."""

CALLER: ContextVar[Sender] = ContextVar("CALLER", default=ANYBODY)
"""Who calls a gRPC method, for its handler; over HTTP it is `request.state.sender`."""


class Access:
    """Lets senders in. Admitting is safe for threads, quotas are of the event loop.

    `token` opens everything; `tokens` is a file (see `tokens`), read again when it changes. Neither: a client whose
    certificate was verified is a sender (`certificates` says that the port demands one), or else anybody is.
    `clock` gives monotonic seconds. Raises InputError when the file cannot be used.
    """

    def __init__(
        self,
        token: str | None = None,
        *,
        tokens: Path | None = None,
        certificates: bool = False,
        counters: Counters | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._single = (_entry_of(token),) if token is not None else ()
        self._counters = counters or Counters()
        self._clock = clock
        self._quotas = Quotas()
        self._certificates = certificates
        self._file = (
            Watched((tokens,), lambda: read_tokens(tokens), lambda: self._counters.add(reload_failures=1))
            if tokens is not None
            else None
        )

    def admit(self, authorization: str | None, certificate: Sequence[str] = (), scope: Scope = "send") -> Sender:
        """The sender behind an `authorization` header and the names of a verified certificate, the common one first.

        Raises NotAllowedError for nobody known, ForbiddenError for somebody known who may not do this.
        """
        sender = self._who(authorization, certificate)
        if scope not in sender.scopes:
            raise ForbiddenError(f"{sender.name} may not {scope}: it is not in its scopes")
        return sender

    @property
    def asks(self) -> bool:
        """Whether a caller must show anything; without, everybody is ANYBODY."""
        return bool(self._entries()) or self._certificates

    def holder(self, token: str, certificate: Sequence[str] = ()) -> Entry | None:
        """The entry that a token opens."""
        return self._find(digest_of(token), certificate)

    def named(self, name: str) -> Entry | None:
        """The entry of that name as it stands now, for sessions that were begun with its token."""
        return next((entry for entry in self._entries() if entry.name == name), None)

    def _entries(self) -> tuple[Entry, ...]:
        return self._single + (self._file.get() if self._file is not None else ())

    def _who(self, authorization: str | None, certificate: Sequence[str]) -> Sender:
        if not self._entries():
            if not self._certificates:
                return ANYBODY
            if certificate:
                return Sender(certificate[0], scopes=frozenset({"send"}))
            raise NotAllowedError("a client certificate is needed", where="certificate")
        scheme, _, given = (authorization or "").partition(" ")
        found = self._find(digest_of(given.strip()) if scheme.lower() == "bearer" else None, certificate)
        if found is None:
            raise NotAllowedError("a bearer token is needed, and this is none or another", where="authorization")
        return sender_of(found)

    def _find(self, presented: bytes | None, certificate: Sequence[str]) -> Entry | None:
        found: Entry | None = None
        for entry in self._entries():  # all, each in the same time: how long it takes says nothing of where it matched
            if _fits(entry, presented, certificate):
                found = entry
        return found

    def allow(self, sender: Sender) -> None:
        """Called before a body is read. Raises QuotaError for a sender who used up what it may send."""
        try:
            self._quotas.check(sender.name, sender.quota, self._clock())
        except QuotaError:
            self._counters.over_quota(sender.name)
            raise

    def charge(self, sender: Sender, *, spans: int = 0, size: int = 0) -> None:
        """`spans` counts spans and log records; `size` is in bytes, inflated."""
        self._quotas.charge(sender.name, sender.quota, self._clock(), spans=spans, size=size)


def sender_of(entry: Entry) -> Sender:
    return Sender(entry.name, entry.attributes, entry.scopes, entry.quota)


def _entry_of(token: str) -> Entry:
    return Entry("", digest_of(token), scopes=frozenset(SCOPES))


def _fits(entry: Entry, presented: bytes | None, certificate: Sequence[str]) -> bool:
    """Whether everything that the entry names was presented. Who sends a token is known by that token."""
    same = hmac.compare_digest(entry.digest or _NO_TOKEN, presented or _NO_TOKEN)
    if entry.digest is None:
        return presented is None and entry.certificate in certificate
    return same and presented is not None and (not entry.certificate or entry.certificate in certificate)
