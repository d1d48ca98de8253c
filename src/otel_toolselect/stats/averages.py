"""Averages of per-label figures, with what is undefined left out and named (R39, R44).

- macro = arithmetic mean over the labels whose figure is defined, each label counting once.
- weighted = mean over the same labels, each counting with its support (times expected); labels that were never expected
  weigh nothing.
- `undefined` names the labels without the figure: a mean over fewer labels than the reader thinks must say so.
- An average over nothing is None, never 0.

`of_tools` is over tools, `of_labels` over tools and no-call labels (the accuracy of a confusion matrix is over the
latter). scikit-learn calls these `average="macro"` and `"weighted"` with `zero_division=nan`, and agrees (a test holds
them together).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from otel_toolselect.model.figures import Confusion, ToolFigures
from otel_toolselect.stats.confusion import figures

Figure: TypeAlias = Literal["recall", "precision", "f1"]
FIGURES: tuple[Figure, ...] = ("recall", "precision", "f1")


@dataclass(frozen=True, slots=True)
class Average:
    """`n` labels went in; `undefined` are those that could not."""

    macro: float | None
    weighted: float | None
    n: int
    undefined: tuple[str, ...]


def of_tools(confusion: Confusion) -> dict[Figure, Average]:
    """Averages over the tools of the matrix, ghosts included (their recall is undefined and so named)."""
    return averages(confusion.tools)


def of_labels(confusion: Confusion) -> dict[Figure, Average]:
    """Averages over all labels, the no-call labels among them."""
    return averages(label_figures(confusion))


def averages(labels: Mapping[str, ToolFigures]) -> dict[Figure, Average]:
    return {figure: _average(labels, figure) for figure in FIGURES}


def _average(labels: Mapping[str, ToolFigures], figure: Figure) -> Average:
    values = {name: getattr(known, figure) for name, known in labels.items()}
    defined = {name: value for name, value in sorted(values.items()) if value is not None}
    weight = sum(labels[name].support for name in defined)
    total = sum(labels[name].support * value for name, value in defined.items())
    return Average(
        macro=sum(defined.values()) / len(defined) if defined else None,
        weighted=total / weight if weight else None,
        n=len(defined),
        undefined=tuple(sorted(values.keys() - defined.keys())),
    )


def label_figures(confusion: Confusion) -> dict[str, ToolFigures]:
    """Recall, precision and F1 of every label, the no-call labels among them."""
    counts = {(cell.expected, cell.observed): n for cell, n in confusion.cells}
    rows: Counter[str] = Counter()
    columns: Counter[str] = Counter()
    for (expected, observed), n in counts.items():
        rows[expected] += n
        columns[observed] += n
    names = sorted(rows.keys() | columns.keys())
    return {name: figures(counts.get((name, name), 0), rows[name], columns[name]) for name in names}
