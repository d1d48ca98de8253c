"""Runs under a `rules:` file (R47): each run under each rule that matches it, nested runs included.

The judgement of one run is that of suites (`judge_run`), so that a rule and a case with the same `expect` never
disagree. Pure, as everything here: order and repeats of the runs change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from otel_toolselect.judge.judging import judge_view, telling
from otel_toolselect.judge.views import Views
from otel_toolselect.model.rulings import Ruling, Rulings
from otel_toolselect.model.runs import Run
from otel_toolselect.rules.asking import Asker
from otel_toolselect.rules.rulefiles import RuleFile


def judge_rules(runs: Iterable[Run], rules: RuleFile, asker: Asker | None = None) -> Rulings:
    """Every rule over every run that it matches. A run that comes twice counts once (the more telling one is kept)."""
    listed = tuple(runs)
    seen = {run.run_id for run in listed}
    ordered = rulings_of(listed, rules, Views(rules.policy), asker)
    concerned = {r.verdict.run_id for r in ordered}
    with_run = {r.rule for r in ordered}
    return Rulings(
        rules=rules.name,
        rulings=tuple(ordered),
        runs=len(seen),
        unmatched_runs=len(seen - concerned),
        rules_without_run=tuple(rule.id for rule in rules.rules if rule.id not in with_run),
        policy_version=rules.policy.version,
    )


def rulings_of(runs: Iterable[Run], rules: RuleFile, views: Views, asker: Asker | None = None) -> list[Ruling]:
    """The rulings of `judge_rules`; `views` are those of the file's policy."""
    suite = rules.suite
    found: dict[str, dict[str, Ruling]] = {rule.id: {} for rule in rules.rules}
    for run in runs:
        fitting = [r for r in rules.rules if not r.match.selective or r.match.fits(run, rules.policy)]
        view = views.of(run)
        for rule in fitting:
            verdict = judge_view(view, rule.case, suite, asker)
            if rule.owner and verdict.failure:
                verdict = replace(verdict, owner=rule.owner)
            taken = found[rule.id]
            before = taken.get(run.run_id)
            if before is None or telling(verdict) > telling(before.verdict):
                taken[run.run_id] = Ruling(rule.id, rule.severity, rule.owner, verdict)
    ordered: list[Ruling] = []
    for taken in found.values():
        ordered += sorted(taken.values(), key=lambda r: (r.verdict.start_ns, r.verdict.run_id))
    return ordered
