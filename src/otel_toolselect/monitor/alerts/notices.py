"""Notifications of changes: numbered, named by a deterministic key, with all that a notifier needs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_toolselect.model.alerting import Alert, AlertState, Course, Notification, NotificationKind, Observed
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.monitor.alerts.silences import labels_of
from otel_toolselect.monitor.alerts.wording import instant, shown
from otel_toolselect.rules.templates import filled


@dataclass(frozen=True, slots=True)
class Occasion:
    """What a notification is about: a window, what was said of it, when it counts from."""

    observed: Observed
    says: str
    at_ns: int
    late: bool


def told(
    alert: Alert, state: AlertState, kinds: Sequence[NotificationKind], occasion: Occasion, before: Course
) -> tuple[AlertState, list[Notification]]:
    """The end of something goes under the labels under which it began, though the alert be edited in between: receivers
    know it by them.
    """
    made: list[Notification] = []
    for kind in kinds:
        state = replace(state, changes=state.changes + 1)
        notification = _notification(alert, state, kind, occasion, before)
        begun = {"resolve": state.fire, "data_back": state.gap}.get(kind)
        if begun is not None:
            notification = replace(notification, labels=begun.labels, severity=begun.severity, owner=begun.owner)
        made.append(notification)
        if kind in ("fire", "resolve"):
            state = replace(state, fire=notification if kind == "fire" else None)
        else:
            state = replace(state, gap=notification if kind == "no_data" else None)
    return state, made


def ended(begun: Notification, kind: NotificationKind, state: AlertState, now_ns: int, says: str) -> Notification:
    """The end of what began, where no window and no alert is at hand to tell it by."""
    change = state.changes
    told_now = replace(begun, key=key_of(state), change=change, kind=kind, at_ns=now_ns, says=says)
    return replace(told_now, annotations={}, detail=(), late=False, silenced_by=None)


def key_of(state: AlertState) -> str:
    return f"{state.alert}{json.dumps(dict(state.series), ensure_ascii=False, sort_keys=True)}#{state.changes}"


def _notification(
    alert: Alert, state: AlertState, kind: NotificationKind, occasion: Occasion, before: Course
) -> Notification:
    observed, signal = occasion.observed, SIGNALS[alert.signal]
    began = {
        "fire": state.course.since_ns,
        "resolve": before.since_ns,
        "no_data": state.course.empty_since_ns,
        "data_back": before.empty_since_ns,
    }[kind]
    since = occasion.at_ns if began is None else began
    value = 0.0 if observed.value is None and signal.empty_is_zero else observed.value
    fields = {
        **labels_of(alert, state.series),
        "kind": kind,
        "value": shown(value, signal.unit, n=observed.n, numerator=observed.numerator),
        "says": occasion.says,
        "at": instant(occasion.at_ns),
        "since": instant(since),
        "window_start": instant(observed.start_ns),
        "window_end": instant(observed.end_ns),
        "runbook": alert.runbook or "",
    }
    return Notification(
        key=key_of(state),
        alert=alert.id,
        series=state.series,
        change=state.changes,
        kind=kind,
        at_ns=occasion.at_ns,
        since_ns=since,
        start_ns=observed.start_ns,
        end_ns=observed.end_ns,
        signal=signal.name,
        unit=signal.unit,
        value=value,
        numerator=observed.numerator,
        n=observed.n,
        says=occasion.says,
        severity=alert.severity,
        owner=alert.owner,
        runbook=alert.runbook,
        labels=labels_of(alert, state.series),
        annotations={name: filled(text, fields) for name, text in alert.annotations.items()},
        detail=observed.detail,
        late=occasion.late,
    )
