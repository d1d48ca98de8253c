"""Calls of tools that were not offered (R9), always on: a finding of its own that moves no layer.

Only where the trace holds the catalog. When such a call succeeded the catalog in the trace is probably not whole, and
the finding says so (needs_review). A ghost tool is never in "any tool", and keeps its name in the confusion matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.verdicts import Finding, Layer, Status
from otel_toolselect.rules.check import AlwaysOn, Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.view import RunView

NAME = "ghost"


@dataclass(frozen=True, slots=True)
class GhostCheck:
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = False

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        ghosts = view.seen.ghosts
        if not ghosts:
            return ()
        names = list(dict.fromkeys(c.name for c in ghosts))
        answered = [c.name for c in ghosts if c.ok]
        status: Status = "needs_review" if len(answered) == len(ghosts) else "fail"
        why = "; it answered, so the recorded catalog may not be whole" if answered else ""
        said = f"called {', '.join(names)}, not among the {len(view.offered)} offered tools{why}"
        return (Finding(NAME, "selection", status, said, {"ghosts": names, "answered": answered}),)


class _Kind(AlwaysOn):
    name = NAME

    def finish(self, draft: Draft) -> Check | None:
        return GhostCheck()


PLUGIN = _Kind()
