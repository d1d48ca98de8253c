"""The alert that watches the watchers: `monitor-config` fires while an alert file, a suite or a rule file is broken, or
an alert cannot be evaluated, and resolves when all is well again (issue F point 2).

It has no window: it holds when somebody looked last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from otel_toolselect.model.alerting import AlertState, Course, Notification, Silence
from otel_toolselect.monitor.alerts.notices import ended, key_of
from otel_toolselect.monitor.alerts.outbox import posted

CONFIG = "monitor-config"
_LABELS = {"alert": CONFIG, "signal": CONFIG, "severity": "critical"}
_SHOWN = 5


def config_state(
    state: AlertState | None, problems: Sequence[str], now_ns: int, silences: Sequence[Silence]
) -> AlertState:
    """The state after a look at what is wrong now; what there is to tell is in its outbox."""
    state = state or AlertState(CONFIG)
    made: list[Notification] = []
    firing = state.course.track == "firing"
    if problems and not firing:
        says = f"{len(problems)} {'problem' if len(problems) == 1 else 'problems'}: {problems[0].splitlines()[0]}"
        state = _moved(state, "firing", now_ns, says)
        fired = Notification(
            key=key_of(state), alert=CONFIG, series=(), change=state.changes, kind="fire", at_ns=now_ns,
            since_ns=now_ns, start_ns=now_ns, end_ns=now_ns, signal=CONFIG, unit="problems",
            value=float(len(problems)), numerator=len(problems), n=len(problems), says=says, severity="critical",
            labels=_LABELS, detail=tuple(problems[:_SHOWN]),
        )  # fmt: skip
        state, made = replace(state, fire=fired), [fired]
    elif firing and not problems:
        state = _moved(state, "resolved", now_ns, "all files and alerts are well")
        if state.fire is not None:
            made = [replace(ended(state.fire, "resolve", state, now_ns, state.said), value=0.0, numerator=0, n=0)]
        state = replace(state, fire=None)
    return posted(state, made, silences, now_ns)[0]


def _moved(state: AlertState, track: str, now_ns: int, says: str) -> AlertState:
    course = Course("firing" if track == "firing" else "resolved", now_ns)
    return replace(state, course=course, base=course, through_ns=now_ns, changes=state.changes + 1, said=says)
