"""The state machine: how one decided window moves an alert. Pure, and all times are those of windows (event time).

The condition, on its own track:

    inactive ──breach──> pending ──breach, `for` after the first one ended──> firing     notification: fire
    pending  ──good────> inactive
    firing   ──good, `keep_firing` after the first good one ended──> resolved            notification: resolve
    resolved ──good────> inactive, ──breach──> pending

With `for` 0 the first breach fires, with `keep_firing` 0 the first good window resolves. `held` and `empty` windows
move nothing: they neither fire nor resolve, so an incident outlasts a gap and a gap is no incident.

Whether there are data, on the other track: when empty windows have covered `no_data_after` the alert is silent
(notification: no_data), until a window has observations again (data_back). What was pending is then inactive, and a
recovery begins anew, for a stretch that nobody saw joins nothing; what was firing still is.
"""

from __future__ import annotations

from dataclasses import replace

from otel_toolselect.model.alerting import Alert, Course, NotificationKind, Observed
from otel_toolselect.monitor.alerts.deciding import Kind


def step(alert: Alert, course: Course, observed: Observed, kind: Kind) -> tuple[Course, tuple[NotificationKind, ...]]:
    """The course after a window, and what there is to tell, in order."""
    course, first = _data(alert, course, observed, kind)
    if kind == "breach":
        course, second = _breach(alert, course, observed.end_ns)
    elif kind == "good":
        course, second = _good(alert, course, observed.end_ns)
    else:
        second = ()
    return course, (*first, *second)


def _data(alert: Alert, course: Course, observed: Observed, kind: Kind) -> tuple[Course, tuple[NotificationKind, ...]]:
    if kind != "empty":
        told: tuple[NotificationKind, ...] = ("data_back",) if course.silent else ()
        return replace(course, empty_since_ns=None, silent=False), told
    since = observed.start_ns if course.empty_since_ns is None else course.empty_since_ns
    course = replace(course, empty_since_ns=since)
    if course.silent or alert.no_data_after_ns is None or observed.end_ns - since < alert.no_data_after_ns:
        return course, ()
    course = replace(course, silent=True, good_since_ns=None)
    if course.track == "pending":
        course = replace(course, track="inactive", since_ns=observed.end_ns, pending_since_ns=None)
    return course, ("no_data",)


def _breach(alert: Alert, course: Course, end_ns: int) -> tuple[Course, tuple[NotificationKind, ...]]:
    if course.track == "firing":
        return replace(course, good_since_ns=None), ()
    began = course.pending_since_ns if course.track == "pending" else None
    if began is None:
        began = end_ns
        course = replace(course, track="pending", since_ns=end_ns, pending_since_ns=end_ns)
    if end_ns - began < alert.for_ns:
        return course, ()
    return fired(course, end_ns), ("fire",)


def fired(course: Course, at_ns: int) -> Course:
    return replace(course, track="firing", since_ns=at_ns, pending_since_ns=None, good_since_ns=None)


def _good(alert: Alert, course: Course, end_ns: int) -> tuple[Course, tuple[NotificationKind, ...]]:
    if course.track == "firing":
        began = end_ns if course.good_since_ns is None else course.good_since_ns
        if end_ns - began < alert.keep_firing_ns:
            return replace(course, good_since_ns=began), ()
        return replace(course, track="resolved", since_ns=end_ns, good_since_ns=None), ("resolve",)
    if course.track in ("pending", "resolved"):
        return replace(course, track="inactive", since_ns=end_ns, pending_since_ns=None), ()
    return course, ()
