"""The gate: may this candidate replace what was accepted? (R43)

Candidate and baseline are compared on identical cases only (`records.common`); what differs is listed. The conditions
that need no baseline (mutations, infrastructure, absolute floors) look at the whole candidate.
"""

from __future__ import annotations

from collections.abc import Iterator

from otel_toolselect.errors import InputError, UsageError
from otel_toolselect.gates.condition import View, listed
from otel_toolselect.gates.policy import Policy, known_conditions
from otel_toolselect.gates.records import case_records, common, identities, moved
from otel_toolselect.gates.side import Side, of_records, of_totals
from otel_toolselect.model.figures import Report
from otel_toolselect.model.gating import Baseline, CaseRecord, ConditionResult, Differences, GateResult, Outcome
from otel_toolselect.stats import repeats


def check(report: Report, baseline: Baseline, policy: Policy) -> GateResult:
    """Every condition that is on, in order of name."""
    if report.suite != baseline.suite:
        raise InputError(f"the report is of the suite {report.suite!r}, the baseline of {baseline.suite!r}")
    labels = sorted({run.label or "(no label)" for run in report.runs if run.excluded is None})
    if len(labels) > 1:
        raise UsageError(f"the report mixes the labels {', '.join(labels)}; choose one with --label")
    records = case_records(report.runs)
    names, differences = _identical(report, records, baseline)
    candidate = of_records([records[name] for name in names], names)
    view = View(report, candidate, _accepted(baseline, names), baseline, names, repeats(report.runs))
    known = known_conditions()
    found = tuple(known[name].check(view, options) for name, options in sorted(policy.on.items()))
    notes = tuple(_notes(view, records))
    return GateResult(report.suite, outcome_of(found), found, len(names), differences, notes)


def _identical(
    report: Report, records: dict[str, CaseRecord], baseline: Baseline
) -> tuple[tuple[str, ...], Differences]:
    identity = moved(baseline.identities, identities(report.runs))
    if baseline.cases is None:
        return tuple(name for name, record in records.items() if record.n), Differences(identities=identity)
    return common(baseline.cases, records, identity)


def _accepted(baseline: Baseline, names: tuple[str, ...]) -> Side:
    if baseline.cases is None:
        return of_totals(baseline)
    return of_records([baseline.cases[name] for name in names], names)


def outcome_of(found: tuple[ConditionResult, ...]) -> Outcome:
    """fail before inconclusive before pass; nothing but n/a is inconclusive, because nothing was judged."""
    outcomes = {condition.outcome for condition in found}
    for outcome in ("fail", "inconclusive", "pass"):
        if outcome in outcomes:
            return outcome
    return "inconclusive"


def _notes(view: View, records: dict[str, CaseRecord]) -> Iterator[str]:
    one = view.repeats.one_flip
    if one is not None:
        cases = view.repeats.majority.n
        yield f"with {cases} cases one flip moves case accuracy by {100 * one:.1f} points"
    flipping = [case.case_id for case in view.repeats.flipping]
    if flipping:
        rate = view.repeats.flips
        yield f"flipping cases {rate.passed}/{rate.n}: {listed(flipping)}; mend their descriptions or prompts"
    if view.accepted.cases is None:
        yield "the baseline has no record per case: its totals are compared, identical cases cannot be picked"
    else:
        accepted = view.accepted.cases
        shares = {(records[name].n * 1.0) / accepted[name].n for name in view.cases}
        if len(shares) > 1:
            yield "cases were repeated unequally on the two sides: `level: cases` of accuracy weighs each case once"
        fresh = sorted(
            {
                f"{cell.expected} -> {cell.observed}"
                for name, record in records.items()
                if name not in accepted
                for cell, _ in record.cells
                if cell.expected != cell.observed
            }
        )
        if fresh:
            yield f"confusions in cases that the baseline does not have (not compared): {listed(fresh)}"
