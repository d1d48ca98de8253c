"""The part of the store that keeps the audit log (sql/0012; contract in `audit_api`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from otel_toolselect.store import columns as c
from otel_toolselect.store.audit_api import AuditEntry, AuditPage
from otel_toolselect.store.queries import MAX_TIME_NS, Select, Tables
from otel_toolselect.store.session import Session

_TEXTS = {
    "Id": "id", "Actor": "actor", "Via": "via", "Action": "action", "Subject": "subject", "Address": "address",
    "Tenant": "tenant",
}  # fmt: skip
_CONDITIONS = {
    "since": "AtNs >= {since:UInt64}",
    "until": "AtNs < {until:UInt64}",
    "actor": "Actor = {actor:String}",
    "action": "Action = {action:String}",
    "tenant": "Tenant = {tenant:String}",
}


class AuditRows:
    """Implements `audit_api.Audit`."""

    def __init__(self, session: Session, tables: Tables) -> None:
        self._session = session
        self._tables = tables

    def add(self, entries: Sequence[AuditEntry]) -> None:
        if not entries:
            return
        rows: dict[str, Any] = {
            name: c.column([getattr(e, key) for e in entries], c.TEXT) for name, key in _TEXTS.items()
        }
        rows["AtNs"] = c.column([e.at_ns for e in entries], c.UINT64)
        rows["At"] = c.column([e.at_ns for e in entries], c.TIME)
        rows["Detail"] = c.column([json.dumps(dict(e.detail), ensure_ascii=False) for e in entries], c.TEXT)
        self._session.insert("audit", rows)

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
        if not self._tables.has("audit"):
            return AuditPage(())
        wanted = {"since": _bounded(since_ns), "until": _bounded(until_ns), "actor": actor, "action": action}
        select = _page(wanted | {"tenant": tenant}, after, limit + 1)
        entries = _read(self._session.select(select.sql, select.params))
        more = len(entries) > limit
        last = entries[limit - 1] if more else None
        return AuditPage(tuple(entries[:limit]), (last.at_ns, last.id) if last else None)

    def actions(self) -> tuple[str, ...]:
        if not self._tables.has("audit"):
            return ()
        return tuple(self._session.select("SELECT DISTINCT Action FROM audit ORDER BY Action").get("Action", ()))


def _page(wanted: Mapping[str, Any], after: tuple[int, str] | None, limit: int) -> Select:
    params = {name: value for name, value in wanted.items() if value is not None}
    conditions = [_CONDITIONS[name] for name in params]
    if after is not None:
        conditions.append("(AtNs, Id) < ({at:UInt64}, {id:String})")
        params |= {"at": after[0], "id": after[1]}
    sql = f"""SELECT {", ".join(_TEXTS)}, AtNs, Detail
FROM audit FINAL
WHERE {" AND ".join(conditions) or "1"}
ORDER BY AtNs DESC, Id DESC
LIMIT {{limit:UInt32}}"""  # noqa: S608 - names of ours
    return Select(sql, params | {"limit": limit})


def _read(found: Mapping[str, list[Any]]) -> list[AuditEntry]:
    entries = []
    for i in range(len(found.get("Id", ()))):
        texts = {key: found[name][i] for name, key in _TEXTS.items()}
        entries.append(AuditEntry(at_ns=found["AtNs"][i], detail=json.loads(found["Detail"][i]), **texts))
    return entries


def _bounded(time_ns: int | None) -> int | None:
    return None if time_ns is None else max(0, min(time_ns, MAX_TIME_NS))
