"""States of alerts in a store, and in memory while one monitor holds the lease.

Memory changes only after the store has taken a change: whatever fails in between, the next round starts from what is
kept, makes the same notifications, and gives them the same keys.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import AlertState, Notification, Series
from otel_toolselect.monitor.alerts import notification_text, read_state, state_text
from otel_toolselect.store.alert_api import AlertRecord, Alerts, Outcome, Sending

log = logging.getLogger(__name__)
Key: TypeAlias = tuple[str, Series]


class States:
    """By alert and series. `damaged`: what could not be read, in words."""

    def __init__(self, alerts: Alerts) -> None:
        self._alerts = alerts
        self._held: dict[Key, AlertState] = {}
        self.damaged: tuple[str, ...] = ()

    def load(self) -> None:
        found: dict[Key, AlertState] = {}
        damaged: list[str] = []
        for record in self._alerts.records():
            state, problem = _read(record)
            found[state.alert, state.series] = state
            damaged += [problem] if problem else []
        self._held, self.damaged = found, tuple(damaged)
        for problem in damaged:
            log.error("%s", problem)

    def all(self) -> Mapping[Key, AlertState]:
        return self._held

    def of(self, alert: str) -> dict[Series, AlertState]:
        return {series: state for (name, series), state in self._held.items() if name == alert}

    def keep(self, changed: Iterable[AlertState]) -> None:
        """In the store, in one insert, then in memory. What equals the memory is not written."""
        fresh = {(s.alert, s.series): s for s in changed if self._held.get((s.alert, s.series)) != s}
        self._alerts.write_records([record_of(state) for state in fresh.values()])
        self._held.update(fresh)


def record_of(state: AlertState) -> AlertRecord:
    return AlertRecord(
        alert=state.alert,
        series=series_text(state.series),
        record=state_text(state),
        state=state.word,
        since_ns=state.course.since_ns,
        through_ns=state.through_ns,
        says=state.said,
    )


def series_text(series: Series) -> str:
    return json.dumps(dict(series), ensure_ascii=False)


def sending_of(
    notification: Notification,
    receiver: str,
    outcome: Outcome,
    settled_ns: int,
    *,
    attempts: int = 0,
    error: str = "",
) -> Sending:
    return Sending(
        key=notification.key,
        receiver=receiver,
        outcome=outcome,
        alert=notification.alert,
        kind=notification.kind,
        at_ns=notification.at_ns,
        settled_ns=settled_ns,
        record=notification_text(notification),
        says=notification.says,
        attempts=attempts,
        error=error,
    )


def read_states(alerts: Alerts) -> tuple[AlertState, ...]:
    """All states that can be read, for those who only look."""
    return tuple(_read(record)[0] for record in alerts.records())


def _read(record: AlertRecord) -> tuple[AlertState, str]:
    """The state, or a new one in place of what is damaged, which counts its changes from far above any number that was
    given before: its keys must be new.
    """
    try:
        return read_state(record.record), ""
    except InputError as error:
        series: Series = tuple((str(name), str(value)) for name, value in json.loads(record.series).items())
        state = AlertState(record.alert, series, through_ns=record.through_ns, changes=record.through_ns // 10**9)
        return state, f"the state of alert {record.alert} {record.series} is damaged, it begins anew: {error}"
