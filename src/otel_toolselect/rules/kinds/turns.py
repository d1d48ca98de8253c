"""`turns`: what must be done first at a later turn (R8), selection layer, one more confusion cell per entry.

A turn is one answer of the model, counted from 1 within the run. `{at: 2, first: [issue_refund]}`: the first
consequential call of the second answer is allowed; an answer without a call counts as the outcome of the run's final
text, and a turn that the run does not have is a missing decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import Cell, Finding, Layer, Status
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.selectors import NoCallOutcome, Selector, allowed_outcomes, labels, said
from otel_toolselect.rules.view import RunView

NAME = "turns"


@dataclass(frozen=True, slots=True)
class Turn:
    at: int
    allowed: tuple[Selector, ...]
    outcomes: frozenset[str]

    def judge(self, view: RunView) -> tuple[Status, str | None]:
        """The status, and the action that was taken at this turn (None: the run has no such turn)."""
        call = next((c for c in view.consequential if c.turn == self.at), None)
        if call is not None:
            return "pass" if any(s.matches(call) for s in self.allowed) else "fail", call.name
        if not view.run.events or view.run.events[-1].turn != self.at:
            return "fail", None
        if not view.sure and 0 < len(self.outcomes) < len(NO_CALL_LABELS):
            return "needs_review", view.label
        return "pass" if view.label in self.outcomes else "fail", view.label


@dataclass(frozen=True, slots=True)
class TurnsCheck:
    turns: tuple[Turn, ...]
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        return [_judge(turn, view) for turn in self.turns]

    def cells(self, view: RunView) -> Sequence[Cell]:
        found = []
        for turn in self.turns:
            status, observed = turn.judge(view)
            if observed is not None and status != "needs_review":
                found.append(Cell(observed if status == "pass" else turn.allowed[0].label, observed))
        return found


def _judge(turn: Turn, view: RunView) -> Finding:
    status, observed = turn.judge(view)
    wanted = labels(turn.allowed)
    evidence: dict[str, object] = {"turns": [{"at": turn.at, "expected": wanted, "observed": observed}]}
    if observed is None:
        evidence["missing"] = wanted
        text = f"was not observed, expected {said(turn.allowed)}"
    elif status == "pass":
        text = f"{observed} is allowed"
    elif status == "needs_review":
        text = f"the final text cannot be read surely: {view.run.no_call.signal}"
    else:
        text = f"unexpected {observed}, expected {said(turn.allowed)}"
    return Finding(NAME, "selection", status, f"turn {turn.at}: {text}", evidence)


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        found: dict[int, Turn] = {}
        for item in draft.problems.items(node, NAME, example="[{at: 2, first: [TOOL]}]"):
            turn = _entry(item, draft)
            if turn is None:
                continue
            if turn.at in found:
                draft.problems.add(item, f"turn {turn.at} stands twice in turns")
            found[turn.at] = turn
            draft.wants(*(s for s in turn.allowed if not isinstance(s, NoCallOutcome)), may_start=False)
        draft.configs[NAME] = tuple(found[at] for at in sorted(found))

    def finish(self, draft: Draft) -> Check | None:
        found = draft.configs.get(NAME, ())
        return TurnsCheck(found) if found else None


def _entry(node: Node, draft: Draft) -> Turn | None:
    found = draft.problems.fields(node, "an entry of turns", ("at", "first"), planned=("never", "args", "eventually"))
    if found is None:
        return None
    for name in ("at", "first"):
        if name not in found:
            draft.problems.add(node, f"an entry of turns has no {name!r}", "write {at: 2, first: [TOOL]}")
            return None
    at = draft.problems.whole(found["at"][1], "at", least=1)
    allowed = tuple(s for s, _ in draft.selectors(found["first"][1], "first", outcomes=True))
    if at is None or not allowed:
        return None
    return Turn(at, allowed, allowed_outcomes(allowed))


PLUGIN = _Kind()
