"""Failures in bundles, clustered and ranked (R51).

A *cluster* holds the failures of one confusion pair and one owner. A run belongs to its first wrong cell; a run whose
first action was right belongs to its first failed layer, and the pair is then that action twice. A cluster's score is
the sum over its runs of the run's weight: risk x frequency. The risk of a run is the higher one of the case's and of
the policy's risk of the tool that was called instead, because a wrong call does the harm of the tool called. Weights
are those of the risk-weighted figures (`stats.risk`).

A sample of passes goes with it, as a pass may be wrong too: the oracle may be. It is drawn by a hash of the run id, one
per first action in turn, so that the same runs give the same sample in whatever order they come, and no author can
choose it.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from otel_toolselect.model.figures import Report
from otel_toolselect.model.runs import Run, ToolResult
from otel_toolselect.model.triage import FIRST_ACTION, Bundle, Cluster, ToolError, Triage
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.rules import Suite
from otel_toolselect.stats.risk import UNSTATED, WEIGHTS

NOBODY = "unassigned"


def triage(
    report: Report, runs: Mapping[str, Run], suite: Suite, *, source: Sequence[str] = (), passes: int = 5
) -> Triage:
    """Clusters by falling score. `source` is what follows `--suite FILE` when the same runs are judged again."""
    counted = [run for run in report.runs if run.excluded is None]
    bundles = {run.run_id: _bundle(run, runs.get(run.run_id), suite, source) for run in counted}
    failed = [b for b in bundles.values() if b.failed]
    review = [b for b in bundles.values() if not b.failed and _unsure(b.verdict)]
    passed = [b for b in bundles.values() if not b.failed and not _unsure(b.verdict)]
    return Triage(
        suite=report.suite,
        judged=len(counted),
        failed=len(failed),
        clusters=clustered(failed),
        review=tuple(sorted(review, key=_urgency)),
        passes=sample(passed, passes),
        passed=len(passed),
    )


def clustered(failed: Iterable[Bundle]) -> tuple[Cluster, ...]:
    groups: dict[tuple[str, str, str, str], list[Bundle]] = defaultdict(list)
    for bundle in failed:
        groups[*pair_of(bundle.verdict), bundle.verdict.owner or NOBODY].append(bundle)
    found = [_cluster(key, sorted(group, key=_urgency)) for key, group in groups.items()]
    return tuple(sorted(found, key=lambda c: (-c.score, c.expected, c.observed, c.layer, c.owner)))


def _cluster(key: tuple[str, str, str, str], bundles: Sequence[Bundle]) -> Cluster:
    expected, observed, layer, owner = key
    kinds: dict[str, int] = defaultdict(int)
    for bundle in bundles:
        kinds[bundle.verdict.failure or "failed"] += 1
    return Cluster(
        expected=expected,
        observed=observed,
        layer=layer,
        owner=owner,
        failures=tuple(sorted(kinds.items(), key=lambda item: (-item[1], item[0]))),
        score=sum(bundle.weight for bundle in bundles),
        cases=len({bundle.verdict.case_id for bundle in bundles}),
        bundles=tuple(bundles),
    )


def pair_of(run: RunVerdict) -> tuple[str, str, str]:
    """(expected, observed, layer) under which a failed run is filed."""
    for cell in run.cells:
        if cell.expected != cell.observed:
            return cell.expected, cell.observed, FIRST_ACTION
    layer = next((name for name, verdict in run.layers.items() if verdict.status == "fail"), "")
    return run.first_action, run.first_action, layer


def sample(passed: Iterable[Bundle], size: int) -> tuple[Bundle, ...]:
    """At most `size` passes: in rounds over the first actions, within each by a hash of the run id."""
    by_action: dict[str, list[Bundle]] = defaultdict(list)
    for bundle in sorted(passed, key=lambda b: _draw(b.verdict.run_id)):
        by_action[bundle.verdict.first_action].append(bundle)
    ranked = [(turn, _draw(action), bundle) for action, found in by_action.items() for turn, bundle in enumerate(found)]
    ranked.sort(key=lambda item: item[:2])
    return tuple(bundle for _, _, bundle in ranked[:size])


def _draw(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _urgency(bundle: Bundle) -> tuple[float, int, str, str]:
    return (-bundle.weight, -len(bundle.failed), bundle.verdict.case_id, bundle.verdict.run_id)


def _unsure(run: RunVerdict) -> bool:
    return any(verdict.status == "needs_review" for verdict in run.layers.values())


def _bundle(verdict: RunVerdict, run: Run | None, suite: Suite, source: Sequence[str]) -> Bundle:
    risk = _risk(verdict, suite)
    line = next((case.line for case in suite.cases if case.id == verdict.case_id), 0)
    return Bundle(
        verdict=verdict,
        risk=risk,
        weight=WEIGHTS.get(risk, WEIGHTS[UNSTATED]),
        place=f"{suite.path}:{line}" if line else suite.path,
        failed=tuple((name, layer) for name, layer in verdict.layers.items() if layer.status == "fail"),
        broken=tuple(f for f in verdict.findings if f.status in ("fail", "needs_review")),
        errors=tuple(_errors(run)) if run is not None else (),
        offered=_offered(verdict, run, suite),
        rerun=_rerun(verdict, suite, source),
        run=run,
    )


def _risk(verdict: RunVerdict, suite: Suite) -> str:
    tool = suite.policy.tools.get(verdict.first_action) if pair_of(verdict)[2] == FIRST_ACTION else None
    named = [risk for risk in (verdict.risk, tool.risk if tool else None) if risk]
    return max(named, key=lambda risk: (WEIGHTS.get(risk, 0), risk), default=UNSTATED)


def _errors(run: Run) -> Iterable[ToolError]:
    for event in run.events:
        if isinstance(event, ToolResult) and event.ok is False:
            yield ToolError(event.name, event.error_type or "failed, no error type recorded", event.infra)


def _offered(verdict: RunVerdict, run: Run | None, suite: Suite) -> bool | None:
    wanted = {cell.expected for cell in verdict.cells if cell.expected != cell.observed}
    tools = {suite.policy.canonical(name) for name in (run.tools_offered or ())} if run is not None else set()
    if run is None or run.tools is None or not wanted or wanted & {"none", "ask_followup", "refuse_no_tool"}:
        return None
    return wanted <= tools


def _rerun(verdict: RunVerdict, suite: Suite, source: Sequence[str]) -> tuple[str, ...]:
    from shlex import join, quote

    again = f"toolselect run --suite {quote(suite.path)} --case {quote(verdict.case_id)} --exec 'AGENT {{prompt}}'"
    if not source:
        return (f"toolselect eval --suite {quote(suite.path)}", again)
    return (f"toolselect score {join(source)} --suite {quote(suite.path)}", again)
