"""What a condition of a gate is, and what it is given (R43).

A condition is one file in `conditions/` with a `PLUGIN`: a name, a sentence, its options with defaults, and `check`.
Outcomes: `pass`, `fail`, `inconclusive` (too few observations to say, or nothing to compare with), `n/a` (the suite or
the policy gives it nothing to do). What is counted and must be zero fails on a single sight, however few observations
there are; it passes only when there were enough of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol

from otel_toolselect.gates.side import Side, exact
from otel_toolselect.model.facts import RunFacts
from otel_toolselect.model.figures import Rate, Report
from otel_toolselect.model.gating import Baseline, ConditionResult, Outcome
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.stats import Repeats

Kind = Literal["share", "count", "tolerance", "floors", "pairs", "flag", "level"]
FROM_FLIPS = "from_flip_rate"
LEVELS = ("observations", "cases", "majority")


@dataclass(frozen=True, slots=True)
class Option:
    """`share` 0..1 (None: not set), `count` >= 0, `tolerance` a share or `from_flip_rate`, `floors` {risk: share},
    `pairs` [[expected, observed]], `flag` true or false, `level` observations, cases or majority.
    """

    kind: Kind
    default: Any
    help: str


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a figure may fall, and where that number comes from."""

    value: Fraction
    source: str


@dataclass(frozen=True, slots=True)
class View:
    """What conditions see. `candidate` and `baseline` are over identical cases (a baseline without records per case:
    the candidate as a whole against its totals); `report` is the candidate as a whole.
    """

    report: Report
    candidate: Side
    baseline: Side
    accepted: Baseline
    cases: tuple[str, ...]
    repeats: Repeats

    @property
    def judged(self) -> tuple[RunVerdict, ...]:
        return tuple(run for run in self.report.runs if run.excluded is None)

    def fact(self, run: RunVerdict) -> RunFacts | None:
        return self.report.facts.get(run.run_id)

    def tolerance(self, wanted: str | float, at_most: float | None = None) -> Tolerance:
        """`from_flip_rate`: the flip rate that was accepted with the baseline; when the baseline measured none, that of
        the candidate; when nobody repeated a case, 0.
        """
        if wanted != FROM_FLIPS:
            return Tolerance(exact(float(wanted)), "set by the policy")
        b, c = self.accepted, self.repeats.flips
        if b.flip_rate is not None:
            counts = f"{len(b.flipping)}/{b.repeated_cases} cases" if b.repeated_cases else "as written"
            found = Tolerance(exact(b.flip_rate), f"the accepted flip rate, {counts}")
        elif c.n:
            found = Tolerance(
                Fraction(c.passed, c.n),
                f"the candidate's flip rate, {c.passed}/{c.n} cases: the baseline measured none",
            )
        else:
            found = Tolerance(Fraction(0), "no case was repeated, so no flip rate is known")
        if at_most is not None and found.value > exact(at_most):
            return Tolerance(exact(at_most), f"{found.source}, cut to at_most")
        return found


class Condition(Protocol):
    """One condition. `check` is pure."""

    @property
    def name(self) -> str: ...

    @property
    def help(self) -> str:
        """One sentence: when it fails."""
        ...

    @property
    def on(self) -> bool:
        """Whether it is on without a policy."""
        ...

    @property
    def options(self) -> Mapping[str, Option]: ...

    def check(self, view: View, options: Mapping[str, Any]) -> ConditionResult: ...


MIN_N = Option("count", 20, "observations below which it is inconclusive")


def percent(share: Fraction | float | None) -> str:
    return "n/a" if share is None else f"{100 * float(share):.1f} %"


def counted(passed: int, n: int) -> str:
    return f"{percent(Fraction(passed, n))} ({passed}/{n})" if n else "n/a (0)"


def runs(n: int) -> str:
    return "1 run" if n == 1 else f"{n} runs"


def verdict(good: bool) -> Outcome:
    return "pass" if good else "fail"


def result(
    name: str,
    outcome: Outcome,
    explanation: str,
    *,
    saw: str = "-",
    limit: str = "-",
    n: int = 0,
    unit: str = "runs",
    rate: Rate | None = None,
    details: Iterable[str] = (),
) -> ConditionResult:
    ci95 = None if rate is None else rate.ci95
    return ConditionResult(name, outcome, saw, limit, n, unit, explanation, ci95, tuple(details))


def too_few(name: str, n: int, least: int, *, unit: str = "runs", **shown: Any) -> ConditionResult:
    said = f"{n} {unit} are too few to say" if n else f"no {unit} to judge by"
    said += f" (min_n: {least}); add cases or repeats, or lower min_n in the policy"
    return result(name, "inconclusive", said, n=n, unit=unit, **shown)


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names, cut to `most`."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")
