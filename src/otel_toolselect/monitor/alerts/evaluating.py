"""One series of one alert, evaluated: (alert, state, windows, now) -> (state, notifications). Pure.

Windows are folded in order of their end, each once: `through_ns` remembers how far. So it does not matter how they are
dealt out over calls, nor how often the state is written and read in between, and after an outage what happened
meanwhile is told late rather than not.

Late data bring windows again that were decided on. A corrected window

- has its value corrected, and the sums of what is kept (`recent`);
- fires the alert once, if by the corrected values it fired in a stretch of windows in none of which it was told to
  fire, and it does not fire now: what was missed is told, even when it is over; the next windows resolve it;
- never resolves: that is left to the next window, so that data trickling in do not make an alert flap;
- ends "no data" when the gap is filled, and never begins it.

Windows older than the kept ones are not corrected here (their stored figures are). Windows can be given again at will:
one that has not changed changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from otel_toolselect.model.alerting import (
    Alert,
    AlertState,
    Course,
    Notification,
    NotificationKind,
    Observed,
    Seen,
    Series,
    Silence,
)
from otel_toolselect.monitor.alerts.course import step
from otel_toolselect.monitor.alerts.deciding import decide
from otel_toolselect.monitor.alerts.late import corrected
from otel_toolselect.monitor.alerts.notices import Occasion, ended, told
from otel_toolselect.monitor.alerts.outbox import posted

RETIRED = "no longer watched"
KEPT = 96
"""Windows that late data can still correct: eight hours of windows of five minutes."""


def begin(alert: Alert, series: Series = ()) -> AlertState:
    """The state of a series that was never evaluated."""
    return AlertState(alert.id, series, definition_of(alert))


def evaluate(
    alert: Alert,
    state: AlertState | None,
    observed: Sequence[Observed],
    now_ns: int,
    silences: Sequence[Silence] = (),
    *,
    series: Series = (),
) -> tuple[AlertState, tuple[Notification, ...]]:
    """The state after these windows, and what is new to tell (`silenced_by` says what is held back).

    `state` None: a series not seen before. `now_ns` decides about silences only. What must be sent is the state's
    `outbox`, which also holds what an earlier call left unsent.
    """
    state = _adopted(alert, state or begin(alert, series))
    latest = {o.end_ns: o for o in observed}
    late = [o for end, o in latest.items() if end <= state.through_ns]
    made: list[Notification] = []
    if late:
        state, made = corrected(alert, state, late)
    for end in sorted(end for end in latest if end > state.through_ns):
        state, more = _folded(alert, state, latest[end])
        made += more
    return posted(state, made, silences, now_ns)


def retire(
    state: AlertState, now_ns: int, silences: Sequence[Silence] = ()
) -> tuple[AlertState, tuple[Notification, ...]]:
    """The state of an alert that left its file, or of a series that is gone for good: what fires is resolved, what was
    missing is no longer missed. Keep the state: an alert that comes back goes on counting its changes.
    """
    begun: tuple[tuple[NotificationKind, Notification | None], ...] = (
        ("data_back", state.gap),
        ("resolve", state.fire),
    )
    course = Course("inactive", now_ns)
    state = replace(state, course=course, base=course, recent=(), said=RETIRED, fire=None, gap=None)
    made: list[Notification] = []
    for kind, first in begun:
        if first is not None:
            state = replace(state, changes=state.changes + 1)
            made.append(ended(first, kind, state, now_ns, RETIRED))
    return posted(state, made, silences, now_ns)


def definition_of(alert: Alert) -> str:
    """A digest of what decides: not of who is told and how."""
    deciding = (
        alert.query,
        alert.window,
        alert.condition,
        alert.min_count,
        alert.no_data_after_ns,
        alert.for_ns,
        alert.keep_firing_ns,
    )
    return hashlib.sha256(repr(deciding).encode()).hexdigest()[:16]


def correctable_since(state: AlertState) -> int:
    """Start of the earliest window that late data can still correct; where the state is new, its future."""
    return state.recent[0].observed.start_ns if state.recent else state.through_ns


def _adopted(alert: Alert, state: AlertState) -> AlertState:
    """The state under the alert as it is now. What fires goes on firing until a window says otherwise, but windows
    decided by another definition are not decided again.
    """
    definition = definition_of(alert)
    if state.definition == definition:
        return state
    return replace(state, definition=definition, base=state.course, recent=())


def _folded(alert: Alert, state: AlertState, observed: Observed) -> tuple[AlertState, list[Notification]]:
    outcome = decide(alert, observed)
    before = state.course
    course, kinds = step(alert, before, observed, outcome.kind)
    seen = (*state.recent, Seen(observed, course.track == "firing"))
    base = state.base
    if len(seen) > KEPT:
        oldest, seen = seen[0].observed, seen[1:]
        base, _ = step(alert, base, oldest, decide(alert, oldest).kind)
    state = replace(state, course=course, base=base, recent=seen, through_ns=observed.end_ns, said=outcome.says)
    return told(alert, state, kinds, Occasion(observed, outcome.says, observed.end_ns, late=False), before)
