"""Overall selection accuracy at or above the baseline minus a tolerance (R43), on identical cases.

accuracy by `level`: observations = passed / runs; cases = mean of the per-case rates; majority = cases of which more
than half of the runs passed / cases. The limit is baseline - tolerance, and not below `min` where that is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from otel_toolselect.gates.condition import FROM_FLIPS, MIN_N, Option, View, percent, result, too_few, verdict
from otel_toolselect.gates.side import Side, exact
from otel_toolselect.model.figures import Rate
from otel_toolselect.model.gating import ConditionResult
from otel_toolselect.stats import rate

_UNITS = {"observations": "runs", "cases": "cases", "majority": "cases"}


@dataclass(frozen=True, slots=True)
class Accuracy:
    name: str = "accuracy"
    help: str = "accuracy is below the baseline minus the tolerance"
    on: bool = True
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "tolerance": Option("tolerance", FROM_FLIPS, "how far it may fall: from_flip_rate, or a share"),
            "at_most": Option("share", None, "a limit on a tolerance that comes from the flip rate"),
            "min": Option("share", None, "an absolute floor beside the baseline"),
            "level": Option("level", "observations", "observations, cases (mean of per-case rates) or majority"),
            "min_n": MIN_N,
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        level = options["level"]
        saw, figure = _at(view.candidate, level)
        accepted, _ = _at(view.baseline, level)
        runs = view.candidate.n or 0
        shown = f"{percent(saw)}{_counts(figure)}, {level}"
        if saw is None or runs < options["min_n"]:
            return too_few(self.name, runs, options["min_n"], saw=shown, rate=figure)
        tolerance = view.tolerance(options["tolerance"], options["at_most"])
        floors = [] if accepted is None else [accepted - tolerance.value]
        floors += [] if options["min"] is None else [exact(options["min"])]
        if not floors:
            return result(self.name, "inconclusive", "the baseline has no accuracy", saw=shown, n=runs)
        limit = max(floors)
        source = f"baseline {percent(accepted)} - {percent(tolerance.value)} ({tolerance.source})"
        said = (
            f"{percent(saw)} is {'at or above' if saw >= limit else 'below'} the limit; tolerance: {tolerance.source}"
        )
        units = _UNITS[level]
        n = figure.n if figure is not None else view.candidate.cases
        details = [source]
        if options["min"] is not None:
            details.append(f"absolute floor {percent(options['min'])}")
        if tolerance.value > Fraction(1, 10):
            details.append(
                f"a tolerance of {percent(tolerance.value)} hides much: mend the flipping cases, or set at_most"
            )
        details += _other_levels(view.candidate, level)
        return result(
            self.name, verdict(saw >= limit), said,
            saw=shown, limit=f">= {percent(limit)}", n=n, unit=units, rate=figure, details=details,
        )  # fmt: skip


def _at(side: Side, level: str) -> tuple[Fraction | None, Rate | None]:
    """The figure at a level, and its rate with an interval where it is a proportion."""
    if level == "cases":
        return side.mean, None
    if level == "majority":
        if side.outcomes is None:
            return side.accuracy, None
        known = rate(sum(side.outcomes.values()), len(side.outcomes))
        return (Fraction(known.passed, known.n) if known.n else None), known
    return side.accuracy, side.accuracy_rate()


def _counts(figure: Rate | None) -> str:
    return "" if figure is None or not figure.n else f" ({figure.passed}/{figure.n})"


def _other_levels(side: Side, level: str) -> list[str]:
    """The figures at the other levels, each by its name, so that none is taken for another."""
    found = []
    for other in ("observations", "cases", "majority"):
        value, figure = _at(side, other)
        if other != level and value is not None:
            names = {"observations": "over runs", "cases": "mean of cases", "majority": "cases by majority"}
            found.append(f"{names[other]}: {percent(value)}{_counts(figure)}")
    return found


PLUGIN = Accuracy()
