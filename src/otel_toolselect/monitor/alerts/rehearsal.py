"""Tests of alerts carried out: the ordinary evaluation under a simulated clock (issue F; house habit 9).

The clock stands still at each instant that can matter: where a window closes, late data come, a silence begins or ends,
or the test looks. Windows that begin before the series do are not evaluated, for nothing says what was in them. Every
state is written and read back at every instant, so that a test rehearses restarts, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import Alert, AlertFile, AlertState, Notification, Series, Window
from otel_toolselect.model.alerttests import AlertTest, ExpectedNotification, ExpectedState
from otel_toolselect.model.ruletests import Difference
from otel_toolselect.monitor.alerts.evaluating import begin, evaluate
from otel_toolselect.monitor.alerts.literal import LiteralSource
from otel_toolselect.monitor.alerts.outbox import acknowledged
from otel_toolselect.monitor.alerts.records import read_state, state_text
from otel_toolselect.monitor.alerts.wording import instant
from otel_toolselect.rules.problems import suggest
from otel_toolselect.stats.windows import Windows


@dataclass(frozen=True, slots=True)
class Moment:
    """The state of a series at an instant, and what it had to tell then."""

    at_ns: int
    state: AlertState
    news: tuple[Notification, ...]


def differences(test: AlertTest, alerts: AlertFile, path: str) -> tuple[Difference, ...]:
    """What came out otherwise, in the order of the test's expectations. Raises InputError, with `path:line`, on series
    that do not suit their alert.
    """
    known = {alert.id: alert for alert in alerts.alerts}
    for given in test.series:
        for name in given.alerts:
            if name not in known:
                raise InputError(f"no alert is called {name!r} ({suggest(name, known)})", where=f"{path}:{given.line}")
    courses = {name: course(known[name], test, path) for name in {n for s in test.series for n in s.alerts}}
    return tuple(_compared(test, known, courses))


def course(alert: Alert, test: AlertTest, path: str) -> dict[Series, list[Moment]]:
    """Everything that happens to an alert in a test, series by series."""
    source = LiteralSource(alert, test, path, test.start_ns)
    moments: dict[Series, list[Moment]] = {}
    through, before = test.start_ns, test.start_ns
    windows = Windows(alert.window)
    seen: list[Window] = []
    for now in _instants(alert, test, source.end_ns):
        source = replace(source, now_ns=now)
        fresh = [w for w in windows.closed(through, now) if w.start_ns >= test.start_ns and w.end_ns <= source.end_ns]
        through = fresh[-1].end_ns if fresh else through
        corrected = any(before < late.at_ns <= now for s in test.series for late in s.late)
        for series, observed in source.observe(alert.query, [*(seen if corrected else ()), *fresh]).items():
            past = moments.setdefault(series, [])
            state = _restarted(past[-1].state) if past else begin(alert, series)
            state, news = evaluate(alert, state, observed, now, test.silences)
            past.append(Moment(now, acknowledged(state, {n.key for n in state.outbox}), news))
        seen += fresh
        before = now
    return moments


def _restarted(state: AlertState) -> AlertState:
    return read_state(state_text(state))


def _instants(alert: Alert, test: AlertTest, end_ns: int) -> list[int]:
    lateness = alert.window.lateness_ns
    closing = {w.end_ns + lateness for w in Windows(alert.window).closed(test.start_ns, end_ns + lateness)}
    looks = {wanted.at_ns for wanted in test.expect if wanted.alert == alert.id}
    late = {late.at_ns for given in test.series if alert.id in given.alerts for late in given.late}
    silences = {time for silence in test.silences for time in (silence.from_ns, silence.until_ns)}
    return sorted(time for time in closing | looks | late | silences if time >= test.start_ns)


def _compared(
    test: AlertTest, known: Mapping[str, Alert], courses: Mapping[str, Mapping[Series, Sequence[Moment]]]
) -> Iterator[Difference]:
    told: dict[tuple[str, Series], int] = {}
    last: dict[tuple[str, Series], ExpectedState] = {}
    for wanted in sorted(test.expect, key=lambda e: e.at_ns):
        found = _moments(wanted, known, courses)
        if isinstance(found, Difference):
            yield found
            continue
        series, moments = found
        yield from _state(wanted, moments)
        if wanted.notifications is not None:
            since = told.get((wanted.alert, series), test.start_ns - 1)
            news = [n for m in moments if since < m.at_ns <= wanted.at_ns for n in m.news]
            yield from _notified(wanted, news)
            told[wanted.alert, series], last[wanted.alert, series] = wanted.at_ns, wanted
    for (name, series), since in told.items():
        rest = [n for m in courses[name][series] if m.at_ns > since for n in m.news]
        if rest:
            at, line = instant(since), last[name, series].line
            said = "nothing more, or an expectation that lists it"
            yield Difference(name, f"notifications after {at}", said, _listed(rest), rest[0].says, line)


def _moments(
    wanted: ExpectedState, known: Mapping[str, Alert], courses: Mapping[str, Mapping[Series, Sequence[Moment]]]
) -> tuple[Series, Sequence[Moment]] | Difference:
    if wanted.alert not in known:
        said = f"nowhere ({suggest(wanted.alert, known)})"
        return Difference(wanted.alert, "alert", "in the alerts file", said, line=wanted.line)
    by = known[wanted.alert].by
    series = tuple((name, wanted.labels[name]) for name in by if name in wanted.labels)
    found = courses.get(wanted.alert, {}).get(series)
    if found is None or len(wanted.labels) != len(by):
        given = ["{" + ", ".join(f"{k}: {v}" for k, v in s) + "}" for s in courses.get(wanted.alert, {})]
        said = " and ".join(given) or "no series of the alert"
        return Difference(wanted.alert, "labels", "those of a series", said, line=wanted.line)
    return series, found


def _state(wanted: ExpectedState, moments: Sequence[Moment]) -> Iterator[Difference]:
    now = [m for m in moments if m.at_ns <= wanted.at_ns]
    state = now[-1].state if now else AlertState(wanted.alert)
    at = instant(wanted.at_ns)
    if wanted.state is not None and wanted.state != state.word:
        yield Difference(wanted.alert, f"state at {at}", wanted.state, state.word, state.said, wanted.line)
    if wanted.says is not None and wanted.says not in state.said:
        yield Difference(wanted.alert, f"says at {at}", wanted.says, state.said, "", wanted.line)


def _notified(wanted: ExpectedState, news: Sequence[Notification]) -> Iterator[Difference]:
    listed = wanted.notifications or ()
    if len(listed) == len(news) and all(_fits(e, n) for e, n in zip(listed, news, strict=True)):
        return
    expected = ", ".join(map(_written, listed)) or "none"
    says = "; ".join(n.says for n in news)
    yield Difference(
        wanted.alert, f"notifications until {instant(wanted.at_ns)}", expected, _listed(news), says, wanted.line
    )


def _fits(wanted: ExpectedNotification, got: Notification) -> bool:
    pairs = (
        (wanted.kind, got.kind),
        (wanted.numerator, got.numerator),
        (wanted.n, got.n),
        (wanted.late, got.late),
        (wanted.silenced, got.silenced_by is not None),
    )
    if not all(expected is None or expected == seen for expected, seen in pairs):
        return False
    texts = (got.says, *got.detail, *got.annotations.values())
    if wanted.says is not None and not any(wanted.says in text for text in texts):
        return False
    # as people write it: 0.15 for 3/20, 0.333 for a third
    return wanted.value is None or (got.value is not None and abs(got.value - wanted.value) < 0.0005)


def _written(wanted: ExpectedNotification) -> str:
    names = ("value", "numerator", "n", "late", "says")
    said = [f"{name} {value}" for name in names if (value := getattr(wanted, name)) is not None]
    said += ["silenced"] if wanted.silenced else []
    return wanted.kind + (f" ({', '.join(said)})" if said else "")


def _listed(news: Sequence[Notification]) -> str:
    return ", ".join(map(_came, news)) or "none"


def _came(got: Notification) -> str:
    said = [] if got.value is None else [f"value {got.value:g}"]
    said += [] if got.numerator is None else [f"numerator {got.numerator}"]
    said += [f"n {got.n}"]
    said += ["late"] if got.late else []
    said += [f"silenced by {got.silenced_by}"] if got.silenced_by else []
    return f"{got.kind} ({', '.join(said)})"
