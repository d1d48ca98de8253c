"""The confusion matrix of a window as a heat map: expected against observed first action (R38, R44)."""

from __future__ import annotations

from math import ceil

from otel_toolselect.app import browse
from otel_toolselect.app.browse.figure_models import MatrixCell
from otel_toolselect.store.browse_api import Facet
from otel_toolselect.web.call import Call
from otel_toolselect.web.page import Answer, Page, Section, Show
from otel_toolselect.web.tables import Column, Table

_FACETS: tuple[Facet, ...] = ("suite", "agent", "model", "service", "catalog", "prompt", "origin")
_TOOLS = (
    Column("Tool"),
    Column("Recall"),
    Column("Precision"),
    Column("F1", numeric=True),
    Column("Expected", numeric=True),
    Column("Chosen", numeric=True),
)
_PAIRS = (Column("Wanted"), Column("Got"), Column("Runs", numeric=True), Column("Of those wanted", numeric=True))
_SHADES = 5


def matrix(call: Call) -> Answer:
    found = browse.matrix(call.reader, call.filters)
    names = _FACETS if call.who.tenant is not None else (*_FACETS, "tenant")
    choices = browse.facet_list(call.reader, call.filters, names).values
    return Show(
        "confusion.html.j2",
        {
            "found": found,
            "choices": choices,
            "shades": {pair: shade(cell) for pair, cell in found.cells.items()},
            "totals": {row: sum(c.n for c in found.cells.values() if c.expected == row) for row in found.rows},
            "tools": Table("Recall and precision by label", _TOOLS, found.tools),
            "pairs": Table("Most frequent mistakes", _PAIRS, found.confused),
            "course": [point.right.rate for point in found.course],
        },
        title="Confusion",
    )


def shade(cell: MatrixCell) -> str:
    """The class of a cell's colour: blue on the diagonal, orange beside it, by the share of its row."""
    return f"{'d' if cell.right else 'o'}{max(1, min(_SHADES, ceil(cell.share * _SHADES)))}"


PLUGIN = Section("confusion", "Confusion", (Page("/confusion", matrix),), order=20)
