"""Spans, runs and verdicts in ClickHouse: chDB in this process, or a server, by one DSN (design section 9).

Importing this package is cheap; the engine and its client are loaded by `open_store`.
"""

from otel_toolselect.store.api import Overview, RawEngine, RawResult, ScopeFigures, Store, TableSize, Trace
from otel_toolselect.store.arrival_api import Arrivals, Cursor
from otel_toolselect.store.audit_api import AuditEntry, AuditPage
from otel_toolselect.store.judged_api import Judged, Kept
from otel_toolselect.store.label_api import Labels, Sampling
from otel_toolselect.store.opening import open_store
from otel_toolselect.store.patience import patient
from otel_toolselect.store.retention_api import Tier
from otel_toolselect.store.serveinfo import (
    SERVE_INFO_NAME,
    ServeInfo,
    read_serve_info,
    remove_serve_info,
    write_serve_info,
)
from otel_toolselect.store.state_api import StoreState

__all__ = [
    "SERVE_INFO_NAME",
    "Arrivals",
    "AuditEntry",
    "AuditPage",
    "Cursor",
    "Judged",
    "Kept",
    "Labels",
    "Overview",
    "RawEngine",
    "RawResult",
    "Sampling",
    "ScopeFigures",
    "ServeInfo",
    "Store",
    "StoreState",
    "TableSize",
    "Tier",
    "Trace",
    "open_store",
    "patient",
    "read_serve_info",
    "remove_serve_info",
    "write_serve_info",
]
