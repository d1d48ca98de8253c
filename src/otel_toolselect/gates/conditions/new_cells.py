"""No off-diagonal cell that was zero in the baseline (R43), also when overall accuracy rose.

Over identical cases: cells (expected x observed, off the diagonal) that occurred at least once now and never in the
baseline. One occurrence is enough: majorities would hide it. `allow` names pairs that were looked at and accepted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.gates.condition import MIN_N, Option, View, listed, result, too_few, verdict
from otel_toolselect.model.gating import ConditionResult
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats import rate


@dataclass(frozen=True, slots=True)
class NewCells:
    name: str = "new_cells"
    help: str = "a confusion occurred that the baseline does not have"
    on: bool = True
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "max": Option("count", 0, "new cells that are let through"),
            "allow": Option("pairs", (), "pairs [expected, observed] that are accepted"),
            "min_n": MIN_N,
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        known = view.baseline.off_diagonal
        allowed = {Cell(*pair) for pair in options["allow"]}
        now = view.candidate.off_diagonal
        new = sorted(now.keys() - known.keys() - allowed, key=lambda c: (-now[c], c.expected, c.observed))
        runs = sum(view.candidate.cells.values())
        limit = f"<= {options['max']}"
        if len(new) <= options["max"] and runs < max(options["min_n"], 1):
            return too_few(self.name, runs, options["min_n"], unit="decisions", saw=f"{len(new)} new", limit=limit)
        names = [f"{cell.expected} -> {cell.observed} ({now[cell]})" for cell in new]
        said = f"new: {listed(names)}" if new else f"{len(now)} known cells, none new"
        figure = rate(sum(now[cell] for cell in new), runs)
        return result(
            self.name, verdict(len(new) <= options["max"]), said,
            saw=f"{len(new)} new", limit=limit, n=runs, unit="decisions", rate=figure,
            details=[_detail(view, cell, now[cell]) for cell in new],
        )  # fmt: skip


def _detail(view: View, cell: Cell, n: int) -> str:
    """The pair, its count, whether it changes something, and the cases in which it occurred."""
    runs = [run for run in view.judged if cell in run.cells and run.case_id in view.cases]
    writes = any((fact := view.fact(run)) and fact.effects.get(cell.observed) == "write" for run in runs)
    cases = listed(sorted({run.case_id for run in runs}))
    return f"wanted {cell.expected}, got {cell.observed}{' (writes)' if writes else ''}: {n}, in {cases}"


PLUGIN = NewCells()
