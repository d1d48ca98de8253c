"""Figures of an experiment: the same cases under several settings (R16, R17, R45, R56).

- An *observation* is a run whose selection passed or failed, or that was excluded as a catalog gap: what is offered is
  the very thing that is varied, so a right tool that was not offered is a wrong answer here, unlike in a report.
- accuracy (observation level) = right / observations; majority (case level) = cases of which more than half of the
  observations are right / cases with an observation. Both with Wilson intervals; runs of one case are not independent,
  so the interval over cases is the one to trust where there are several attempts.
- when_offered = right / observations without the gaps; offered = observations without the gaps / observations.
- flips as in `stats.repeats`, groups and pairs as in `stats.groups`, both over judged runs.
- against: exact McNemar over the cases of both arms by majority (`stats.paired`). p_holm is adjusted for the number of
  comparisons of the experiment (Holm, 1979), since one of many is always the best.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from otel_toolselect.model.experiments import Against, Arm, ArmFigures, Experiment
from otel_toolselect.model.figures import Report
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.stats.displacement import moves
from otel_toolselect.stats.drift import holm
from otel_toolselect.stats.groups import group_stability, right_pairs, stable_groups
from otel_toolselect.stats.paired import paired
from otel_toolselect.stats.rates import rate
from otel_toolselect.stats.repeats import repeats, selected


def experiment(name: str, attempts: int, reports: Sequence[tuple[Arm, Report]], bases: Mapping[str, str]) -> Experiment:
    """`bases`: by the name of an arm the arm that it is held against; those that are not in it stand for themselves."""
    by_name = {arm.name: found for arm, found in reports}
    figures = [_figures(arm, found) for arm, found in reports]
    pairs = {
        arm.name: _against(bases[arm.name], by_name[bases[arm.name]], found)
        for arm, found in reports
        if arm.name in bases
    }
    told = {key: found.p for key, found in pairs.items() if found.p is not None}
    adjusted = dict(zip(told, holm(list(told.values())), strict=True))
    against = {key: replace(found, p_holm=adjusted.get(key)) for key, found in pairs.items()}
    cases = sorted({run.case_id for _, found in reports for run in found.runs})
    tallies = [tally(found.runs) for _, found in reports]
    return Experiment(
        name=name,
        suite=reports[0][1].suite,
        cases=len(cases),
        attempts=attempts,
        arms=tuple(replace(one, against=against.get(one.arm.name)) for one in figures),
        outcomes={case: tuple(known.get(case, (0, 0)) for known in tallies) for case in cases},
    )


def right(run: RunVerdict) -> bool | None:
    """Whether the run counts, and as what."""
    return False if run.excluded == "catalog_gap" else selected(run)


def tally(runs: Iterable[RunVerdict]) -> dict[str, tuple[int, int]]:
    """(right, observations) of every case that has one."""
    found: dict[str, list[bool]] = defaultdict(list)
    for run in runs:
        outcome = right(run)
        if outcome is not None:
            found[run.case_id].append(outcome)
    return {case: (sum(outcomes), len(outcomes)) for case, outcomes in sorted(found.items())}


def _majorities(runs: Iterable[RunVerdict]) -> dict[str, bool]:
    return {case: 2 * passed > n for case, (passed, n) in tally(runs).items()}


def _figures(arm: Arm, found: Report) -> ArmFigures:
    counted = tally(found.runs)
    passed, n = sum(a for a, _ in counted.values()), sum(b for _, b in counted.values())
    gaps = sum(run.excluded == "catalog_gap" for run in found.runs)
    majority = _majorities(found.runs)
    groups = group_stability(found.runs, found.groups)
    facts = list(found.facts.values())
    sizes = [len(fact.tools_offered) for fact in facts if fact.tools_offered is not None]
    tokens = [fact.input_tokens for fact in facts if fact.input_tokens is not None]
    seconds = [fact.duration_ns / 1e9 for fact in facts if fact.duration_ns is not None]
    return ArmFigures(
        arm=arm,
        runs=len(found.runs),
        infra=sum(run.excluded == "infra" for run in found.runs),
        incomplete=sum(run.excluded == "incomplete" for run in found.runs),
        accuracy=rate(passed, n),
        majority=rate(sum(majority.values()), len(majority)),
        when_offered=rate(passed, n - gaps),
        offered=rate(n - gaps, n),
        flips=repeats(found.runs).flips,
        stable_groups=stable_groups(groups),
        right_pairs=right_pairs(groups),
        tools=(min(sizes), sum(sizes) / len(sizes), max(sizes)) if sizes else None,
        input_tokens=sum(tokens) / len(tokens) if tokens else None,
        seconds=sum(seconds) / len(seconds) if seconds else None,
    )


def _against(name: str, base: Report, other: Report) -> Against:
    found = paired(_majorities(base.runs), _majorities(other.runs))
    moved = moves(base.runs, other.runs)
    return Against(name, found.cases, found.lost, found.gained, found.p, None, moved)
