"""Repeated runs of a case: which figure is over runs and which over cases (R41, R44; design section 7).

An *observation* is one judged run whose selection passed or failed; excluded runs are in neither numerator nor
denominator. Every figure here says its level:

- observation level: accuracy = passed observations / observations.
- case level, mean: the mean of the per-case rates; a case with five runs counts as much as a case with one.
- case level, majority: cases of which more than half of the observations passed / cases (a tie did not pass).
- case level, pass^k: the chance that k attempts of a case, drawn without putting back, all pass:
  mean over the cases with n >= k observations of C(passed, k) / C(n, k).
- flip rate (case level) = cases whose attempts disagree on the first action / cases with two attempts or more. A case
  that is always wrong in the same way does not flip. Attempts are the judged runs of one case under one label and one
  model: two models that disagree are a comparison, not a flip.
- one flip moves case accuracy by 1 / cases.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

from otel_toolselect.model.figures import Rate
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.stats.rates import rate


@dataclass(frozen=True, slots=True)
class CaseRepeats:
    """`passed` of `n` observations; `actions`: first actions of all judged runs, most frequent first."""

    case_id: str
    passed: int
    n: int
    runs: int
    actions: tuple[tuple[str, int], ...]
    repeated: bool
    flips: bool

    @property
    def majority(self) -> bool | None:
        """More than half passed; None without observations."""
        return 2 * self.passed > self.n if self.n else None


@dataclass(frozen=True, slots=True)
class PassHat:
    """pass^k over the `cases` that have k observations."""

    k: int
    value: float
    cases: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """`mean` is None when no case has an observation. `flips` has no interval worth more than its counts."""

    observations: Rate
    mean: float | None
    majority: Rate
    flips: Rate
    pass_hat: tuple[PassHat, ...]
    cases: tuple[CaseRepeats, ...]

    @property
    def flipping(self) -> tuple[CaseRepeats, ...]:
        return tuple(case for case in self.cases if case.flips)

    @property
    def one_flip(self) -> float | None:
        """How far one case's flip moves case accuracy, as a share."""
        return 1 / self.majority.n if self.majority.n else None


def selected(run: RunVerdict) -> bool | None:
    """Whether the run's selection passed; None when it is excluded, unsure or without a selection expectation."""
    verdict = run.layers.get("selection")
    if run.excluded is not None or verdict is None or verdict.status not in ("pass", "fail"):
        return None
    return verdict.status == "pass"


def repeats(runs: Iterable[RunVerdict]) -> Repeats:
    """All figures on repeats, whatever the order of the runs."""
    by_case: dict[str, list[RunVerdict]] = defaultdict(list)
    for run in runs:
        if run.excluded is None:
            by_case[run.case_id].append(run)
    cases = tuple(_case(case_id, found) for case_id, found in sorted(by_case.items()))
    seen = [case for case in cases if case.n]
    return Repeats(
        observations=rate(sum(c.passed for c in seen), sum(c.n for c in seen)),
        mean=mean_of(seen),
        majority=rate(sum(bool(c.majority) for c in seen), len(seen)),
        flips=rate(sum(c.flips for c in cases), sum(c.repeated for c in cases)),
        pass_hat=pass_hat([(c.passed, c.n) for c in seen]),
        cases=cases,
    )


def mean_of(cases: Sequence[CaseRepeats]) -> float | None:
    """Mean of the per-case rates, summed exactly so that 0.7 is 0.7 whatever the order."""
    from fractions import Fraction

    rates = [Fraction(case.passed, case.n) for case in cases if case.n]
    return float(sum(rates) / len(rates)) if rates else None


def pass_hat(cases: Sequence[tuple[int, int]]) -> tuple[PassHat, ...]:
    """pass^k for every k up to the most observations of a case; `cases` are (passed, n)."""
    found = []
    for k in range(1, max((n for _, n in cases), default=0) + 1):
        fit = [comb(passed, k) / comb(n, k) for passed, n in cases if n >= k]
        found.append(PassHat(k, sum(fit) / len(fit), len(fit)))
    return tuple(found)


def _case(case_id: str, runs: Sequence[RunVerdict]) -> CaseRepeats:
    outcomes = [passed for passed in map(selected, runs) if passed is not None]
    settings: dict[tuple[str | None, str | None], Counter[str]] = defaultdict(Counter)
    for run in runs:
        settings[run.label, run.model][run.first_action] += 1
    repeated = [actions for actions in settings.values() if actions.total() > 1]
    actions = Counter(run.first_action for run in runs)
    return CaseRepeats(
        case_id=case_id,
        passed=sum(outcomes),
        n=len(outcomes),
        runs=len(runs),
        actions=tuple(sorted(actions.items(), key=lambda item: (-item[1], item[0]))),
        repeated=bool(repeated),
        flips=any(len(actions) > 1 for actions in repeated),
    )


def by_case(found: Repeats) -> Mapping[str, CaseRepeats]:
    return {case.case_id: case for case in found.cases}
