"""`recovery`: failing calls must not be repeated without adapting (R33), efficiency layer.

`max_same_failure: N`: of identical calls (see `rules.repeats`) at most N may fail. 1 forbids to repeat a failing call
and to fail again; a repeat that succeeds is recovery. `max_failures: N`: at most N calls may fail altogether. Applies
to runs with a failed call. Evidence says of each failed call what was tried next: the same call, the same tool with
other arguments, another tool, or how the run ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds.execution import unrecovered
from otel_toolselect.rules.repeats import failures, identity
from otel_toolselect.rules.view import CallView, RunView

NAME = "recovery"
_LAYER: Layer = "efficiency"


@dataclass(frozen=True, slots=True)
class RecoveryCheck:
    same: int | None
    all: int | None
    name: str = NAME
    layer: Layer = _LAYER
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        if not view.course.failed:
            return ()
        failed = [c for c in view.calls if c.ok is False]
        left = len(unrecovered(view))
        evidence: dict[str, Any] = {
            "failed": len(failed),
            "recovered": len(failed) - left,
            "next": [{"call": c.seq, "tool": c.name, "then": _next(c, view)} for c in failed],
        }
        faults = []
        if self.same is not None:
            loops = [calls for calls in failures(view.seen).values() if len(calls) > self.same]
            if loops:
                evidence["loops"] = [{"tool": calls[0].name, "calls": [c.seq for c in calls]} for calls in loops]
                faults += [f"{c[0].name} failed {len(c)} times with the same arguments" for c in loops]
        if self.all is not None and len(failed) > self.all:
            faults.append(f"{len(failed)} calls failed, allowed {self.all}")
        if faults:
            return (Finding(NAME, _LAYER, "fail", "; ".join(faults), evidence),)
        said = f"{len(failed)} failed calls, {len(failed) - left} recovered, none repeated too often"
        return (Finding(NAME, _LAYER, "pass", said, evidence),)


def _next(call: CallView, view: RunView) -> str:
    """What was decided once the failure was known."""
    later = next((c for c in view.calls if c.seq > call.seq and c.knew(call)), None)
    if later is None:
        return view.label if view.run.final_text else "nothing"
    if later.name != call.name:
        return later.name
    key = identity(later, view.course)
    return (
        "the same call" if key is not None and key == identity(call, view.course) else "the same tool, other arguments"
    )


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        found = draft.problems.fields(node, NAME, ("max_same_failure", "max_failures"))
        if found is None:
            return
        if not found:
            draft.problems.add(node, "recovery limits nothing", "write recovery: {max_same_failure: 1}")
        same, every = (
            draft.problems.whole(found[name][1], f"recovery.{name}", least=least) if name in found else None
            for name, least in (("max_same_failure", 1), ("max_failures", 0))
        )
        draft.configs[NAME] = (same, every)

    def finish(self, draft: Draft) -> Check | None:
        same, every = draft.configs.get(NAME, (None, None))
        return None if same is None and every is None else RecoveryCheck(same, every)


PLUGIN = _Kind()
