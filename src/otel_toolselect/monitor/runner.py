"""A monitor at work: every round it evaluates what closed, keeps the states, and has sent what they hold (issue F).

The order of a round is what makes a crash harmless: evaluate, store states with their outbox, send, store what was
sent, take it out of the outbox. After a crash the next round, or another monitor, finds in the store what was decided
and what may not have been sent, and sends that under the same key; what was not stored is decided again, with the same
outcome. So every change is told at least once, and a receiver that knows keys is told once.

Of several monitors on one store the holder of a lease works and the others wait. A holder that was stopped for longer
than its lease finds that out before it writes.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from otel_toolselect.errors import StoreError, ToolselectError
from otel_toolselect.model.alerting import Alert, AlertState, Notification
from otel_toolselect.monitor.alerts import Source, acknowledged
from otel_toolselect.monitor.builtin import CONFIG, config_state
from otel_toolselect.monitor.delivery import Delivery
from otel_toolselect.monitor.keeping import States, sending_of
from otel_toolselect.monitor.rounds import Decided, Round, decide_alert, retired
from otel_toolselect.monitor.routing import Route, receivers
from otel_toolselect.store import Store
from otel_toolselect.store.alert_api import Sending

log = logging.getLogger(__name__)
LEASE = "monitor"
BOOKMARK = "monitor"
_OVERLAP_NS = 30 * 10**9
"""Writers take a version before their rows are there, and their clocks differ: what was written so long before the last
look is looked at again, which changes nothing where nothing has changed.
"""
_CORRECTABLE_NS = 400 * 86_400 * 10**9
STOP_S = 30.0


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Seconds. `lookback`: where an alert begins that was never evaluated."""

    tick: float = 10.0
    lookback: float = 3_600.0
    lease: float = 30.0


@dataclass(frozen=True, slots=True)
class Watching:
    """What is watched, and how the world is told. `problems`: what is wrong with other files, say rule files."""

    alerts: Callable[[], Sequence[Alert]]
    source: Callable[[Alert], Source]
    routes: Sequence[Route] = ()
    problems: Callable[[], Sequence[str]] = lambda: ()
    on_news: Callable[[Notification], None] = lambda notification: None


@dataclass(slots=True)
class Figures:
    """Of this monitor since it began, for metrics and tests."""

    holder: bool = False
    rounds: int = 0
    windows: int = 0
    failed_rounds: int = 0
    failed_in_row: int = 0
    problems: int = 0
    delivered: int = 0
    dead: int = 0


