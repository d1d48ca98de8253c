"""When a run leaves the denominators (R36, design section 7): infra, catalog_gap, incomplete.

A forbidden call that was observed is never excused: such a run is judged, whatever else happened.

- infra: a call failed for an infrastructure reason (assembly's tag, or the policy's `infra_errors`) and no later call
  of the same tool succeeded; or whoever ran the agent says so (`toolselect.infra`: it timed out, it could not be
  reached). A run that recovered is judged. Right and wrong decisions are excluded alike, for excluding only the
  failures of such runs would flatter the agent and excluding only the passes would blame it.
- catalog_gap: the trace holds the catalog, every allowed first action is a call, none of those tools was offered, and
  the run did not pass all the same.
- incomplete: the trace says that the run is not whole, and either it shows no decision at all (no consequential call,
  no final text), or it fails only by what is absent. What was seen counts; what may still arrive does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from otel_toolselect.model.runs import INFRA
from otel_toolselect.model.verdicts import Exclusion, Finding
from otel_toolselect.rules import Case, RunView
from otel_toolselect.rules.kinds.execution import unrecovered
from otel_toolselect.rules.selectors import Effect, Selector, Tool


def exclusion(view: RunView, case: Case, findings: Sequence[Finding]) -> tuple[Exclusion, str] | None:
    """Why the run does not count, as (reason, sentence); None when it does."""
    failed = [f for f in findings if f.status == "fail"]
    if not failed or not any(f.evidence.get("forbidden_observed") for f in failed):
        out = _infra(view) or (_catalog_gap(view, case, failed) if failed else None)
        if out is not None:
            return out
    if view.run.incomplete is not None:
        why = _not_seen(view, failed)
        if why is not None:
            return "incomplete", f"{why}: {view.run.incomplete}"
    return None


def _infra(view: RunView) -> tuple[Exclusion, str] | None:
    told = view.run.attributes.get(INFRA)
    if told:
        return "infra", f"the attempt was lost to the platform: {told}"
    if not view.seen.broken:
        return None
    broken = next((c for c in unrecovered(view) if c.infra), None)
    if broken is None:
        return None
    error = broken.result.error_type if broken.result is not None else None
    note = f" ({error})" if error else ""
    return "infra", f"{broken.name} failed for an infrastructure reason{note} and never succeeded"


def _catalog_gap(view: RunView, case: Case, failed: Sequence[Finding]) -> tuple[Exclusion, str] | None:
    if view.run.tools is None or not any(f.layer == "selection" for f in failed) or not _gap(case.expect.first, view):
        return None
    wanted = ", ".join(s.label for s in case.expect.first)
    return "catalog_gap", f"the catalog offered none of {wanted}"


def _gap(allowed: Iterable[Selector], view: RunView) -> bool:
    """Every allowed first action is a call, and no offered tool could make it."""
    effects = {view.policy.effect_of(name) for name in view.offered}
    wanted = tuple(allowed)
    for s in wanted:
        if isinstance(s, Tool):
            offered = s.name in view.offered
        else:
            offered = not isinstance(s, Effect) or s.effect in effects
        if offered:
            return False
    return bool(wanted)


def _not_seen(view: RunView, failed: Sequence[Finding]) -> str | None:
    if view.first is None and not view.final_text:
        return "no decision was seen"
    if failed and all("missing" in f.evidence for f in failed):
        return "what is missing may not have arrived"
    return None
