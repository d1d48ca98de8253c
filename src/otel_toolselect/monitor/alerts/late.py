"""Late data: windows that were decided on come again, corrected (see `evaluating`). Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_toolselect.model.alerting import Alert, AlertState, Course, Notification, Observed, Seen
from otel_toolselect.monitor.alerts.course import fired, step
from otel_toolselect.monitor.alerts.deciding import decide
from otel_toolselect.monitor.alerts.notices import Occasion, told


def corrected(alert: Alert, state: AlertState, late: Sequence[Observed]) -> tuple[AlertState, list[Notification]]:
    corrections = {(o.start_ns, o.end_ns): o for o in late}
    recent = tuple(_mended(s, corrections.get((s.observed.start_ns, s.observed.end_ns))) for s in state.recent)
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
        state, made = told(alert, state, ["data_back"], Occasion(last, says, last.end_ns, late=True), present)
    if missed and present.track != "firing":
        culprit = recent[missed[-1][0]].observed
        state = replace(state, course=fired(state.course, culprit.end_ns))
        occasion = Occasion(culprit, decide(alert, culprit).says, culprit.end_ns, late=True)
        state, more = told(alert, state, ["fire"], occasion, present)
        made += more
    return state, made


def _mended(seen: Seen, again: Observed | None) -> Seen:
    """With the corrected window, if data came to it. A reference that moved (a new baseline) corrects nothing: a window
    is decided by what it was compared with then.
    """
    if again is None:
        return seen
    old = seen.observed
    came = (again.n, again.numerator) != (old.n, old.numerator)
    if again.p is None:
        came = came or again.value != old.value
    return replace(seen, observed=again) if came else seen


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
