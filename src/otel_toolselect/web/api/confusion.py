"""/api/v1/confusion: the matrix of a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter

from otel_toolselect.app import browse
from otel_toolselect.app.browse.figure_models import MatrixCell, Point, ToolRow
from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.model.alerting import Window
from otel_toolselect.model.figures import Rate
from otel_toolselect.web.api import Endpoints, Reader, Texts

router = APIRouter(tags=["figures"])


@dataclass(frozen=True, slots=True)
class MatrixDocument:
    """The confusion matrix with its cells as a list: JSON has no pairs for keys."""

    filters: Filters
    window: Window
    n: int
    right: Rate
    rows: Sequence[str]
    columns: Sequence[str]
    cells: Sequence[MatrixCell]
    tools: Sequence[ToolRow]
    worst: ToolRow | None
    course: Sequence[Point]
    more: int


@router.get("/confusion")
def confusion(call: Reader, origin: Texts = None, prompt: Texts = None) -> MatrixDocument:
    """Expected against observed first actions; recall and precision with Wilson 95 % intervals; the course."""
    found = browse.matrix(call.reader, call.filters)
    return MatrixDocument(
        filters=found.filters,
        window=found.window,
        n=found.n,
        right=found.right,
        rows=found.rows,
        columns=found.columns,
        cells=tuple(found.cells.values()),
        tools=found.tools,
        worst=found.worst,
        course=found.course,
        more=found.more,
    )


PLUGIN = Endpoints("confusion", router)