class Monitor:
    """Call `round` in turn, or `start` a thread that does. Not to be shared by threads."""

    def __init__(
        self,
        store: Store,
        watching: Watching,
        delivery: Callable[[Callable[[], None]], Delivery],
        rhythm: Rhythm | None = None,
        *,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._store = store
        self._watching = watching
        self._rhythm = rhythm or Rhythm()
        self._clock = clock
        self._owner = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._states = States(store.alerts)
        self._settled: set[tuple[str, str]] = set()
        self._unwritten: list[Sending] = []
        self._begun: dict[str, int] = {}
        self._version: int | None = None
        self._held_until = 0.0
        self._awake = threading.Event()
        self._stopping = threading.Event()
        self._delivery = delivery(self._awake.set)
        self._thread: threading.Thread | None = None
        self.figures = Figures()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="monitor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends after the round that is under way; what was delivered by then is remembered, the lease given back."""
        self._stopping.set()
        self._awake.set()
        if self._thread is not None:
            self._thread.join(STOP_S)
        self._delivery.close()
        try:
            if self._holding():
                self._settle()
                self._store.alerts.release(LEASE, self._owner)
        except StoreError as error:
            log.warning("the lease was not given back, it runs out: %s", error)

    def _run(self) -> None:
        while not self._stopping.is_set():
            more = False
            try:
                more = self.round()
                self.figures.failed_in_row = 0
            except StoreError as error:
                self._failed()
                log.warning("the round ends early, the next one goes on: %s", error)
            except Exception:  # one that nobody foresaw must not end the watch
                self._failed()
                log.exception("the round failed")
            if not more:
                self._pause()

    def _failed(self) -> None:
        self.figures.failed_rounds += 1
        self.figures.failed_in_row += 1

    def _pause(self) -> None:
        """Until the next round; what was delivered meanwhile is remembered at once."""
        end = time.monotonic() + self._rhythm.tick
        while (left := end - time.monotonic()) > 0 and not self._stopping.is_set():
            if self._awake.wait(left):
                self._awake.clear()
                try:
                    if not self._stopping.is_set() and self._holding():
                        self._settle()
                except StoreError as error:
                    log.warning("what was delivered is remembered in the next round: %s", error)
                    return

    # one round

    def round(self) -> bool:
        """Whether more is due already. Raises StoreError; the next round then goes on where this one could not."""
        held = self._holding()
        if not self._claim():
            if held or self.figures.holder:
                log.warning("another monitor has taken over")
                self._delivery.drop()
            self.figures.holder = False
            return False
        if not held or not self.figures.holder:
            self._take_over()
        self._settle()
        more = self._evaluate()
        self._send()
        self.figures.rounds += 1
        return more

    def _claim(self) -> bool:
        begun = time.monotonic()
        held = self._store.alerts.claim(LEASE, self._owner, self._rhythm.lease)
        self._held_until = begun + self._rhythm.lease if held else 0.0
        return held

    def _holding(self) -> bool:
        return time.monotonic() < self._held_until

    def _still(self) -> bool:
        """Before a write: whether the lease is still ours, asked again when a third of it has passed."""
        if time.monotonic() < self._held_until - self._rhythm.lease * 2 / 3:
            return True
        return self._holding() and self._claim()

    def _keep_holding(self) -> None:
        if not self._still():
            raise StoreError("the lease was lost in the middle of a round, nothing was written")

    def _take_over(self) -> None:
        self._states.load()
        keys = {n.key for state in self._states.all().values() for n in state.outbox}
        known = {pair for pair in self._settled if pair[0] in keys}
        self._settled = known | self._store.alerts.settled(keys)
        place = self._store.bookmark(BOOKMARK)
        self._version = int(place) if place else None
        self.figures.holder = True

    def _evaluate(self) -> bool:
        now_ns = self._clock()
        alerts = self._watching.alerts()
        since = now_ns - int(self._rhythm.lookback * 10**9)
        after = None if self._version is None else max(0, self._version - _OVERLAP_NS)
        touched = self._store.alerts.touched(after, since_ns=max(0, now_ns - _CORRECTABLE_NS))
        now = Round(now_ns, since, self._store.alerts.silences(), touched.spans)
        problems = [*self._watching.problems(), *self._states.damaged]
        decided = [self._one(alert, now, problems) for alert in alerts]
        known = {alert.id for alert in alerts} | {CONFIG}
        for name in sorted({name for name, _ in self._states.all()} - known):
            decided.append(retired(self._states.of(name), now))
        self._keep(decided, config_state(self._states.of(CONFIG).get(()), problems, now_ns, now.silences))
        if touched.version != self._version:
            self._store.set_bookmark(BOOKMARK, str(touched.version))
            self._version = touched.version
        self.figures.problems = len(problems)
        return any(d.more for d in decided)

    def _one(self, alert: Alert, now: Round, problems: list[str]) -> Decided:
        """An alert that cannot be evaluated is a problem of its own and does not keep the others from being."""
        begun = self._begun.setdefault(alert.id, now.now_ns)
        self._keep_holding()
        try:
            states = self._states.of(alert.id)
            return decide_alert(alert, states, self._watching.source(alert), replace(now, begun_ns=begun))
        except StoreError as error:
            if error.retryable:
                raise
            problems.append(f"alert {alert.id} cannot be evaluated: {error}")
        except ToolselectError as error:
            problems.append(f"alert {alert.id} cannot be evaluated: {error}")
        except Exception as error:  # a mistake of ours in one signal
            log.exception("alert %s cannot be evaluated", alert.id)
            problems.append(f"alert {alert.id} cannot be evaluated: {type(error).__name__}")
        return Decided((), (), 0)

    def _keep(self, decided: Sequence[Decided], config: AlertState) -> None:
        before = self._states.of(CONFIG).get(())
        news = [n for d in decided for n in d.news]
        self._keep_holding()
        settled = self._clock()
        self._store.alerts.add_sendings(
            sending_of(n, "", "silenced", settled) for n in news if n.silenced_by is not None
        )
        states = [state for d in decided for state in d.states]
        if before is not None or config.changes:
            states.append(config)
            told = {n.key for n in before.outbox} if before is not None else set()
            news += [n for n in config.outbox if n.key not in told]
        self._states.keep(states)
        self.figures.windows += sum(d.windows for d in decided)
        for notification in sorted(news, key=_in_time):
            self._watching.on_news(notification)

    # what goes out

    def _send(self) -> None:
        if not self._still():
            return
        unrouted: list[Notification] = []
        self._delivery.stand(self._standing(), self._held_until)  # first: what ends now must not be repeated after
        waiting = [n for state in self._states.all().values() for n in state.outbox]
        for notification in sorted(waiting, key=_in_time):
            wanted = receivers(self._watching.routes, notification)
            for name in wanted:
                if (notification.key, name) not in self._settled:
                    self._delivery.submit(notification, name)
            if not wanted and (notification.key, "") not in self._settled:
                unrouted.append(notification)
        if unrouted:
            now = self._clock()
            self._store.alerts.add_sendings(sending_of(n, "", "unrouted", now) for n in unrouted)
            self._settled |= {(n.key, "") for n in unrouted}
        self._acknowledge()

    def _standing(self) -> dict[str, list[Notification]]:
        """By receiver, what it was told, or is about to be, and what has not ended."""
        found: dict[str, list[Notification]] = {}
        for state in self._states.all().values():
            for told, begun in ((state.told_firing, state.fire), (state.told_silent, state.gap)):
                if told and begun is not None:
                    for name in receivers(self._watching.routes, begun):
                        found.setdefault(name, []).append(begun)
        return found

    def _settle(self) -> None:
        """What was delivered or given up: into the history, then out of the outboxes."""
        found = self._delivery.collect()
        # known here in any case: it must not be sent again because the store is away
        self._settled |= {(s.key, s.receiver) for s in found}
        self.figures.delivered += sum(s.outcome == "delivered" for s in found)
        self.figures.dead += sum(s.outcome == "dead" for s in found)
        self._unwritten += found
        self._store.alerts.add_sendings(self._unwritten)
        self._unwritten = []
        self._acknowledge()

    def _acknowledge(self) -> None:
        changed: list[AlertState] = []
        done: set[str] = set()
        for state in self._states.all().values():
            keys = {n.key for n in state.outbox if self._is_done(n)}
            if keys:
                changed.append(acknowledged(state, keys))
                done |= keys
        if changed and self._still():
            self._states.keep(changed)
            self._settled = {pair for pair in self._settled if pair[0] not in done}

    def _is_done(self, notification: Notification) -> bool:
        wanted = receivers(self._watching.routes, notification) or ("",)
        return all((notification.key, name) in self._settled for name in wanted)


def _in_time(notification: Notification) -> tuple[int, str, int]:
    return notification.at_ns, notification.alert, notification.change
