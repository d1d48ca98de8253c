"""The audit log as its page and the read API show it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.errors import UsageError
from otel_toolselect.store import AuditEntry

_CURSOR = re.compile(r"(\d{1,19})-([0-9a-f]{1,64})")


@dataclass(frozen=True, slots=True)
class AuditList:
    """`next`: a cursor; None on the last page. `actions`: the words for actions that occur."""

    rows: tuple[AuditEntry, ...]
    next: str | None
    actions: tuple[str, ...]


def audit_list(reader: Reader, filters: Filters, *, actor: str = "", action: str = "") -> AuditList:
    """What was done within the window, the latest first; by people of the reader's tenant, where there is one.

    Raises UsageError for a cursor that is none.
    """
    window = filters.window(reader.now_ns)
    page = reader.store.audit.read(
        tenant=reader.tenant,
        since_ns=window.start_ns,
        until_ns=window.end_ns,
        actor=actor or None,
        action=action or None,
        after=_place(filters.cursor),
        limit=filters.size,
    )
    following = None if page.next is None else f"{page.next[0]}-{page.next[1]}"
    return AuditList(page.entries, following, reader.store.audit.actions())


def _place(cursor: str) -> tuple[int, str] | None:
    if not cursor:
        return None
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise UsageError("cursor: this is none of the audit log; begin at the first page")
    return int(found[1]), found[2]
