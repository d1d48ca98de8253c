"""Who may send, and as whom: the one place that turns what a connection presents into a Sender."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from otel_toolselect.receive.status import NotAllowedError


@dataclass(frozen=True, slots=True)
class Sender:
    """Somebody who was let in. `attributes` are stamped on the resource of everything that it sends."""

    name: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)


ANYBODY = Sender()
"""The sender of a port that asks for nothing: loopback only, unless asked for in so many words."""


class Access:
    """Lets senders in. Safe for threads."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    def admit(self, authorization: str | None) -> Sender:
        """The sender behind an `authorization` header. Raises NotAllowedError."""
        if self._token is None:
            return ANYBODY
        scheme, _, given = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token.encode()):
            raise NotAllowedError("a bearer token is needed, and this is none or another", where="authorization")
        return ANYBODY
