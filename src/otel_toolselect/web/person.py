"""Who looks at a page: a name, what they may do, whose data they may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from otel_toolselect.receive.access import Scope, Sender
from otel_toolselect.receive.status import ForbiddenError

Via: TypeAlias = Literal["open", "bearer", "session", "oidc", "certificate"]
Role: TypeAlias = Literal["viewer", "labeller", "admin"]

SCOPES_OF: dict[Role, frozenset[str]] = {
    "viewer": frozenset({"read"}),
    "labeller": frozenset({"read", "label"}),
    "admin": frozenset({"read", "label", "admin"}),
}
UNNAMED = "TOOLSELECT_TOKEN"
"""What the one token that has no name is called."""


@dataclass(frozen=True, slots=True)
class Person:
    """`tenant`: the only one whose data they may see, None: all. `session`: the id of their session, "" without one."""

    name: str
    scopes: frozenset[str]
    via: Via
    tenant: str | None = None
    session: str = ""

    @property
    def role(self) -> Role:
        return "admin" if "admin" in self.scopes else "labeller" if "label" in self.scopes else "viewer"

    @property
    def signed_in(self) -> bool:
        """Whether there is a session that they can end."""
        return self.via in ("session", "oidc")

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes

    def must(self, scope: Scope) -> None:
        """Raises ForbiddenError."""
        if not self.may(scope):
            raise ForbiddenError(f"this needs the scope {scope}, which {self.name} does not have")


LOCAL = Person("local", SCOPES_OF["admin"], "open")
"""Whoever is on this machine, where the port listens on loopback and asks for nothing."""

ANYBODY = Person("anybody", SCOPES_OF["viewer"], "open")
"""Whoever comes from anywhere to a port that was told to let anybody in (`allow_unauthenticated`)."""


def person_of(sender: Sender, via: Via, session: str = "") -> Person:
    return Person(sender.name or UNNAMED, sender.scopes, via, sender.tenant, session)
