"""The summary of a suite: one rate per layer, and what left the denominators (R24, R36, R44; design section
7).

- Runs that were excluded (platform failure, tool not offered, incomplete trace) leave every denominator and
  are counted beside; `judged` is what remains.
- `arguments` is over calls, not runs: those calls whose tool was right and whose arguments could be judged
  (R25).
- Every other layer is over the judged runs to which it applies, that is, whose status there is pass or fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from otel_toolselect.model.figures import Rate, Report, Summary
from otel_toolselect.model.verdicts import LAYERS, Layer, RunVerdict, SuiteVerdicts
from otel_toolselect.stats.confusion import confusion
from otel_toolselect.stats.rates import rate_of


def report(verdicts: SuiteVerdicts) -> Report:
    """All figures of one suite. The same verdicts in any order give an equal report."""
    runs = ordered(verdicts.runs)
    return Report(
        suite=verdicts.suite,
        summary=summary(runs),
        confusion=confusion(cell for run in runs if run.excluded is None for cell in run.cells),
        runs=runs,
        unmatched_runs=verdicts.unmatched_runs,
        cases_without_run=tuple(sorted(verdicts.cases_without_run)),
        facts=verdicts.facts,
        groups=verdicts.groups,
    )


def summary(runs: Sequence[RunVerdict]) -> Summary:
    """Counts and one rate per layer."""
    left_out = Counter(run.excluded for run in runs if run.excluded is not None)
    judged = [run for run in runs if run.excluded is None]
    return Summary(
        runs=len(runs),
        judged=len(judged),
        infra=left_out["infra"],
        catalog_gap=left_out["catalog_gap"],
        incomplete=left_out["incomplete"],
        layers={layer: _layer(layer, judged) for layer in LAYERS},
    )


def _layer(layer: Layer, judged: Sequence[RunVerdict]) -> Rate:
    if layer == "arguments":
        return rate_of(score.passed for run in judged for score in run.call_scores)
    statuses = (run.layers[layer].status for run in judged if layer in run.layers)
    return rate_of(status == "pass" for status in statuses if status in ("pass", "fail"))


def ordered(runs: Iterable[RunVerdict]) -> tuple[RunVerdict, ...]:
    """The one order of a report: case, attempt (none first), run id."""
    return tuple(sorted(runs, key=lambda r: (r.case_id, -1 if r.attempt is None else r.attempt, r.run_id)))
