"""Tool names that two servers offer, always on: the trace does not say which tool was called, so a person must look.

Only where the policy lists `servers`. The call keeps the name that the trace gives it, so it satisfies no expectation
of either tool; the finding names both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules.check import AlwaysOn, Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.view import RunView

NAME = "ambiguous"


@dataclass(frozen=True, slots=True)
class AmbiguousCheck:
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        return tuple(
            Finding(
                NAME,
                "selection",
                "needs_review",
                f"ambiguous tool name: {call.name} may be {' or '.join(call.ambiguous)}",
                {"called": call.name, "readings": list(call.ambiguous)},
            )
            for call in view.calls
            if call.ambiguous
        )


class _Kind(AlwaysOn):
    name = NAME

    def finish(self, draft: Draft) -> Check | None:
        return AmbiguousCheck() if draft.policy.servers.offered else None


PLUGIN = _Kind()
