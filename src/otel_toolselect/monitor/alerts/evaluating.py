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
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.monitor.alerts.course import fired, step
from otel_toolselect.monitor.alerts.deciding import decide
from otel_toolselect.monitor.alerts.outbox import posted
from otel_toolselect.monitor.alerts.silences import labels_of
from otel_toolselect.monitor.alerts.wording import instant, shown
from otel_toolselect.rules.templates import filled

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
        state, made = _corrected(alert, state, late)
    for end in sorted(end for end in latest if end > state.through_ns):
        state, more = _folded(alert, state, latest[end])
        made += more
    return posted(state, made, silences, labels_of(alert, state.series), now_ns)


def retire(
    alert: Alert, state: AlertState, now_ns: int, silences: Sequence[Silence] = ()
) -> tuple[AlertState, tuple[Notification, ...]]:
    """The state of an alert that left its file, or of a series that is gone for good: what fires is resolved, what was
    missing is no longer missed. Keep the state: an alert that comes back goes on counting its changes.
    """
    course, kinds = state.course, list[NotificationKind]()
    kinds += ["data_back"] if course.silent else []
    kinds += ["resolve"] if course.track == "firing" else []
    rest = Course("inactive", now_ns)
    last = state.last or Observed(now_ns, now_ns, None, 0)
    ended = replace(state, course=rest, base=rest, recent=(), said="no longer watched")
    occasion = _Occasion(last, "no longer watched", now_ns, late=False)
    ended, made = _told(alert, ended, kinds, occasion, course)
    return posted(ended, made, silences, labels_of(alert, state.series), now_ns)


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


@dataclass(frozen=True, slots=True)
class _Occasion:
    """What a notification is about: a window, what was said of it, when it counts from."""

    observed: Observed
    says: str
    at_ns: int
    late: bool


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
    return _told(alert, state, kinds, _Occasion(observed, outcome.says, observed.end_ns, late=False), before)


def _corrected(alert: Alert, state: AlertState, late: Sequence[Observed]) -> tuple[AlertState, list[Notification]]:
    corrections = {(o.start_ns, o.end_ns): o for o in late}
    recent = tuple(
        replace(s, observed=corrections.get((s.observed.start_ns, s.observed.end_ns), s.observed)) for s in state.recent
    )
    if recent == state.recent:
        return state, []
    walk, track, says = state.base, [], ""
    for seen in recent:
        outcome = decide(alert, seen.observed)
        walk, _ = step(alert, walk, seen.observed, outcome.kind)
        track.append(walk.track == "firing")
        says = outcome.says
    missed = _missed(recent, track, state.base)
    present = state.course
    state = replace(state, recent=_raised(recent, missed), course=_reconciled(present, walk), said=says)
    made: list[Notification] = []
    if present.silent and not walk.silent:
        last = recent[-1].observed
        state, made = _told(alert, state, ["data_back"], _Occasion(last, says, last.end_ns, late=True), present)
    if missed and present.track != "firing":
        culprit = recent[missed[-1][0]].observed
        state = replace(state, course=fired(state.course, culprit.end_ns))
        occasion = _Occasion(culprit, decide(alert, culprit).says, culprit.end_ns, late=True)
        state, more = _told(alert, state, ["fire"], occasion, present)
        made += more
    return state, made


def _missed(recent: Sequence[Seen], track: Sequence[bool], base: Course) -> list[list[int]]:
    """The stretches in which the alert fires by the data and was told to in no window. A stretch that begins before the
    kept windows is not one of them.
    """
    stretches: list[list[int]] = []
    for i, firing in enumerate(track):
        if firing and i and track[i - 1]:
            stretches[-1].append(i)
        elif firing:
            stretches.append([i])
    if base.track == "firing" and track and track[0]:
        stretches = stretches[1:]
    return [s for s in stretches if not any(recent[i].raised for i in s)]


def _raised(recent: Sequence[Seen], missed: Sequence[Sequence[int]]) -> tuple[Seen, ...]:
    now = {i for stretch in missed for i in stretch}
    return tuple(replace(seen, raised=seen.raised or i in now) for i, seen in enumerate(recent))


def _reconciled(present: Course, walk: Course) -> Course:
    """The present course with what the corrected windows teach and nobody was told: gaps, and what is pending."""
    silent = present.silent and walk.silent
    course = replace(present, empty_since_ns=walk.empty_since_ns, silent=silent)
    if present.track == "firing" or walk.track == "firing":
        return course
    if walk.track == "pending":
        return replace(course, track="pending", since_ns=walk.since_ns, pending_since_ns=walk.pending_since_ns)
    if present.track == "pending":
        return replace(course, track="inactive", since_ns=walk.since_ns, pending_since_ns=None)
    return course


def _told(
    alert: Alert, state: AlertState, kinds: Sequence[NotificationKind], occasion: _Occasion, before: Course
) -> tuple[AlertState, list[Notification]]:
    made: list[Notification] = []
    for kind in kinds:
        state = replace(state, changes=state.changes + 1)
        made.append(_notification(alert, state, kind, occasion, before))
    return state, made


def _notification(
    alert: Alert, state: AlertState, kind: NotificationKind, occasion: _Occasion, before: Course
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
        key=f"{alert.id}{json.dumps(dict(state.series), ensure_ascii=False, sort_keys=True)}#{state.changes}",
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
