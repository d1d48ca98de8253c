"""The confusion matrix of a window, with intervals and its course (R38, R44)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.app.browse.figure_models import Matrix, MatrixCell, Point, ToolRow
from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.windows import confusion_over
from otel_toolselect.model.alerting import Query, Scope, Window
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
    scope = filters.scope(reader.tenant)
    (whole,) = confusion_over(reader.store, scope, (), [window])
    found = whole.confusion
    totals = _Totals.of(found)
    order = totals.order
    shown = set(order[:LABELS_SHOWN])
    cells = {
        (cell.expected, cell.observed): totals.cell(cell, n, filters)
        for cell, n in found.cells
        if cell.expected in shown and cell.observed in shown
    }
    tools = tuple(totals.row(name) for name in order)
    return Matrix(
        filters=filters,
        window=drawn,
        n=whole.right.n,
        right=whole.right,
        rows=tuple(name for name in order[:LABELS_SHOWN] if totals.rows[name]),
        columns=tuple(name for name in order[:LABELS_SHOWN] if totals.columns[name]),
        cells=cells,
        tools=tools,
        worst=next((row for row in tools if found.worst_recall and row.name == found.worst_recall.tool), None),
        confused=tuple(worst_pairs(found, filters, WORST_SHOWN)),
        course=course(reader, scope, drawn),
        more=len(order) - len(shown),
    )


def closed(reader: Reader, window: Window) -> Window:
    """The window as a chart has it: from the first run, where it is open, to now."""
    end = min(window.end_ns, reader.now_ns + _MINUTE) if window.end_ns == MAX_NS else window.end_ns
    start = window.start_ns
    if start == 0:
        first = reader.store.browse.first_ns(tenant=reader.tenant)
        start = end - 1 if first is None else first
    return Window(min(start, end - 1), end)


def course(reader: Reader, scope: Scope, window: Window) -> tuple[Point, ...]:
    """The share of right first actions in each step of the window: over all tools, that is what recall is."""
    steps = stretches(window)
    seen = reader.store.observe(Query("recall", scope), steps)[()]
    return tuple(Point(step, rate(one.numerator or 0, one.n)) for step, one in zip(steps, seen, strict=True))


def stretches(window: Window) -> list[Window]:
    """Steps of one length, `STEPS_SHOWN` at most, on whole minutes, hours or days; the outer ones as they are cut."""
    length = window.end_ns - window.start_ns
    step = next((s for s in _STEPS if length <= s * (STEPS_SHOWN - 1)), -(-length // (STEPS_SHOWN - 1)))
    first = window.start_ns // step * step
    starts = range(first, window.end_ns, step)
    return [Window(max(start, window.start_ns), min(start + step, window.end_ns)) for start in starts]


@dataclass(frozen=True, slots=True)
class _Totals:
    """How often each label was expected, chosen, and both."""

    rows: Counter[str]
    columns: Counter[str]
    right: Counter[str]

    @classmethod
    def of(cls, found: Confusion) -> _Totals:
        made = cls(Counter(), Counter(), Counter())
        for cell, n in found.cells:
            made.rows[cell.expected] += n
            made.columns[cell.observed] += n
            made.right[cell.expected] += n * (cell.expected == cell.observed)
        return made

    @property
    def order(self) -> list[str]:
        """Tools by how often they were expected or chosen, then the labels of runs without a call."""
        seen = {name: self.rows[name] + self.columns[name] - self.right[name] for name in self.rows | self.columns}
        return sorted(seen, key=lambda name: (name in NO_CALL_LABELS, -seen[name], name))

    def cell(self, cell: Cell, n: int, filters: Filters) -> MatrixCell:
        query = filters.query(expected=cell.expected, observed=cell.observed)
        return MatrixCell(cell.expected, cell.observed, n, n / self.rows[cell.expected], query)

    def row(self, name: str) -> ToolRow:
        correct, support, chosen = self.right[name], self.rows[name], self.columns[name]
        counted = figures(correct, support, chosen)
        return ToolRow(name, name not in NO_CALL_LABELS, rate(correct, support), rate(correct, chosen), counted)


def worst_pairs(found: Confusion, filters: Filters, limit: int) -> Sequence[MatrixCell]:
    """The most frequent wrong pairs."""
    totals = _Totals.of(found)
    wrong = [(cell, n) for cell, n in found.cells if cell.expected != cell.observed]
    wrong.sort(key=lambda item: (-item[1], item[0].expected, item[0].observed))
    return [totals.cell(cell, n, filters) for cell, n in wrong[:limit]]
