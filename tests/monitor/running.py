"""A monitor on a real store, under a clock that a test sets, with receivers that note what they get."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from otel_toolselect.errors import NotifyError
from otel_toolselect.model.alerting import Notification
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.monitor.delivery import Delivery
from otel_toolselect.monitor.files import AlertFiles
from otel_toolselect.monitor.keeping import sending_of
from otel_toolselect.monitor.routing import Route
from otel_toolselect.monitor.runner import Monitor, Rhythm, Watching
from otel_toolselect.monitor.sources import StoreSource
from otel_toolselect.store import Store
from otel_toolselect.store.alert_api import Sending
from tests.store.builders import T0, decision

MINUTE = 60 * 10**9
ALERTS = """\
alerts: shop
defaults: {window: 5m, min_count: 10}
list:
  - {id: wrong, signal: wrong_tool, of: {suite: s}, condition: {above: 0.1}, owner: ann}
"""


def traffic(minute: float, right: int, wrong: int = 0, *, name: str = "", **fields: object) -> list[Decision]:
    """Runs that started within that minute after T0."""
    rows = []
    for i in range(right + wrong):
        good = i < right
        cell = Cell("search", "search" if good else "refund")
        given = {"layers": {"selection": "pass" if good else "fail"}, "cells": (cell,), "first_action": cell.observed}
        start = T0 + int(minute * MINUTE) + i
        rows.append(decision(f"{name}{minute}-{i}", start_ns=start, **(given | fields)))
    return rows


class Recorder:
    """A notifier that notes; `failures` are raised first, one an attempt."""

    def __init__(self, name: str = "hook", failures: Sequence[NotifyError] = ()) -> None:
        self.name = name
        self.sent: list[Notification] = []
        self.attempts: list[list[str]] = []
        self.failures = list(failures)
        self.closed = False

    def send(self, notifications: Sequence[Notification]) -> None:
        self.attempts.append([n.key for n in notifications])
        if self.failures:
            error = self.failures.pop(0)
            self.sent += [n for n in notifications if n.key in error.delivered]
            raise error
        self.sent += notifications

    def close(self) -> None:
        self.closed = True

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(n.alert, n.kind) for n in self.sent]


class AtOnce(Delivery):
    """Delivery without threads: sends when asked to, and says so at the next `collect`."""

    def __init__(self, receivers: Sequence[Recorder]) -> None:
        self._receivers = {r.name: r for r in receivers}
        self._done: list[Sending] = []
        self.away = False
        self.standing: dict[str, list[str]] = {}

    def submit(self, notification: Notification, receiver: str) -> None:
        if not self.away:
            self._receivers[receiver].send([notification])
            self._done.append(sending_of(notification, receiver, "delivered", 1))

    def collect(self) -> list[Sending]:
        done, self._done = self._done, []
        return done

    def stand(self, standing: Mapping[str, Sequence[Notification]], until_s: float = 0.0) -> None:
        self.standing = {name: [n.key for n in found] for name, found in standing.items()}

    def drop(self) -> None:
        self._done = []

    def close(self) -> None:
        pass


class Bench:
    """Monitors on one store; `at` sets the clock, in minutes after T0."""

    def __init__(self, store: Store, folder: Path, text: str = ALERTS) -> None:
        self.store = store
        self.path = folder / "shop.alerts.yaml"
        self.path.write_text(text)
        self.now = T0
        self.hook = Recorder()
        self.delivery = AtOnce([self.hook])
        self.problems: list[str] = []
        self.news: list[Notification] = []

    def monitor(self, *, routes: Sequence[Route] = (Route("hook"),), lease: float = 600.0) -> Monitor:
        def deliver(awake: Callable[[], None]) -> Delivery:
            return self.delivery

        files = AlertFiles([str(self.path)])
        watching = Watching(
            files,
            lambda alert: StoreSource(self.store, alert.window),
            routes,
            lambda: [*([files.problem] if files.problem else []), *self.problems],
            self.news.append,
        )
        return Monitor(self.store, watching, deliver, Rhythm(lease=lease), clock=lambda: self.now)

    def at(self, minute: float) -> None:
        self.now = T0 + int(minute * MINUTE)

    def states(self) -> dict[str, str]:
        return {f"{r.alert}{r.series}": r.state for r in self.store.alerts.records()}
