"""Who did what: labels, silences, sign-ins. For administrators."""

from __future__ import annotations

from otel_toolselect.app.audited import audit_list
from otel_toolselect.web.call import Call
from otel_toolselect.web.page import Answer, Page, Section, Show
from otel_toolselect.web.tables import Column, Table

_COLUMNS = (Column("When"), Column("Who"), Column("What"), Column("To what"), Column("From where"), Column("More"))


def audit(call: Call) -> Answer:
    asked = {name: call.query.get(name, "")[:200] for name in ("actor", "action")}
    found = audit_list(call.reader, call.filters, actor=asked["actor"], action=asked["action"])
    following = call.here(cursor=found.next) if found.next else None
    table = Table("What was done in this window, the latest first", _COLUMNS, found.rows, next=following)
    return Show("audit.html.j2", {"table": table, "actions": found.actions, **asked}, title="Audit log")


PLUGIN = Section("audit", "Audit", (Page("/audit", audit, scope="admin"),), order=90, scope="admin")
