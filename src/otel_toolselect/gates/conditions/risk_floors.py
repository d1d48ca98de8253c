"""Selection accuracy per risk class at or above its floor (R43).

A class with a floor in `floors` is judged over the whole candidate against that number; any other class that a case
states, over identical cases against its own baseline minus `tolerance`. One class below its floor fails the condition.
A class with fewer than `min_n` runs is inconclusive; without a floor of its own it is only named when the baseline had
too few of it too, unless every class is like that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from otel_toolselect.gates.condition import Option, View, counted, percent, result, too_few
from otel_toolselect.gates.side import exact
from otel_toolselect.model.gating import ConditionResult, Outcome
from otel_toolselect.stats import rate, risk_view


@dataclass(frozen=True, slots=True)
class _Class:
    name: str
    passed: int
    n: int
    floor: Fraction
    source: str
    outcome: Outcome

    @property
    def line(self) -> str:
        return (
            f"{self.name}: {counted(self.passed, self.n)}, floor {percent(self.floor)} ({self.source}): {self.outcome}"
        )


@dataclass(frozen=True, slots=True)
class RiskFloors:
    name: str = "risk_floors"
    help: str = "accuracy in a risk class is below its floor, or below its baseline"
    on: bool = True
    options: Mapping[str, Option] = field(
        default_factory=lambda: {
            "floors": Option("floors", {}, "absolute floors by risk class"),
            "tolerance": Option("tolerance", 0.0, "how far a class without a floor may fall below its baseline"),
            "min_n": Option("count", 5, "runs of a class below which it is inconclusive"),
        }
    )

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult:
        classes = list(_classes(view, options))
        if not classes:
            return result(self.name, "n/a", "no case states a risk, and the policy sets no floor")
        order: dict[Outcome, int] = {"fail": 0, "inconclusive": 1, "pass": 2, "n/a": 3}
        if all(c.outcome == "n/a" for c in classes):
            return too_few(
                self.name, sum(c.n for c in classes), options["min_n"], unit="runs of a risk class",
                details=[c.line for c in classes],
            )  # fmt: skip
        worst = min(classes, key=lambda c: (order[c.outcome], exact_gap(c), c.name))
        return result(
            self.name, worst.outcome, _said(worst, options["min_n"]),
            saw=f"{worst.name} {counted(worst.passed, worst.n)}", limit=f">= {percent(worst.floor)}", n=worst.n,
            unit=f"runs of risk {worst.name}", rate=rate(worst.passed, worst.n), details=[c.line for c in classes],
        )  # fmt: skip


def exact_gap(found: _Class) -> Fraction:
    """How far above its floor a class is; the smallest is shown."""
    return (Fraction(found.passed, found.n) if found.n else Fraction(0)) - found.floor


def _said(worst: _Class, least: int) -> str:
    if worst.outcome == "fail":
        return f"risk {worst.name} is below its floor"
    if worst.outcome == "inconclusive":
        return f"risk {worst.name} has {worst.n} runs, too few to say (min_n: {least})"
    return "every risk class is at or above its floor"


def _classes(view: View, options: Mapping[str, Any]) -> Iterator[_Class]:
    whole = risk_view(view.judged).classes
    tolerance = view.tolerance(options["tolerance"]).value
    before_n = 0
    for name in sorted(options["floors"].keys() | view.baseline.risk.keys()):
        if name in options["floors"]:
            figure = whole.get(name)
            passed, n = (figure.passed, figure.n) if figure is not None else (0, 0)
            floor, source = exact(options["floors"][name]), "set by the policy"
        else:
            before = view.baseline.risk[name]
            before_n = before[1]
            if not before_n:
                continue
            passed, n = view.candidate.risk.get(name, (0, 0))
            floor, source = Fraction(*before) - tolerance, f"baseline {counted(*before)}"
        if n < max(options["min_n"], 1):
            small = name not in options["floors"] and before_n < options["min_n"]
            outcome: Outcome = "n/a" if small else "inconclusive"
        else:
            outcome = "pass" if Fraction(passed, n) >= floor else "fail"
        yield _Class(name, passed, n, floor, source, outcome)


PLUGIN = RiskFloors()
