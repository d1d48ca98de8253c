"""Wiring of monitors: alert files, a source on the store, notifiers of the settings; and what people ask of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING

from otel_toolselect.app.audit import ON_THE_COMMAND_LINE, Origin, note
from otel_toolselect.config import Monitor as MonitorSettings
from otel_toolselect.config import Settings
from otel_toolselect.errors import EnvironmentProblem, UsageError

if TYPE_CHECKING:
    import threading

    from otel_toolselect.app.serving import Lend
    from otel_toolselect.model.alerting import Alert, AlertState, Matcher, Notification, Silence
    from otel_toolselect.model.monitoring import AlertStatus, Replayed, RuleDay
    from otel_toolselect.model.runs import Run
    from otel_toolselect.monitor.alerts import Source
    from otel_toolselect.monitor.files import AlertFiles
    from otel_toolselect.monitor.references import Baselines
    from otel_toolselect.monitor.runner import Monitor
    from otel_toolselect.store import Store

TICKS_PER_LEASE = 3
RUNS_PER_PAGE = 500
FAILURES_TO_REOPEN = 3


def _nothing_wrong() -> Sequence[str]:
    return ()


@contextmanager
def watching(
    store: Store,
    settings: MonitorSettings,
    *,
    problems: Callable[[], Sequence[str]] = _nothing_wrong,
    on_news: Callable[[Notification], None] = lambda notification: None,
    files: AlertFiles | None = None,
) -> Iterator[Monitor]:
    """A monitor at work on the store while the block lasts, going on where the last one stopped.

    `problems`: what is wrong with the suites and rule files that are judged by, for the alert `monitor-config`.
    `files`: those of an earlier block, so that a broken one still has its last good version. Raises InputError for
    alert and baseline files with mistakes, UsageError for notifiers.
    """
    from otel_toolselect.monitor import notifiers
    from otel_toolselect.monitor.delivery import Delivery
    from otel_toolselect.monitor.routing import route_to
    from otel_toolselect.monitor.runner import Monitor, Rhythm, Watching

    files = files or alert_files(settings)
    routes = [route_to(target) for target in settings.notify]
    made = [notifiers.make(target, os.environ) for target in settings.notify]

    def wrong() -> Sequence[str]:
        return [*([files.problem] if files.problem else []), *problems()]

    monitor = Monitor(
        store,
        Watching(files, source_on(store, settings), routes, wrong, on_news),
        lambda settled: Delivery(made, give_up_s=settings.give_up_seconds, on_settled=settled),
        Rhythm(
            tick=settings.tick_seconds,
            lookback=settings.lookback_seconds,
            lease=max(settings.lease_seconds, TICKS_PER_LEASE * settings.tick_seconds),
        ),
    )
    monitor.start()
    try:
        yield monitor
    finally:
        monitor.stop()


def alert_files(settings: MonitorSettings) -> AlertFiles:
    """Raises UsageError when there are none, InputError for those with mistakes."""
    from otel_toolselect.monitor.files import AlertFiles

    if not settings.alerts:
        raise UsageError("nothing to watch: name alert files, or set alerts in the [monitor] table of the settings")
    return AlertFiles(settings.alerts)


def stay_watching(
    settings: Settings,
    stop: threading.Event,
    lend: Lend,
    *,
    on_news: Callable[[Notification], None],
    tell: Callable[[str], None],
) -> None:
    """`watching` until stopped. An embedded store that nobody serves is lent to other processes meanwhile. One that is
    reached through `serve` is opened again when that comes back, and never held in its place.

    Raises what opening the store and `watching` raise at the start.
    """
    from otel_toolselect.store import open_store
    from otel_toolselect.store.dsn import Embedded, parse
    from otel_toolselect.store.serveinfo import read_serve_info

    place = parse(settings.dsn)
    folder = place.path if isinstance(place, Embedded) else ""
    files = alert_files(settings.monitor)
    store = open_store(settings.dsn)
    served = store.via is not None
    while not stop.is_set():
        with ExitStack() as stack:
            stack.callback(store.close)
            tell(f"watching {store.dsn}" + (f" through {store.via}" if store.via else ""))
            engine = store.raw_engine()
            if engine is not None:
                stack.callback(engine.close)
                stack.enter_context(lend(engine, folder))
            monitor = stack.enter_context(watching(store, settings.monitor, on_news=on_news, files=files))
            while not stop.wait(1.0) and not (served and monitor.figures.failed_in_row >= FAILURES_TO_REOPEN):
                pass
        while not stop.is_set():
            info = read_serve_info(folder)
            if info is not None and info.alive:
                with suppress(EnvironmentProblem):
                    store = open_store(settings.dsn)
                    break
            stop.wait(1.0)


def source_on(store: Store, settings: MonitorSettings) -> Callable[[Alert], Source]:
    """Makes the source of an alert. Raises InputError for baseline files with mistakes, UsageError for a wrong
    `baseline_window`.
    """
    from otel_toolselect.monitor.sources import Memory, StoreSource

    baselines, memory = _baselines(settings), Memory()
    return lambda alert: StoreSource(store, alert.window, baselines, memory)


def _baselines(settings: MonitorSettings) -> Baselines:
    from otel_toolselect.gates.baselines import load_baseline
    from otel_toolselect.model.alerting import Window
    from otel_toolselect.monitor.references import Baselines
    from otel_toolselect.rules.durations import moment_of

    files = {baseline.suite: baseline for baseline in map(load_baseline, settings.baselines)}
    if not settings.baseline_window:
        return Baselines(files)
    begins, _, ends = settings.baseline_window.partition("/")
    start, end = moment_of(begins), moment_of(ends)
    if start is None or end is None or end <= start:
        raise UsageError(
            f"monitor.baseline_window: {settings.baseline_window!r} is no stretch of time; write 2026-11-01/2026-11-08"
        )
    return Baselines(files, Window(start, end))


def statuses(store: Store, paths: Sequence[str]) -> list[AlertStatus]:
    """Where every series of every alert stands, and the alerts of the files that were not evaluated yet. Raises
    SuiteError for files with mistakes. States of alerts that nobody watches any more are left out.
    """
    from otel_toolselect.model.monitoring import AlertStatus
    from otel_toolselect.monitor.alerts.evaluating import RETIRED
    from otel_toolselect.monitor.files import load_all
    from otel_toolselect.monitor.keeping import read_states

    alerts = {alert.id: alert for alert in load_all(paths)}
    states = [state for state in read_states(store.alerts) if state.said != RETIRED]
    found = [_status(state, alerts.get(state.alert)) for state in states]
    seen = {state.alert for state in states}
    found += [
        AlertStatus(alert.id, (), "new", severity=alert.severity, owner=alert.owner)
        for alert in alerts.values()
        if alert.id not in seen
    ]
    return found


def _status(state: AlertState, alert: Alert | None) -> AlertStatus:
    from otel_toolselect.model.monitoring import AlertStatus
    from otel_toolselect.model.signals import SIGNALS
    from otel_toolselect.monitor.alerts.wording import shown

    said = state.fire or state.gap
    seen = state.last or said
    unit = SIGNALS[alert.signal].unit if alert is not None else said.unit if said is not None else ""
    if not unit and seen is not None and seen.numerator is not None:
        unit = "share"  # its file is not known here, but only shares are counted of something
    told = alert or said
    return AlertStatus(
        alert=state.alert,
        series=state.series,
        state=state.word,
        since_ns=state.course.since_ns,
        through_ns=state.through_ns,
        shown="-" if seen is None else shown(seen.value, unit, n=seen.n, numerator=seen.numerator),
        value=None if seen is None else seen.value,
        numerator=None if seen is None else seen.numerator,
        n=0 if seen is None else seen.n,
        says=state.said,
        severity="" if told is None else told.severity,
        owner=None if told is None else told.owner,
        waiting=len(state.outbox),
        withheld=len(state.withheld),
        defined=alert is not None,
    )


def backtest(
    store: Store, settings: MonitorSettings, paths: Sequence[str], since_ns: int, until_ns: int
) -> list[Replayed]:
    """What the alerts of the files would have done over a stretch of time. Raises InputError, StoreError."""
    from otel_toolselect.monitor.backtest import replay
    from otel_toolselect.monitor.files import load_all

    source = source_on(store, settings)
    return [replay(alert, source(alert), since_ns, until_ns) for alert in load_all(paths)]


def backtest_rules(store: Store, paths: Sequence[str], since_ns: int, until_ns: int, zone: str) -> list[RuleDay]:
    """How often the rules of the files would have failed on the stored runs, by day."""
    from otel_toolselect.monitor.backtest import rules_by_day
    from otel_toolselect.rules.rulefiles import load_rules

    files = [load_rules(path) for path in paths]
    try:
        return rules_by_day(_pages(store.runs(since_ns=since_ns, until_ns=until_ns)), files, zone)
    except ValueError as error:
        raise UsageError(f"--zone: {error}") from error


def _pages(runs: Iterator[Run]) -> Iterator[list[Run]]:
    while page := list(islice(runs, RUNS_PER_PAGE)):
        yield page


def silence(
    store: Store,
    match: Sequence[str],
    from_ns: int,
    until_ns: int,
    *,
    by: str,
    comment: str,
    origin: Origin = ON_THE_COMMAND_LINE,
) -> Silence:
    """Keep a new silence. `match`: NAME=VALUE, or NAME=/RE2/. Raises UsageError on what is neither."""
    import secrets

    from otel_toolselect.model.alerting import Silence

    if until_ns <= from_ns:
        raise UsageError("the silence would end before it begins; write a later --until, or --for 2h")
    made = Silence(secrets.token_hex(4), tuple(map(_matcher, match)), from_ns, until_ns, by, comment)
    detail = {"match": list(match), "from_ns": from_ns, "until_ns": until_ns, "comment": comment}
    note(store, origin, [(by, "silence", made.id, detail)])
    store.alerts.write_silence(made)
    return made


def expire(store: Store, name: str, now_ns: int, origin: Origin = ON_THE_COMMAND_LINE) -> Silence:
    """End a silence now; one that has not begun never will. Raises UsageError when there is none, or it has ended."""
    from dataclasses import replace

    found = {s.id: s for s in store.alerts.silences()}.get(name)
    if found is None:
        raise UsageError(f"there is no silence {name}; see `toolselect monitor silence list`")
    if found.until_ns <= now_ns:
        raise UsageError(f"the silence {name} has ended already")
    note(store, origin, [("", "silence ended", name, {"of": found.by})])
    ended = replace(found, until_ns=now_ns, from_ns=min(found.from_ns, now_ns))
    store.alerts.write_silence(ended)
    return ended


def _matcher(text: str) -> Matcher:
    import re2

    from otel_toolselect.model.alerting import Matcher
    from otel_toolselect.rules.patterns import compile_text

    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--match {text!r}: write NAME=VALUE, or NAME=/PATTERN/, say alert=wrong-tool")
    if len(value) < 2 or not (value.startswith("/") and value.endswith("/")):
        return Matcher(name, equals=value)
    try:
        compile_text(value[1:-1])
    except re2.error as error:
        raise UsageError(f"--match {text!r} is not an RE2 pattern") from error
    return Matcher(name, pattern=value[1:-1])
