"""The audit log: who gave labels, silenced alerts, signed in. Written before the thing is done, so nothing that was
done is missing in it; what failed afterwards stands there all the same.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from otel_toolselect.store import Store

log = logging.getLogger(__name__)
COMMAND = "command"
"""How somebody is known who types a command on this machine: by nothing."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Who does something. `actor` "": as the thing itself says, such as the labeller of a label."""

    actor: str = ""
    via: str = COMMAND
    address: str = ""
    tenant: str | None = None


ON_THE_COMMAND_LINE = Origin()
Act = tuple[str, str, str, Mapping[str, Any]]
"""Actor where the origin has none, action, subject, detail."""


def note(store: Store, origin: Origin, acts: Iterable[Act], clock: Callable[[], int] = time.time_ns) -> None:
    """Keep what somebody does, in the store and as a line of the log (level info). Raises StoreError: then the thing is
    not to be done.
    """
    from otel_toolselect.store import AuditEntry

    entries = []
    for actor, action, subject, detail in acts:
        who = origin.actor or actor or "somebody"
        log.info("%s", action, extra={"actor": who, "via": origin.via, "address": origin.address, "subject": subject})
        entries.append(
            AuditEntry(
                at_ns=clock(),
                id=secrets.token_hex(8),
                actor=who,
                via=origin.via,
                action=action,
                subject=subject,
                address=origin.address,
                tenant=origin.tenant or "",
                detail=detail,
            )
        )
    store.audit.add(entries)
