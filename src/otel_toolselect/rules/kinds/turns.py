"""`turns`: what must be done at a later turn (R8), selection and arguments layer, one more confusion cell per entry.

A turn is one answer of the model, counted from 1 within the run; `{at: 2, ...}` says of the second:

- `first: [issue_refund]`: its first consequential call is allowed; an answer without a call counts as the outcome of
  the run's final text;
- `never`: none of these is called in it; `eventually`: each of these is;
- `args: {TOOL: {ARGUMENT: VALUE}}`: as `args`, for the calls of this turn only.

A turn that the run does not have is a missing decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import Cell, Finding, Layer, Status
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds.args import judge_call, parse_by_tool
from otel_toolselect.rules.matching import Expected
from otel_toolselect.rules.selectors import NoCallOutcome, Selector, allowed_outcomes, labels, said
from otel_toolselect.rules.view import CallView, RunView

NAME = "turns"
_KEYS = ("at", "first", "never", "eventually", "args")


@dataclass(frozen=True, slots=True)
class Turn:
    """`allowed` () when the entry says nothing about the first action."""

    at: int
    allowed: tuple[Selector, ...]
    outcomes: frozenset[str]
    never: tuple[Selector, ...]
    eventually: tuple[Selector, ...]
    args: Mapping[str, tuple[Expected, ...]]

    def calls(self, view: RunView) -> list[CallView]:
        return [c for c in view.calls if c.turn == self.at]

    def observed(self, view: RunView) -> bool:
        return any(e.turn == self.at for e in view.run.events)

    def judge(self, view: RunView) -> tuple[Status, str | None]:
        """The status, and the action that was taken first at this turn (None: the run has no such turn)."""
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
        found: list[Finding] = []
        for turn in self.turns:
            if turn.allowed:
                found.append(_first(turn, view))
            if turn.never or turn.eventually:
                found.append(_others(turn, view))
            if turn.args:
                calls = (c for c in turn.calls(view) if c.name in turn.args)
                found += [judge_call(NAME, c, turn.args[c.name], view) for c in calls]
        return found

    def cells(self, view: RunView) -> Sequence[Cell]:
        found = []
        for turn in self.turns:
            if not turn.allowed:
                continue
            status, observed = turn.judge(view)
            if observed is not None and status != "needs_review":
                found.append(Cell(observed if status == "pass" else turn.allowed[0].label, observed))
        return found


def _first(turn: Turn, view: RunView) -> Finding:
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


def _others(turn: Turn, view: RunView) -> Finding:
    """What is forbidden and what is required at the turn."""
    calls = turn.calls(view)
    forbidden = list(dict.fromkeys(c.name for c in calls if any(s.matches(c) for s in turn.never)))
    missing = [s.label for s in turn.eventually if not any(s.matches(c) for c in calls)]
    texts = [f"forbidden: {', '.join(forbidden)}"] if forbidden else []
    texts += [f"missing call {', '.join(missing)}"] if missing else []
    if not turn.observed(view):
        texts = ["was not observed"]
        missing = missing or ["the turn"]
    evidence: dict[str, object] = {"forbidden_observed": forbidden, "missing_required": missing}
    if missing and not forbidden:
        evidence["missing"] = missing
    status: Status = "fail" if texts else "pass"
    return Finding(NAME, "selection", status, f"turn {turn.at}: {'; '.join(texts) or 'as it must be'}", evidence)


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
            wanted = (*turn.allowed, *turn.eventually)
            draft.wants(*(s for s in wanted if not isinstance(s, NoCallOutcome)), may_start=False)
        draft.configs[NAME] = tuple(found[at] for at in sorted(found))

    def finish(self, draft: Draft) -> Check | None:
        found = draft.configs.get(NAME, ())
        return TurnsCheck(found) if found else None


def _entry(node: Node, draft: Draft) -> Turn | None:
    found = draft.problems.fields(node, "an entry of turns", _KEYS)
    if found is None:
        return None
    if "at" not in found or len(found) < 2:
        lack = "no 'at'" if "at" not in found else "nothing but 'at'"
        draft.problems.add(node, f"an entry of turns has {lack}", "write {at: 2, first: [TOOL]}")
        return None
    at = draft.problems.whole(found["at"][1], "at", least=1)
    listed: dict[str, tuple[Selector, ...]] = {}
    for name in ("first", "never", "eventually"):
        if name in found:
            chosen = draft.selectors(found[name][1], name, outcomes=name == "first")
            listed[name] = tuple(s for s, _ in chosen)
            if not chosen:
                return None  # a mistake in each of its entries, or a list that says nothing
    args = parse_by_tool(found["args"][1], "args", draft) if "args" in found else {}
    if at is None:
        return None
    allowed = listed.get("first", ())
    outcomes = allowed_outcomes(allowed)
    return Turn(at, allowed, outcomes, listed.get("never", ()), listed.get("eventually", ()), args)


PLUGIN = _Kind()
