"""Alerts as they stand, silences, and what became of notifications (R48)."""

from __future__ import annotations

from otel_toolselect.app import browse, monitoring
from otel_toolselect.app.times import length, moment
from otel_toolselect.web.call import Call
from otel_toolselect.web.page import Action, Answer, Go, Page, Section, Show
from otel_toolselect.web.tables import Column, Table

_ALERTS = (
    Column("Alert"),
    Column("State"),
    Column("Value", numeric=True),
    Column("Says"),
    Column("Owner"),
    Column("Since", numeric=True),
)
_SILENCES = (
    Column("What"),
    Column("State"),
    Column("From", numeric=True),
    Column("Until", numeric=True),
    Column("By"),
    Column(""),
)
_SENT = (Column("Alert"), Column("What"), Column("To"), Column("Outcome"), Column("When", numeric=True))
_OUTCOMES = {
    "delivered": "delivered",
    "dead": "given up",
    "silenced": "held back by a silence",
    "unrouted": "not sent",
}
_LENGTHS = ("30m", "1h", "2h", "8h", "1d", "7d")


def alerts(call: Call) -> Answer:
    found = browse.alerts_view(call.reader)
    active = [row for row in found.silences if row.state != "over"]
    over = [row for row in found.silences if row.state == "over"]
    silences = [*active, *sorted(over, key=lambda row: -row.silence.until_ns)[:20]]
    values = {
        "found": found,
        "alerts": Table("Each series of each alert, what fires first", _ALERTS, found.alerts),
        "silences": Table("Silences", _SILENCES, silences),
        "sent": Table("Notifications, the latest first", _SENT, found.sendings),
        "outcomes": _OUTCOMES,
        "lengths": _LENGTHS,
        "prefill": call.query.get("match", "")[:400],
    }
    return Show("alerts.html.j2", values, title="Alerts")


def silence(call: Call) -> Answer:
    """Until a time, or for a length from now."""
    match = [word for line in call.field("match").splitlines() for word in [line.strip()] if word]
    until = call.field("until", limit=100)
    ends = moment(until, now_ns=call.now_ns) if until else call.now_ns + length(call.field("for", limit=10) or "2h")
    made = monitoring.silence(
        call.store, match, call.now_ns, ends or 0, by=call.who.name, comment=call.field("comment", limit=500),
        origin=call.origin,
    )  # fmt: skip
    return Go(call.link("/alerts") + "#silences", said=f"Silence {made.id} is in force.")


def expire(call: Call) -> Answer:
    monitoring.expire(call.store, call.field("id", limit=100), call.now_ns, call.origin)
    return Go(call.link("/alerts") + "#silences", said="The silence has ended; receivers hear of what is the case now.")


ACTIONS = (Action("/alerts/silences", silence, scope="admin"), Action("/alerts/silences/expire", expire, scope="admin"))
PLUGIN = Section("alerts", "Alerts", (Page("/alerts", alerts),), ACTIONS, order=70)
