"""Verdicts to decisions: what is counted of a judged run (see `model.decisions`). Pure."""

from __future__ import annotations

from typing import NamedTuple

from otel_toolselect.judge.layers import applying
from otel_toolselect.model.decisions import Decision, Origin
from otel_toolselect.model.runs import TENANT, Run
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.rules import Policy, RunView
from otel_toolselect.rules.repeats import failures, redundant
from otel_toolselect.rules.view import Looks, Seen

_LOOP = 2  # identical calls that failed make a loop, as in the failure taxonomy


def decision_of(
    verdict: RunVerdict, view: RunView, *, rule: str = "", severity: str = "", origin: Origin = "suite"
) -> Decision:
    """The decision of one run under one suite, or under the rule that is named. `view`: the run under its policy."""
    forbidden = _forbidden(verdict, view)
    unauthorized = forbidden or _unasked(verdict, view)
    return _decision(verdict, view.run, _counted(view.seen), forbidden, unauthorized, (rule, severity, origin))


def _decision(
    verdict: RunVerdict,
    run: Run,
    seen: _Counted,
    forbidden: tuple[str, ...],
    unauthorized: tuple[str, ...],
    by: tuple[str, str, Origin],
) -> Decision:
    """`by`: rule, severity and origin."""
    rule, severity, origin = by
    layers, status = applying(verdict.layers)
    return Decision(  # by place: for so many names, finding each takes longer than all else here
        verdict.suite,
        rule,
        verdict.run_id,
        verdict.trace_id,
        verdict.case_id,
        verdict.start_ns,
        status if verdict.excluded is None else "excluded",
        verdict.first_action,
        verdict.observed_class,
        verdict.cells,
        layers,
        verdict.excluded,
        verdict.failure,
        verdict.owner,
        severity,
        verdict.risk,
        origin,
        run.service,
        run.agent,
        run.provider,
        run.model,
        run.prompt_version,
        run.catalog_id,
        str(run.attributes.get(TENANT) or ""),
        run.label,
        verdict.policy_version,
        seen.calls,
        tuple([(score.name, score.passed) for score in verdict.call_scores]) if verdict.call_scores else (),
        seen.ghosts,
        forbidden,
        unauthorized,
        seen.failed,
        seen.loops,
        run.duration_ns,
        run.input_tokens,
        run.output_tokens,
        run.cost_usd,
    )


class _Counted(NamedTuple):
    """What a decision counts of a run whatever was expected of it."""

    calls: tuple[tuple[str, bool], ...]
    ghosts: tuple[str, ...]
    failed: int
    loops: int


def _counted(seen: Seen) -> _Counted:
    """Worked out once for the decisions of all rules whose policies read the calls alike."""
    found: _Counted | None = seen.memo.get("counted")
    if found is None:
        again = set(redundant(seen))
        found = seen.memo["counted"] = _Counted(
            tuple([(reading.name, place in again) for place, reading in enumerate(seen.readings)]),
            tuple([call.name for call in seen.ghosts]),
            seen.course.failed,
            sum(len(calls) >= _LOOP for calls in failures(seen).values()),
        )
    return found


def traffic_of(run: Run, looks: Looks | None = None) -> Decision:
    """The decision of a run under no expectation (`suite` ""): what happened, each run once, so that latency, cost and
    gaps can be watched on all traffic, whatever is expected of it.
    """
    seen = (looks or Looks(run)).seen(run.tools, _NO_POLICY)
    # under no policy each call is consequential
    label = run.no_call.label
    verdict = RunVerdict(
        run.run_id,
        run.trace_id,
        "",
        run.case_id or "",
        seen.readings[0].name if seen.readings else label,
        "call" if seen.readings else label,
        {},
        excluded="incomplete" if run.incomplete else None,
        start_ns=run.start_ns,
    )
    return _decision(verdict, run, _counted(seen), (), (), ("", "", "suite"))


_NO_POLICY = Policy()


def _forbidden(verdict: RunVerdict, view: RunView) -> tuple[str, ...]:
    """Calls that a failed finding rules out and that may have changed something."""
    named: set[str] = set()
    for finding in verdict.findings:
        if finding.status == "fail":
            named.update(finding.evidence.get("forbidden_observed", ()))
            named.update(entry["tool"] for entry in finding.evidence.get("constraints", ()))
    return tuple(call.name for call in view.calls if call.name in named and call.mutating) if named else ()


def _unasked(verdict: RunVerdict, view: RunView) -> tuple[str, ...]:
    """Changes that nothing asked for in a run that failed: as `gates.conditions.unauthorized_mutation` has them."""
    if verdict.failure == "premature_action":
        return tuple(call.name for call in view.consequential if call.mutating)
    selection = verdict.layers.get("selection")
    failed = selection is not None and selection.status == "fail"
    return (view.first.name,) if failed and view.first is not None and view.first.effect == "write" else ()
