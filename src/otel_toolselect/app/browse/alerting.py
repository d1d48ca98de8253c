"""Alerts as they stand, silences, and what became of notifications (R48, R53)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.browse.state_models import AlertRow, AlertsView, SendingRow, SilenceRow
from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import Alert, Series, Silence
from otel_toolselect.model.monitoring import AlertStatus
from otel_toolselect.store.alert_api import Sending

SENDINGS_SHOWN = 100
_ORDER = ("firing", "no_data", "pending", "resolved", "inactive", "new")
_RANK = {"critical": 0, "warning": 1, "info": 2}


def alerts_view(reader: Reader, sendings: int = SENDINGS_SHOWN) -> AlertsView:
    """Firing first, then by severity. A reader of one tenant sees the alerts about that tenant alone: those that are
    limited to it, and its series of those that are cut by tenant. Silences are everybody's, and shown to those who see
    all tenants.
    """
    alerts, problem = _defined(reader)
    silences = reader.store.alerts.silences()
    rows = [
        AlertRow(status, _silenced(silences, alerts.get(status.alert), status, reader.now_ns))
        for status in _statuses(reader, problem)
        if _concerns(reader.tenant, alerts.get(status.alert), status.series)
    ]
    shown = [s for s in reader.store.alerts.sendings(limit=sendings) if _sent_to(reader.tenant, alerts, s)]
    return AlertsView(
        alerts=tuple(sorted(rows, key=_place)),
        silences=tuple(_silence(s, reader.now_ns) for s in silences) if reader.tenant is None else (),
        sendings=tuple(_sending(s) for s in shown),
        problem=problem,
    )


def _defined(reader: Reader) -> tuple[Mapping[str, Alert], str]:
    from otel_toolselect.monitor.files import load_all

    try:
        return {alert.id: alert for alert in load_all(reader.settings.monitor.alerts)}, ""
    except InputError as error:
        return {}, str(error)


def _statuses(reader: Reader, problem: str) -> list[AlertStatus]:
    from otel_toolselect.app.monitoring import statuses

    return statuses(reader.store, () if problem else reader.settings.monitor.alerts)


def _concerns(tenant: str | None, alert: Alert | None, series: Series) -> bool:
    if tenant is None:
        return True
    by = dict(series)
    if "tenant" in by:
        return by["tenant"] == tenant
    return alert is not None and alert.of.tenant == (tenant,)


def _sent_to(tenant: str | None, alerts: Mapping[str, Alert], sending: Sending) -> bool:
    if tenant is None:
        return True
    told = _sending(sending).notification
    return told is not None and _concerns(tenant, alerts.get(sending.alert), told.series)


def _silenced(silences: Sequence[Silence], alert: Alert | None, status: AlertStatus, now_ns: int) -> str | None:
    from otel_toolselect.monitor.alerts.silences import labels_of, silenced

    found = None if alert is None else silenced(silences, labels_of(alert, status.series), now_ns)
    return None if found is None else found.id


def _silence(silence: Silence, now_ns: int) -> SilenceRow:
    if silence.until_ns <= now_ns:
        return SilenceRow(silence, "over")
    return SilenceRow(silence, "active" if silence.from_ns <= now_ns else "coming")


def _sending(sending: Sending) -> SendingRow:
    from otel_toolselect.monitor.alerts.records import read_notification

    try:
        told = read_notification(sending.record)
    except InputError:  # kept by another version: what the row itself says is shown
        told = None
    return SendingRow(
        notification=told,
        alert=sending.alert,
        kind=sending.kind,
        receiver=sending.receiver,
        outcome=sending.outcome,
        at_ns=sending.at_ns,
        settled_ns=sending.settled_ns,
        attempts=sending.attempts,
        error=sending.error,
        says=sending.says,
    )


def _place(row: AlertRow) -> tuple[int, int, str, Series]:
    status = row.status
    state = _ORDER.index(status.state) if status.state in _ORDER else len(_ORDER)
    return state, _RANK.get(status.severity, len(_RANK)), status.alert, status.series
