"""Wiring of a monitor: alert files, a source on the store, notifiers of the settings (issue F)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from otel_toolselect.config import Monitor as MonitorSettings
from otel_toolselect.errors import UsageError

if TYPE_CHECKING:
    from otel_toolselect.model.alerting import Alert, Notification
    from otel_toolselect.monitor.alerts import Source
    from otel_toolselect.monitor.references import Baselines
    from otel_toolselect.monitor.runner import Monitor
    from otel_toolselect.store import Store

TICKS_PER_LEASE = 3


def _nothing_wrong() -> Sequence[str]:
    return ()


@contextmanager
def watching(
    store: Store,
    settings: MonitorSettings,
    *,
    problems: Callable[[], Sequence[str]] = _nothing_wrong,
    on_news: Callable[[Notification], None] = lambda notification: None,
) -> Iterator[Monitor]:
    """A monitor at work on the store while the block lasts, going on where the last one stopped.

    `problems`: what is wrong with the suites and rule files that are judged by, for the alert `monitor-config`. Raises
    InputError for alert and baseline files with mistakes, UsageError for notifiers.
    """
    from otel_toolselect.monitor import notifiers
    from otel_toolselect.monitor.delivery import Delivery
    from otel_toolselect.monitor.files import AlertFiles
    from otel_toolselect.monitor.routing import route_to
    from otel_toolselect.monitor.runner import Monitor, Rhythm, Watching

    if not settings.alerts:
        raise UsageError("nothing to watch: name alert files, or set alerts in the [monitor] table of the settings")
    files = AlertFiles(settings.alerts)
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


def source_on(store: Store, settings: MonitorSettings) -> Callable[[Alert], Source]:
    """Makes the source of an alert. Raises InputError for baseline files with mistakes, UsageError for a wrong stretch of
    time.
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
