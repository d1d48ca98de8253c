"""Delivery: what a receiver is to get, in order, tried again until it has it or never will (issue F point 6).

Each target has a thread of its own, so that one that is away delays neither the others nor the evaluation. Nothing is
remembered here: what was not settled when the process ends is still in the outbox of its state, and comes again under
the same key. A batch that a receiver refuses is sent again one by one, so that one bad message costs only itself.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_delay, stop_when_event_set
from tenacity.nap import sleep_using_event
from tenacity.wait import wait_exponential_jitter

from otel_toolselect.errors import NotifyError
from otel_toolselect.model.alerting import Notification
from otel_toolselect.monitor.keeping import sending_of
from otel_toolselect.monitor.notifiers import Notifier, Refreshing
from otel_toolselect.store.alert_api import Outcome, Sending

log = logging.getLogger(__name__)
BATCH = 100
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 300.0
CLOSE_S = 15.0


class Delivery:
    """To all targets. `on_settled` is called, by any thread, when there is something to `collect`."""

    def __init__(
        self,
        notifiers: Sequence[Notifier],
        *,
        give_up_s: float,
        first_pause_s: float = FIRST_PAUSE_S,
        on_settled: Callable[[], None] = lambda: None,
    ) -> None:
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._settled: list[Sending] = []
        self._on_settled = on_settled
        patience = _Patience(give_up_s, first_pause_s, self._stop)
        self._workers = {n.name: _Worker(n, patience, self._settle) for n in notifiers}

    def submit(self, notification: Notification, receiver: str) -> None:
        """Queue for one receiver what is not queued for it already."""
        self._workers[receiver].add(notification)

    def stand(self, standing: Mapping[str, Sequence[Notification]], until_s: float = inf) -> None:
        """What receivers believe to last, by receiver, for those that forget what is not repeated. Called before
        `submit` tells of an end. Holds until the monotonic clock says `until_s`: then somebody else may know better.
        """
        for name, worker in self._workers.items():
            worker.stand(standing.get(name, ()), until_s)

    def collect(self) -> list[Sending]:
        """What was settled since the last call. What is handed out here may be submitted again."""
        with self._lock:
            settled, self._settled = self._settled, []
        for sending in settled:
            self._workers[sending.receiver].forget(sending.key)
        return settled

    def drop(self) -> None:
        """Forget what waits: another monitor has taken over. An attempt that is under way ends as it may."""
        for worker in self._workers.values():
            worker.clear()

    def close(self) -> None:
        """Ends after the attempts that are under way."""
        self._stop.set()
        for worker in self._workers.values():
            worker.end()
        for worker in self._workers.values():
            worker.join(CLOSE_S)

    def _settle(self, sendings: Sequence[Sending]) -> None:
        with self._lock:
            self._settled += sendings
        self._on_settled()


@dataclass(frozen=True, slots=True)
class _Patience:
    give_up_s: float
    first_pause_s: float
    stop: threading.Event

    def retrying(self) -> Retrying:
        return Retrying(
            retry=retry_if_exception(lambda error: isinstance(error, NotifyError) and error.retryable),
            wait=self._pause,
            stop=stop_when_event_set(self.stop) | stop_after_delay(self.give_up_s),
            sleep=sleep_using_event(self.stop),
            reraise=True,
        )

    def _pause(self, state: RetryCallState) -> float:
        """As long as the receiver asked for, or twice as long as the last time, with jitter."""
        error = state.outcome.exception() if state.outcome is not None else None
        if isinstance(error, NotifyError) and error.retry_after_s is not None:
            return min(max(error.retry_after_s, self.first_pause_s), LONGEST_PAUSE_S)
        longer = wait_exponential_jitter(multiplier=self.first_pause_s, max=LONGEST_PAUSE_S, jitter=self.first_pause_s)
        return longer(state)


@dataclass(slots=True)
class _Attempt:
    """One batch at one receiver: what is left of it, and how often it was tried."""

    notifier: Notifier
    left: list[Notification]
    attempts: int = 0
    delivered: list[Notification] = field(default_factory=list)

    def __call__(self) -> None:
        self.attempts += 1
        try:
            self.notifier.send(self.left)
        except NotifyError as error:
            self._took({n.key for n in self.left} & error.delivered)
            if self.left:
                raise
        else:
            self._took({n.key for n in self.left})

    def _took(self, keys: set[str]) -> None:
        self.delivered += [n for n in self.left if n.key in keys]
        self.left = [n for n in self.left if n.key not in keys]


class _Worker:
    def __init__(self, notifier: Notifier, patience: _Patience, settle: Callable[[Sequence[Sending]], None]) -> None:
        self._notifier = notifier
        self._patience = patience
        self._settle = settle
        self._condition = threading.Condition()
        self._waiting: deque[Notification] = deque()
        self._known: set[str] = set()
        self._standing: Sequence[Notification] = ()
        self._standing_until = 0.0
        self._refresher = notifier if isinstance(notifier, Refreshing) else None
        self._refreshed_s = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=f"notify-{notifier.name}", daemon=True)
        self._thread.start()

    def add(self, notification: Notification) -> None:
        with self._condition:
            if notification.key not in self._known:
                self._known.add(notification.key)
                self._waiting.append(notification)
                self._condition.notify()

    def stand(self, standing: Sequence[Notification], until_s: float) -> None:
        with self._condition:
            self._standing, self._standing_until = standing, until_s

    def forget(self, key: str) -> None:
        with self._condition:
            self._known.discard(key)

    def clear(self) -> None:
        with self._condition:
            self._known -= {n.key for n in self._waiting}
            self._waiting.clear()
            self._standing_until = 0.0

    def end(self) -> None:
        with self._condition:
            self._condition.notify_all()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _run(self) -> None:
        while (batch := self._next()) is not None:
            if batch:
                self._deliver(batch)
            if self._refresher is not None and self._until_refresh(self._refresher) <= 0:
                self._refresh(self._refresher)
        self._notifier.close()

    def _next(self) -> list[Notification] | None:
        """What waits; nothing when it is time to refresh, None at the end."""
        pause = None if self._refresher is None else max(0.0, self._until_refresh(self._refresher))
        with self._condition:
            self._condition.wait_for(lambda: self._waiting or self._patience.stop.is_set(), pause)
            if self._patience.stop.is_set():
                return None
            return [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]

    def _until_refresh(self, refresher: Refreshing) -> float:
        return self._refreshed_s + refresher.refresh_s - time.monotonic()

    def _refresh(self, refresher: Refreshing) -> None:
        self._refreshed_s = time.monotonic()
        with self._condition:
            standing, holds = self._standing, time.monotonic() < self._standing_until
        if not holds:  # nobody said yet, or another monitor may be at work
            return
        try:
            refresher.refresh(standing)
        except NotifyError as error:
            log.warning("notifier %s could not repeat what stands: %s", self._notifier.name, error)
        except Exception:  # as when sending
            log.exception("notifier %s raised what it must not", self._notifier.name)

    def _deliver(self, batch: list[Notification]) -> None:
        attempt = _Attempt(self._notifier, batch)
        error = self._tried(attempt)
        self._report(attempt.delivered, "delivered", attempt.attempts)
        if error is None or (self._patience.stop.is_set() and _may_come(error)):
            return
        if len(attempt.left) == 1 or _may_come(error):
            self._report(attempt.left, "dead", attempt.attempts, error)
            return
        for notification in attempt.left:
            self._deliver([notification])

    def _tried(self, attempt: _Attempt) -> Exception | None:
        try:
            self._patience.retrying()(attempt)
        except NotifyError as error:
            log.warning("notifier %s failed for good after %d attempts", self._notifier.name, attempt.attempts)
            return error
        except Exception as error:  # a plug-in of somebody else must not end the thread
            log.exception("notifier %s raised what it must not", self._notifier.name)
            return error
        return None

    def _report(
        self, sent: Sequence[Notification], outcome: Outcome, attempts: int, error: Exception | None = None
    ) -> None:
        if not sent:
            return
        said = "" if error is None else str(error) if isinstance(error, NotifyError) else type(error).__name__
        now = time.time_ns()
        self._settle([sending_of(n, self._notifier.name, outcome, now, attempts=attempts, error=said) for n in sent])


def _may_come(error: Exception) -> bool:
    return isinstance(error, NotifyError) and error.retryable
