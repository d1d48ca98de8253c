"""View models of what stands around the runs: catalogs that were offered, alerts, the instrumentation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.model.alerting import Notification, Silence
from otel_toolselect.model.catalogs import Catalog, CatalogDiff, Suspicion
from otel_toolselect.model.monitoring import AlertStatus
from otel_toolselect.store.browse_api import CatalogSeen

# catalogs


@dataclass(frozen=True, slots=True)
class CatalogList:
    filters: Filters
    catalogs: tuple[CatalogSeen, ...]


@dataclass(frozen=True, slots=True)
class CatalogView:
    """One catalog with what is suspicious in it; `others`: to compare it with."""

    catalog: Catalog
    suspicions: tuple[Suspicion, ...]
    others: tuple[CatalogSeen, ...]


@dataclass(frozen=True, slots=True)
class CatalogDiffView:
    """`new`: suspicions of the later catalog that the earlier one does not have."""

    diff: CatalogDiff
    new: tuple[Suspicion, ...]


# alerts


@dataclass(frozen=True, slots=True)
class SilenceRow:
    silence: Silence
    state: Literal["active", "coming", "over"]


@dataclass(frozen=True, slots=True)
class SendingRow:
    """What became of one notification. `receiver` "" where it went to none."""

    notification: Notification | None
    alert: str
    kind: str
    receiver: str
    outcome: str
    at_ns: int
    settled_ns: int
    attempts: int
    error: str
    says: str


@dataclass(frozen=True, slots=True)
class AlertRow:
    """`silenced_by`: the silence that holds its notifications back now, if any."""

    status: AlertStatus
    silenced_by: str | None


@dataclass(frozen=True, slots=True)
class AlertsView:
    """`problem`: why the alert files cannot be read, in words; states that are kept are shown all the same."""

    alerts: tuple[AlertRow, ...]
    silences: tuple[SilenceRow, ...]
    sendings: tuple[SendingRow, ...]
    problem: str = ""


# instrumentation


@dataclass(frozen=True, slots=True)
class NeedRow:
    """Of `n` runs or calls, how many have what judging wants; `switch`: what brings the rest."""

    need: str
    have: int
    n: int
    switch: str = ""


@dataclass(frozen=True, slots=True)
class CoverageRow:
    service: str
    dialect: str
    runs: int
    calls: int
    needs: tuple[NeedRow, ...]
    incomplete: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ScopeRow:
    service: str
    scope: str
    version: str
    spans: int
    traces: int
    dialects: tuple[tuple[str, int], ...]
    clock: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class DoctorView:
    """What the latest runs of the window tell of the instrumentation. `traces`: how many were looked at."""

    filters: Filters
    traces: int
    scopes: tuple[ScopeRow, ...]
    coverage: tuple[CoverageRow, ...]
    faults: tuple[tuple[str, int], ...]
