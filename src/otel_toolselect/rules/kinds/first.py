"""`first`: the allowed first actions (R2, R3, R38), selection layer and confusion matrix.

Passes when the first consequential action is one of those allowed: tools, `effect:` selectors, no-call labels (what is
allowed without a list follows from the class). Two classes look further than the first action:

- clarify: reads on the way to the question are tolerated; it fails when anything that may change something is called at
  any time, and passes only if the run ends in a question;
- none, refuse with reads allowed by `first`: a later call that may change something still fails.

When the verdict hangs on the reading of a final text and that reading is below `MIN_CONFIDENCE`, the status is
needs_review. A low confidence does not matter when all no-call labels, or none of them, are allowed.

Confusion cell: expected x observed, where the observed action itself is the expected one if it is allowed, else the
first listed is; so the diagonal holds exactly the runs whose first action was allowed. `none` of a tiny-form case
accepts any no-call, and then the observed label is reported as `none`. A clarify run that passes after reads counts
as `ask_followup`, for that is what it decided. A reading to be reviewed gives no cell, and neither does a case that
lists no action to compare with (`class: optional` or `multi_step` without `first`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from otel_toolselect.model.verdicts import Cell, Finding, Layer, Status
from otel_toolselect.rules._nodes import Items, Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import DecisionClass, Draft
from otel_toolselect.rules.policy import HARMLESS
from otel_toolselect.rules.selectors import (
    AnyCall,
    CallSet,
    Effect,
    NoCallOutcome,
    Selector,
    Tool,
    allowed_outcomes,
    labels,
    said,
)
from otel_toolselect.rules.view import CallView, RunView

NAME = "first"
OUTCOMES = {
    "none": "the agent answered",
    "ask_followup": "the agent asked a question",
    "refuse_no_tool": "the agent declined",
}
_KEPT = 256
_QUIET = ("none", "refuse", "clarify")


@dataclass(frozen=True, slots=True)
class FirstCheck:
    """`expected` and `outcomes` are worked out at load. `review` is True when the reading of a text can decide."""

    decision: DecisionClass | None
    allowed: tuple[Selector, ...]
    expected: tuple[str, ...]
    outcomes: frozenset[str]
    calls: CallSet = field(compare=False, repr=False)
    _made: dict[str, tuple[Finding, ...]] = field(default_factory=dict, compare=False, repr=False)
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        if view.first is not None and self.decision not in _QUIET and self.calls.holds(view.first):
            return self._allowed(view.first.name)
        status, explanation = self._judge(view)
        evidence: dict[str, object] = {"expected": list(self.expected), "first_action": view.first_action}
        if status == "fail" and view.first is None:
            evidence["missing"] = list(self.expected)
            calls = [s for s in self.allowed if not isinstance(s, NoCallOutcome)]
            evidence["missing_required"] = [said(calls)] if calls else []
        return (Finding(NAME, "selection", status, explanation, evidence),)

    def _allowed(self, name: str) -> tuple[Finding, ...]:
        """The commonest finding, made once per name."""
        found = self._made.get(name)
        if found is None:
            evidence: dict[str, object] = {"expected": list(self.expected), "first_action": name}
            found = (Finding(NAME, "selection", "pass", f"the first action {name} is allowed", evidence),)
            if len(self._made) < _KEPT:
                self._made[name] = found
        return found

    def cells(self, view: RunView) -> Sequence[Cell]:
        cell = self._cell(view)
        return () if cell is None else (cell,)

    def _cell(self, view: RunView) -> Cell | None:
        if not self.allowed or isinstance(self.allowed[0], AnyCall):
            return None
        if view.first is not None and self.calls.holds(view.first):
            return _right(view.first.name)
        if view.first is None and self._unsure(view):
            return None
        accepted = self._accepting(view)
        if accepted is None:
            passed = self.decision == "clarify" and view.first is not None and self._judge(view)[0] == "pass"
            observed = "ask_followup" if passed else view.first_action
            return Cell(observed if passed else self.allowed[0].label, observed)
        any_label = isinstance(accepted, NoCallOutcome) and accepted.any_label
        return _right(accepted.label if any_label else view.first_action)

    def _judge(self, view: RunView) -> tuple[Status, str]:
        if self.decision in _QUIET:
            changing = next((c for c in view.consequential if c.mutating), None)
            if changing is not None:
                return "fail", self._unexpected(changing)
        if self.decision == "clarify" and not any(isinstance(s, Tool | Effect) for s in self.allowed):
            return self._outcome(view)
        if view.first is None:
            return self._outcome(view)
        if self.calls.holds(view.first):
            return "pass", f"the first action {view.first.name} is allowed"
        return "fail", self._unexpected(view.first)

    def _outcome(self, view: RunView) -> tuple[Status, str]:
        """The verdict on the final text."""
        how = f"{OUTCOMES[view.label]} ({view.run.no_call.signal})"
        if self._unsure(view):
            confidence = view.run.no_call.confidence
            return "needs_review", f"the final text reads as {view.label} at confidence {confidence:.2f}: {how}"
        if view.label in self.outcomes:
            return "pass", f"{how}, as expected" if view.first is None else f"{how}, after reads only"
        if self.outcomes == {"ask_followup"}:
            return "fail", f"no question was asked: {how}"
        calls = [s for s in self.allowed if not isinstance(s, NoCallOutcome)]
        if calls:
            return "fail", f"missing call {said(calls)}: {how}"
        return "fail", f"expected {said(self.allowed)}: {how}"

    def _unsure(self, view: RunView) -> bool:
        return not view.sure and 0 < len(self.outcomes) < len(OUTCOMES)

    def _accepting(self, view: RunView) -> Selector | None:
        """The listed selector that allows a run without a call."""
        return next((s for s in self.allowed if s.means(view.label)), None) if view.first is None else None

    def _unexpected(self, call: CallView) -> str:
        if self.decision == "clarify":
            return f"{call.name} was called where a question was expected"
        if self.calls.holds(call):
            return f"unexpected call {call.name}: it may change something"
        ghost = ", a tool that was not offered" if call.ghost else ""
        return f"unexpected call {call.name}{ghost}; expected {said(self.allowed)}"


@lru_cache(maxsize=4_096)
def _right(action: str) -> Cell:
    return Cell(action, action)


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        draft.configs[NAME] = ()
        chosen: list[Selector] = []
        for selector, item in draft.selectors(node, "first", outcomes=True):
            if selector in chosen:
                draft.problems.add(item, f"{selector.label!r} is listed twice in first")
            elif _possible(selector, item, draft):
                chosen.append(selector)
        if isinstance(node, Items) and not node.items:
            draft.problems.add(node, "first is an empty list: no action would be allowed", "write first: [none]")
        draft.configs[NAME] = tuple(chosen)

    def finish(self, draft: Draft) -> Check | None:
        allowed = draft.first
        if not allowed:
            return None
        if NAME in draft.keys:
            _fits_class(draft)
        outcomes = allowed_outcomes(allowed)
        return FirstCheck(draft.decision, allowed, tuple(labels(allowed)), outcomes, CallSet(allowed))


def _possible(selector: Selector, item: Node, draft: Draft) -> bool:
    """False, with a problem, for a selector that no first action can ever be."""
    effect = selector.effect if isinstance(selector, Effect) else None
    if isinstance(selector, Tool):
        effect = draft.policy.effect_of(selector.name)
        if draft.pinned is not None and selector.name not in draft.pinned:
            draft.problems.add(
                item, f"{selector.label!r} can never be called: it is not among the case's tools", "add it to tools"
            )
            return False
    if effect in HARMLESS:
        draft.problems.add(
            item,
            f"{selector.label!r} can never be the first consequential action: its effect is {effect}",
            "take it out, or change its effect in the policy",
        )
        return False
    return True


def _fits_class(draft: Draft) -> None:
    """A written class and listed first actions that cannot both hold are a problem."""
    written = draft.configs.get("class")
    listed: tuple[Selector, ...] = draft.configs[NAME]
    key = draft.keys[NAME]
    outcomes = [s for s in listed if isinstance(s, NoCallOutcome)]
    if not listed or written is None:
        return
    if written in ("required", "multi_step") and len(outcomes) == len(listed):
        draft.problems.add(key, f"class {written} needs a call, but first lists only {said(listed)}", "name a tool")
    needed = {"none": "none", "clarify": "ask_followup", "refuse": "refuse_no_tool"}.get(written)
    if needed is None:
        return
    if not any(s.means(needed) for s in outcomes):
        draft.problems.add(key, f"class {written} must allow {needed} in first", f"add {needed}, or change the class")
    for s in listed:
        effect = s.effect if isinstance(s, Effect) else draft.policy.effect_of(s.label)
        if isinstance(s, Tool | Effect) and effect != "read":
            draft.problems.add(key, f"class {written} allows no call of {s.label}: its effect is not read")


PLUGIN = _Kind()
