"""Alerts, the pure part: definitions and windows in, states and notifications out (issue F, design section 10).

`evaluate` is the way in. It knows no clock, store or network: times are arguments, values come from a `Source`, the
state is a record that the caller keeps (`state_text`, `read_state`), and what must be sent lies in its outbox until it
is `acknowledged`.
"""

from otel_toolselect.monitor.alerts.evaluating import begin, correctable_since, evaluate, retire
from otel_toolselect.monitor.alerts.outbox import acknowledged
from otel_toolselect.monitor.alerts.records import notification_text, read_notification, read_state, state_text
from otel_toolselect.monitor.alerts.source import Source, with_known

__all__ = [
    "Source",
    "acknowledged",
    "begin",
    "correctable_since",
    "evaluate",
    "notification_text",
    "read_notification",
    "read_state",
    "retire",
    "state_text",
    "with_known",
]
