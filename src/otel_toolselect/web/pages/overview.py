"""The first page: how the program is, what arrives, what changed."""

from __future__ import annotations

from otel_toolselect.web.call import Call
from otel_toolselect.web.page import Answer, Page, Section, Show
from otel_toolselect.web.tables import Column, Table

_COLUMNS = (
    Column("Service"),
    Column("Instrumentation"),
    Column("Spans", numeric=True),
    Column("Traces", numeric=True),
    Column("Last span", numeric=True),
)


def overview(call: Call) -> Answer:
    held = call.store.overview()
    table = Table("Spans in the store by service and instrumentation scope", _COLUMNS, held.scopes)
    return Show(
        "overview.html.j2",
        {"held": held, "table": table, "parts": [part() for part in call.site.parts]},
        title="Overview",
    )


PLUGIN = Section("overview", "Overview", (Page("/", overview),), order=10)
