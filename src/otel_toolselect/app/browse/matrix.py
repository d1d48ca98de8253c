"""The confusion matrix of a window, with intervals and its course (R38, R44)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.models import Matrix, MatrixCell, Point, ToolRow
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.windows import confusion_over
from otel_toolselect.model.alerting import Window
from otel_toolselect.model.figures import Confusion
from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats.confusion import figures
from otel_toolselect.stats.rates import rate

LABELS_SHOWN = 60
STEPS_SHOWN = 60
WORST_SHOWN = 20
_MINUTE = 60 * 10**9
_STEPS = [m * _MINUTE for m in (1, 5, 15, 60, 360, 1_440, 10_080, 43_200)]
MAX_NS = 2**63 - 1


def matrix(reader: Reader, filters: Filters) -> Matrix:
    """Of suites and rules together, unless the filters name some. Filters that a figure does not know (status, text,
    ...) are left aside: a matrix of failures alone would have no diagonal.
    """
    window = filters.window(reader.now_ns)
    drawn = closed(reader, window)
    whole, *steps = confusion_over(reader.store, filters.scope(reader.tenant), (), [window, *stretches(drawn)])
    found = whole.confusion
    order = _ordered(found)
    shown = set(order[:LABELS_SHOWN])
    cells = {
        (cell.expected, cell.observed): _cell(cell, n, found, filters)
        for cell, n in found.cells
        if cell.expected in shown and cell.observed in shown
    }
    tools = tuple(_row(name, found) for name in order)
    expected = {cell.expected for cell, _ in found.cells}
    observed = {cell.observed for cell, _ in found.cells}
    wrong = sorted((c for c in cells.values() if not c.right), key=lambda c: (-c.n, c.expected, c.observed))
    return Matrix(
        filters=filters,
        window=drawn,
        n=whole.right.n,
        right=whole.right,
        rows=tuple(name for name in order[:LABELS_SHOWN] if name in expected),
        columns=tuple(name for name in order[:LABELS_SHOWN] if name in observed),
        cells=cells,
        tools=tools,
        worst=next((row for row in tools if found.worst_recall and row.name == found.worst_recall.tool), None),
        confused=tuple(wrong[:WORST_SHOWN]),
        course=tuple(Point(one.window, one.right) for one in steps),
        more=len(order) - len(shown),
    )


def closed(reader: Reader, window: Window) -> Window:
    """The window as a chart has it: from the first decision, where it is open, to now."""
    end = min(window.end_ns, reader.now_ns + _MINUTE) if window.end_ns == MAX_NS else window.end_ns
    start = window.start_ns
    if start == 0:
        suites = reader.store.browse.suites(tenant=reader.tenant, until_ns=window.end_ns)
        start = min((s.first_ns for s in suites), default=end - 1)
    return Window(min(start, end - 1), end)


def stretches(window: Window) -> list[Window]:
    """Steps of one length, `STEPS_SHOWN` at most, on whole minutes, hours or days; the outer ones as they are cut."""
    length = window.end_ns - window.start_ns
    step = next((s for s in _STEPS if length <= s * (STEPS_SHOWN - 1)), -(-length // (STEPS_SHOWN - 1)))
    first = window.start_ns // step * step
    starts = range(first, window.end_ns, step)
    return [Window(max(start, window.start_ns), min(start + step, window.end_ns)) for start in starts]


def _ordered(found: Confusion) -> list[str]:
    """Tools by how often they were expected or chosen, then the labels of runs without a call."""
    counts: dict[str, int] = {}
    for cell, n in found.cells:
        counts[cell.expected] = counts.get(cell.expected, 0) + n
        if cell.observed != cell.expected:
            counts[cell.observed] = counts.get(cell.observed, 0) + n
    return sorted(counts, key=lambda name: (name in NO_CALL_LABELS, -counts[name], name))


def _cell(cell: Cell, n: int, found: Confusion, filters: Filters) -> MatrixCell:
    support = sum(count for other, count in found.cells if other.expected == cell.expected)
    query = filters.query(expected=cell.expected, observed=cell.observed)
    return MatrixCell(cell.expected, cell.observed, n, n / support, query)


def _row(name: str, found: Confusion) -> ToolRow:
    counts: Mapping[Cell, int] = dict(found.cells)
    correct = counts.get(Cell(name, name), 0)
    support = sum(n for cell, n in found.cells if cell.expected == name)
    chosen = sum(n for cell, n in found.cells if cell.observed == name)
    tool = name not in NO_CALL_LABELS
    return ToolRow(name, tool, rate(correct, support), rate(correct, chosen), figures(correct, support, chosen))


def worst_pairs(found: Confusion, filters: Filters, limit: int) -> Sequence[MatrixCell]:
    """The most frequent wrong pairs."""
    wrong = sorted(
        ((cell, n) for cell, n in found.cells if cell.expected != cell.observed),
        key=lambda item: (-item[1], item[0].expected, item[0].observed),
    )
    return [_cell(cell, n, found, filters) for cell, n in wrong[:limit]]
