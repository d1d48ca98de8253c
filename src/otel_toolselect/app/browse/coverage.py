"""How complete what arrives is: the doctor, on the latest runs of a window."""

from __future__ import annotations

from otel_toolselect import app
from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.browse.state_models import CoverageRow, DoctorView, NeedRow, ScopeRow
from otel_toolselect.model.spans import LogRecord, Span, tenant_of
from otel_toolselect.stats.arrivals import NEEDS
from otel_toolselect.store.browse_api import MOST_ROWS

TRACES = MOST_ROWS
SPANS = 20_000


def doctor_view(reader: Reader, filters: Filters) -> DoctorView:
    """Of the latest `TRACES` runs that fit the filters, `SPANS` spans at most: enough to see what is missing, whatever
    the history holds. What was never judged is not looked at; `toolselect doctor` reads everything.
    """
    of = filters.runs(reader.now_ns)
    page = reader.store.browse.runs(of, tenant=reader.tenant, limit=TRACES)
    traces = list(dict.fromkeys(row.trace_id for row in page.rows))
    spans: list[Span] = []
    logs: list[LogRecord] = []
    looked = 0
    for some, records in reader.store.traces(trace_ids=traces) if traces else ():
        spans += [span for span in some if _mine(reader, span)]
        logs += [record for record in records if _mine(reader, record)]
        looked += 1
        if len(spans) >= SPANS:
            break
    found = app.doctor(spans, logs, reader.settings)
    rows = [
        CoverageRow(
            service=row.service,
            dialect=row.dialect,
            runs=row.runs,
            calls=row.calls,
            needs=tuple(
                NeedRow(need, row.have[need], row.total(need), found.advice(row).get(need, "")) for need in NEEDS
            ),
            incomplete=tuple(row.incomplete.most_common()),
        )
        for row in found.coverage
    ]
    scopes = [
        ScopeRow(s.service, s.scope, s.version, s.spans, s.traces, tuple(s.dialects.items()), tuple(s.clock.items()))
        for s in found.scopes
    ]
    return DoctorView(filters, looked, tuple(scopes), tuple(rows), tuple(sorted(found.faults.items())))


def _mine(reader: Reader, record: Span | LogRecord) -> bool:
    return reader.tenant is None or tenant_of(record.resource) == reader.tenant
