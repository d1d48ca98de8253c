"""What a store promises of the audit log: who gave labels, silenced alerts and signed in. See `api` for the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One thing that somebody did. `via`: how they were known ("command": on the command line). `address`: of the
    client, "" on this machine. `tenant`: the only one that they may see, "" for all. `id` makes it unique.
    """

    at_ns: int
    id: str
    actor: str
    via: str
    action: str
    subject: str = ""
    address: str = ""
    tenant: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditPage:
    """`next`: where the next page begins; None on the last one."""

    entries: tuple[AuditEntry, ...]
    next: tuple[int, str] | None = None


class Audit(Protocol):
    """The part of a `Store` that keeps the audit log: `Store.audit`. Every method may raise `StoreError`."""

    def add(self, entries: Sequence[AuditEntry]) -> None:
        """Keep entries; on disk on return. One that was kept already changes nothing."""
        ...

    def read(
        self,
        *,
        tenant: str | None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        actor: str | None = None,
        action: str | None = None,
        after: tuple[int, str] | None = None,
        limit: int = 100,
    ) -> AuditPage:
        """Newest first, behind a place of an earlier page. `tenant`: only what its people did; None: everybody."""
        ...

    def actions(self) -> tuple[str, ...]:
        """The words for actions that occur, in order."""
        ...
