"""Facts beside the verdicts: cost, time, tools offered and used, groups of cases (R16, R20, R49)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from otel_toolselect.model.facts import CaseGroup, RunFacts
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import SuiteVerdicts
from otel_toolselect.rules import Policy, RunView, Suite
from otel_toolselect.rules.repeats import redundant


def with_facts(verdicts: SuiteVerdicts, runs: Iterable[Run], suite: Suite) -> SuiteVerdicts:
    """The verdicts with the facts of their runs and the groups of their cases."""
    judged = {verdict.run_id for verdict in verdicts.runs}
    facts: dict[str, RunFacts] = {}
    for run in runs:
        if run.run_id in judged:
            found = facts_of(run, suite.policy)
            before = facts.get(run.run_id)
            # of two runs under one id the same one is taken, whatever their order
            facts[run.run_id] = found if before is None else max(before, found, key=repr)
    groups = {case.id: CaseGroup(case.group.id, case.group.relation) for case in suite.cases if case.group is not None}
    return replace(verdicts, facts=dict(sorted(facts.items())), groups=groups)


def facts_of(run: Run, policy: Policy) -> RunFacts:
    view = RunView(run, policy)
    effects = {call.name: call.effect for call in view.calls if call.effect is not None}
    return RunFacts(
        agent=run.agent,
        provider=run.provider,
        duration_ns=run.duration_ns,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        cost_usd=run.cost_usd,
        tools_offered=None if run.tools is None else tuple(sorted(view.offered)),
        tools_used=tuple(sorted({call.name for call in view.calls})),
        effects=dict(sorted(effects.items())),
        calls=len(view.calls),
        redundant=len(redundant(view.seen)),
    )
