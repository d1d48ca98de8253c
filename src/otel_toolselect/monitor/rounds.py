"""One alert in one round: which windows are due, what they show, and the states after them. Reads, writes nothing.

Due are the windows that closed since the last one that was decided on, and, when late data touched windows that can
still be corrected, all windows from the first of these on: in one piece, so that a series that comes up with late data
is decided window by window, as the others were.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from otel_toolselect.model.alerting import Alert, AlertState, Notification, Observed, Series, Silence, Window
from otel_toolselect.monitor.alerts import Source, evaluate, retire, with_known
from otel_toolselect.monitor.alerts.evaluating import KEPT, RETIRED
from otel_toolselect.stats.windows import Windows

MOST_WINDOWS = KEPT
"""New windows of an alert in one round: after an outage the states are stored in between."""


@dataclass(frozen=True, slots=True)
class Round:
    """What holds for all alerts of a round. `touched`: event times, [start, end), that late data fell into. An alert
    that was never evaluated begins at `since_ns`; `begun_ns`: when this monitor first looked at the alert.
    """

    now_ns: int
    since_ns: int
    silences: Sequence[Silence] = ()
    touched: Sequence[tuple[int, int]] = ()
    begun_ns: int = 0


@dataclass(frozen=True, slots=True)
class Decided:
    """`more`: further windows are closed already."""

    states: tuple[AlertState, ...]
    news: tuple[Notification, ...]
    windows: int
    more: bool = False


def decide_alert(alert: Alert, states: Mapping[Series, AlertState], source: Source, now: Round) -> Decided:
    """`states`: of this alert, retired ones among them. Raises what the source raises."""
    live = {series: state for series, state in states.items() if state.said != RETIRED}
    after = max((state.through_ns for state in live.values()), default=now.since_ns)
    decided, through = _decide(alert, states, live, source, now, after)
    windows = decided.windows
    while decided.more and not decided.states and not live:
        # nothing was seen yet, so that no state says how far this has come
        decided, through = _decide(alert, states, live, source, now, through)
        windows += decided.windows
    return replace(decided, windows=windows)


def _decide(
    alert: Alert,
    states: Mapping[Series, AlertState],
    live: Mapping[Series, AlertState],
    source: Source,
    now: Round,
    after: int,
) -> tuple[Decided, int]:
    """The windows that closed after a time, as many as a round takes; and the end of the last of them."""
    fresh = list(islice(Windows(alert.window).closed(after, now.now_ns), MOST_WINDOWS + 1))
    more, fresh = len(fresh) > MOST_WINDOWS, fresh[:MOST_WINDOWS]
    due = [*_again(live.values(), now.touched), *fresh]
    observed = source.observe(alert.query, due) if due else {}
    changed: list[AlertState] = []
    news: list[Notification] = []
    for series, windows in with_known(alert.query, due, observed, live).items():
        state = states.get(series)
        kept = windows if series in live else _from_first(windows, 0 if alert.by else now.begun_ns)
        if not kept and not (state is not None and state.withheld):
            continue
        new, made = evaluate(alert, state, kept, now.now_ns, now.silences, series=series)
        if alert.by and _gone(new):
            new, more_made = retire(new, now.now_ns, now.silences)
            made = (*made, *more_made)
        changed.append(new)
        news += made
    through = fresh[-1].end_ns if fresh else after
    return Decided(tuple(changed), tuple(news), len(due), more), through


def retired(states: Mapping[Series, AlertState], now: Round) -> Decided:
    """Of an alert that left its file."""
    done = [retire(state, now.now_ns, now.silences) for state in states.values() if state.said != RETIRED]
    return Decided(tuple(state for state, _ in done), tuple(n for _, made in done for n in made), 0)


def _again(states: Iterable[AlertState], touched: Sequence[tuple[int, int]]) -> list[Window]:
    """The decided windows from the first on that late data touched."""
    if not touched:
        return []
    kept = {Window(s.observed.start_ns, s.observed.end_ns) for state in states for s in state.recent}
    listed = sorted(kept, key=lambda w: (w.end_ns, w.start_ns))
    hit = (i for i, w in enumerate(listed) if any(start < w.end_ns and w.start_ns < end for start, end in touched))
    first = next(hit, None)
    return [] if first is None else listed[first:]


def _from_first(windows: Sequence[Observed], begun_ns: int) -> Sequence[Observed]:
    """Without the empty windows before the first observations of a new series: nobody missed anything then. Those that
    ended after `begun_ns` count (0: none do), as somebody was watching.
    """
    for i, window in enumerate(windows):
        if window.n or (begun_ns and window.end_ns > begun_ns):
            return windows[i:]
    return ()


def _gone(state: AlertState) -> bool:
    """A series of which nothing was seen in all the windows that are kept, and which nobody waits for."""
    calm = state.word in ("inactive", "resolved")
    return calm and len(state.recent) == KEPT and not any(seen.observed.n for seen in state.recent)
