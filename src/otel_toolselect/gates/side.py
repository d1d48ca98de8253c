"""The figures of one side of a gate, over chosen cases (formulas as in `stats`, observation level but for the mean).

- accuracy = passed / n over the cases' observations; mean = mean of the per-case rates; majority per case.
- recall of a tool = diagonal / row total of the cells; no-call labels are no tools.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from otel_toolselect.model.figures import Rate
from otel_toolselect.model.gating import Baseline, CaseRecord
from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats import rate


def exact(number: float | int) -> Fraction:
    """The number as it is written in decimals, so that "at the limit" is not decided by binary rounding."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


@dataclass(frozen=True, slots=True)
class Side:
    """`accuracy` and `mean` are exact; None when nothing was observed. `n` None: a rate without a count was given.
    `outcomes` None: no record per case.
    """

    accuracy: Fraction | None
    n: int | None
    mean: Fraction | None
    cases: int
    cells: Mapping[Cell, int]
    recall: Mapping[str, tuple[int, int]]
    clarification: tuple[int, int]
    risk: Mapping[str, tuple[int, int]]
    outcomes: Mapping[str, bool] | None

    @property
    def off_diagonal(self) -> dict[Cell, int]:
        return {cell: n for cell, n in self.cells.items() if cell.expected != cell.observed and n}

    def row_share(self, cell: Cell) -> tuple[int, int]:
        """(count of the cell, times its label was expected)."""
        return self.cells.get(cell, 0), sum(n for c, n in self.cells.items() if c.expected == cell.expected)

    def accuracy_rate(self) -> Rate | None:
        return None if self.accuracy is None or not self.n else rate(round(self.accuracy * self.n), self.n)


def of_records(records: Iterable[CaseRecord], names: Iterable[str]) -> Side:
    """The figures of these cases (records and names in step)."""
    kept = list(zip(names, records, strict=True))
    passed, n = sum(r.passed for _, r in kept), sum(r.n for _, r in kept)
    cells: Counter[Cell] = Counter()
    risk: dict[str, tuple[int, int]] = {}
    for _, record in kept:
        for cell, count in record.cells:
            cells[cell] += count
        if record.risk is not None:
            before = risk.get(record.risk, (0, 0))
            risk[record.risk] = (before[0] + record.passed, before[1] + record.n)
    rates = [Fraction(r.passed, r.n) for _, r in kept if r.n]
    return Side(
        accuracy=Fraction(passed, n) if n else None,
        n=n,
        mean=sum(rates, Fraction(0)) / len(rates) if rates else None,
        cases=len(rates),
        cells=cells,
        recall=recalls(cells),
        clarification=(sum(r.clarified[0] for _, r in kept), sum(r.clarified[1] for _, r in kept)),
        risk=risk,
        outcomes={name: 2 * r.passed > r.n for name, r in kept if r.n},
    )


def recalls(cells: Mapping[Cell, int]) -> dict[str, tuple[int, int]]:
    """(right, expected) of every tool that was expected, by name."""
    rows: Counter[str] = Counter()
    for cell, n in cells.items():
        rows[cell.expected] += n
    return {
        tool: (cells.get(Cell(tool, tool), 0), n)
        for tool, n in sorted(rows.items())
        if n and tool not in NO_CALL_LABELS
    }


def of_totals(baseline: Baseline) -> Side:
    """The figures of a baseline without records per case: its totals as they stand."""
    accuracy = None if baseline.accuracy is None else exact(baseline.accuracy)
    return Side(
        accuracy=accuracy,
        n=baseline.accuracy_n,
        mean=exact(baseline.case_mean) if baseline.case_mean is not None else accuracy,
        cases=0,
        cells=dict(baseline.cells),
        recall=baseline.recall,
        clarification=baseline.clarification,
        risk=baseline.risk,
        outcomes=None,
    )
