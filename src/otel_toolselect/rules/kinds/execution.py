"""Did the tools do their work (R24, R33)? Execution layer, always on.

Applies to calls whose outcome the trace knows; a run without such a call is n/a. A failed call is *recovered* when a
later call of the same tool succeeded. Passes when no failed call is left unrecovered. Calls of every kind count,
metadata too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules.check import AlwaysOn, Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.view import CallView, RunView

NAME = "execution"
_WORKED = "every call with a known outcome succeeded"


@dataclass(frozen=True, slots=True)
class ExecutionCheck:
    name: str = NAME
    layer: Layer = "execution"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        known, failed = view.course.known, view.course.failed
        if not known:
            return ()
        if not failed:
            return _worked(known)
        left = unrecovered(view)
        evidence: dict[str, object] = {"calls": known, "failed": failed, "recovered": failed - len(left)}
        counted = f"{failed} of {known} calls failed"
        if not left:
            return (Finding(NAME, "execution", "pass", f"{counted}, each followed by a success", evidence),)
        evidence["unrecovered"] = [
            {"call": c.seq, "tool": c.name, "error": (c.result.error_type if c.result else None), "infra": c.infra}
            for c in left
        ]
        names = ", ".join(dict.fromkeys(c.name for c in left))
        return (Finding(NAME, "execution", "fail", f"{counted}; {names} never succeeded after failing", evidence),)


@lru_cache(maxsize=1024)
def _worked(calls: int) -> tuple[Finding, ...]:
    evidence: dict[str, object] = {"calls": calls, "failed": 0, "recovered": 0}
    return (Finding(NAME, "execution", "pass", _WORKED, evidence),)


def unrecovered(view: RunView) -> list[CallView]:
    """Failed calls without a later success of the same tool."""
    good: set[str] = set()
    left = []
    for call in reversed(view.calls):
        if call.ok:
            good.add(call.name)
        elif call.ok is False and call.name not in good:
            left.append(call)
    return left[::-1]


class _Kind(AlwaysOn):
    name = NAME

    def finish(self, draft: Draft) -> Check | None:
        return ExecutionCheck()


PLUGIN = _Kind()
