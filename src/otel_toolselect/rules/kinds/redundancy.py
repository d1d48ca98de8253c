"""Redundancy (R32, design section 7), always on: a finding of its own in the efficiency layer that moves no verdict.

redundancy = redundant calls / all calls, where a call is redundant when it repeats an earlier identical one with no
state-changing call between (see `rules.repeats`). `budget: {redundant: N}` makes it count. Evidence holds both numbers
of every run with a call, so that the rate of a suite can be recomputed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules.check import AlwaysOn, Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.repeats import redundant
from otel_toolselect.rules.view import RunView

NAME = "redundancy"


@dataclass(frozen=True, slots=True)
class RedundancyCheck:
    name: str = NAME
    layer: Layer = "efficiency"
    decides: bool = False

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        total = len(view.calls)
        if not total:
            return ()
        again = [view.calls[place] for place in redundant(view.seen)]
        if not again:
            return _none(total)
        names = ", ".join(dict.fromkeys(c.name for c in again))
        said = f"redundancy {len(again)} of {total}: {names} was called again with nothing changed in between"
        evidence: dict[str, object] = {"redundant": len(again), "calls": total, "repeated": [c.seq for c in again]}
        return (Finding(NAME, "efficiency", "needs_review", said, evidence),)


@lru_cache(maxsize=1024)
def _none(total: int) -> tuple[Finding, ...]:
    return (Finding(NAME, "efficiency", "pass", "no call is redundant", {"redundant": 0, "calls": total}),)


class _Kind(AlwaysOn):
    name = NAME

    def finish(self, draft: Draft) -> Check | None:
        return RedundancyCheck()


PLUGIN = _Kind()
