"""`ended`: the run came to an end by itself, outcome layer.

A harness that stops a conversation after N turns of the model leaves a trace that looks whole.
`ended: {before_turn: N}` fails a run with N model turns or more: it was cut off, whatever it had done by then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.view import RunView

NAME = "ended"


@dataclass(frozen=True, slots=True)
class EndedCheck:
    before_turn: int
    name: str = NAME
    layer: Layer = "outcome"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        turns = max((e.turn for e in view.run.events), default=0)
        evidence = {"turns": turns, "before_turn": self.before_turn}
        if turns < self.before_turn:
            return (Finding(NAME, "outcome", "pass", f"the run ended after {turns} turns", evidence),)
        said = f"the run was cut off: it has {turns} turns, the limit is {self.before_turn}"
        return (Finding(NAME, "outcome", "fail", said, evidence),)


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        found = draft.problems.fields(node, NAME, ("before_turn",))
        if found is None:
            return
        if "before_turn" not in found:
            draft.problems.add(node, "ended says no turn", "write ended: {before_turn: 30}")
            return
        draft.configs[NAME] = draft.problems.whole(found["before_turn"][1], "before_turn", least=1)

    def finish(self, draft: Draft) -> Check | None:
        limit = draft.configs.get(NAME)
        return EndedCheck(limit) if limit is not None else None


PLUGIN = _Kind()
