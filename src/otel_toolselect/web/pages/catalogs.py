"""Catalogs: what agents were offered, what is suspicious in it, and two side by side (R45, R46)."""

from __future__ import annotations

from otel_toolselect.app import browse
from otel_toolselect.web.call import Call
from otel_toolselect.web.document import document
from otel_toolselect.web.page import Answer, Page, Section, Show
from otel_toolselect.web.problems import NotFoundError
from otel_toolselect.web.tables import Column, Table

_COLUMNS = (
    Column("Catalog"),
    Column("Tools"),
    Column("Agents"),
    Column("Models"),
    Column("Runs", numeric=True),
    Column("First seen", numeric=True),
    Column("Last seen", numeric=True),
)
_MISSING = "there is no such catalog in this window; choose a longer one"


def catalogs(call: Call) -> Answer:
    found = browse.catalog_list(call.reader, call.filters)
    return Show(
        "catalogs.html.j2", {"table": Table("Catalogs of the window", _COLUMNS, found.catalogs)}, title="Catalogs"
    )


def catalog(call: Call) -> Answer:
    found = browse.catalog_view(call.reader, call.params["catalog"], call.filters)
    if found is None:
        raise NotFoundError(_MISSING)
    schemas = {tool.name: document(tool.schema) for tool in found.catalog.tools if tool.schema is not None}
    return Show("catalog.html.j2", {"found": found, "schemas": schemas}, title=found.catalog.id[:19])


def diff(call: Call) -> Answer:
    before, after = (call.query.get(name, "")[:200] for name in ("before", "after"))
    found = browse.catalog_diff(call.reader, before, after, call.filters)
    if found is None:
        raise NotFoundError(_MISSING)
    changes = [(c, document(c.before.schema), document(c.after.schema)) for c in found.diff.changed]
    return Show("catalog_diff.html.j2", {"found": found, "changes": changes}, title="Catalogs compared")


PAGES = (
    Page("/catalogs", catalogs),
    Page("/catalogs/compare", diff),
    Page("/catalogs/{catalog}", catalog),
)
PLUGIN = Section("catalogs", "Catalogs", PAGES, order=50)
