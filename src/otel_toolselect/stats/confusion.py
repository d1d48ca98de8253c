"""The confusion matrix (R38, R39; design section 7).

One cell per run and per labelled turn: expected label (row) x observed first consequential action (column).
The no-call labels `none`, `ask_followup` and `refuse_no_tool` are rows and columns like tools, so that "asked
although a tool was there" is a cell of its own; the per-tool figures and the worst recall are about tools
only. A ghost tool (called, never expected) keeps its own name: support 0, recall undefined.

For a tool: recall = diagonal / row total; precision = diagonal / column total; F1 = 2 x diagonal / (row total +
column total), which is their harmonic mean. A figure whose own total is 0 is None, never 0; F1's total is the sum, so a
tool that was expected and never chosen has F1 0, as in scikit-learn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from otel_toolselect.model.figures import Confusion, ToolFigures, WorstRecall
from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import Cell


def confusion(cells: Iterable[Cell]) -> Confusion:
    """Counts cells; the order of the input does not matter."""
    return confusion_of(Counter(cells))


def confusion_of(counts: Mapping[Cell, int]) -> Confusion:
    """Of cells that are counted already."""
    rows: Counter[str] = Counter()
    columns: Counter[str] = Counter()
    for cell, n in counts.items():
        rows[cell.expected] += n
        columns[cell.observed] += n
    names = sorted((rows.keys() | columns.keys()) - set(NO_CALL_LABELS))
    tools = {name: figures(counts.get(Cell(name, name), 0), rows[name], columns[name]) for name in names}
    ordered = sorted(counts.items(), key=lambda item: (item[0].expected, item[0].observed))
    return Confusion(tuple(ordered), tools, _worst(tools))


def figures(correct: int, support: int, chosen: int) -> ToolFigures:
    """The figures of one label from diagonal, row total and column total."""
    return ToolFigures(
        recall=correct / support if support else None,
        precision=correct / chosen if chosen else None,
        f1=2 * correct / (support + chosen) if support + chosen else None,
        support=support,
        chosen=chosen,
        correct=correct,
    )


def _worst(tools: dict[str, ToolFigures]) -> WorstRecall | None:
    """The tool with the lowest recall; of equals the one with more cases behind it, then the first by
    name.
    """
    known = [WorstRecall(name, t.recall, t.support) for name, t in tools.items() if t.recall is not None]
    return min(known, key=lambda w: (w.recall, -w.support, w.tool), default=None)
