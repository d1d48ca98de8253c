"""`class`: what kind of decision the request calls for (R3), and the abstention layer (R29).

    class       first action (unless `first` lists others)      abstention layer
    required    what must be called                              fails without any call (under-eager)
    multi_step  any call                                         fails without any call (under-eager)
    optional    any offered tool, or a direct answer             does not apply
    none        an answer without a call                         fails on a call (over-eager)
    refuse      a refusal as no tool fits                        fails on a call (over-eager)
    clarify     a question                                       fails on a call that may change something

Calls of metadata tools never count. For `none` and `refuse` an unneeded read is told from a side effect: the sentence
says which, and only the side effect is called premature (see the failure taxonomy). Reads that the author lists in
`first` are not over-eager. Without a written class: only no-call labels in `first` imply theirs, only tools
`required`, both `optional`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import CLASSES, Draft
from otel_toolselect.rules.selectors import Selector, allows_call
from otel_toolselect.rules.view import CallView, RunView

NAME = "class"
_LAYER: Layer = "abstention"


def _finding(passed: bool, explanation: str, **evidence: object) -> Finding:
    return Finding(NAME, _LAYER, "pass" if passed else "fail", explanation, evidence)


_ABSTAINED = _finding(True, "nothing was called, as it should be", unneeded=[])
_NO_MUTATION = _finding(True, "nothing that may change something was called", unneeded=[])
_CALLED = _finding(True, "a tool was called, as it should be")


@dataclass(frozen=True, slots=True)
class _Abstain:
    """For none, refuse and clarify: no call but allowed ones; `reads_pass` tolerates every known read (clarify)."""

    allowed: tuple[Selector, ...]
    reads_pass: bool
    name: str = NAME
    layer: Layer = _LAYER
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        unneeded = [c for c in view.consequential if not self._tolerated(c)]
        if not unneeded:
            return (_NO_MUTATION if self.reads_pass else _ABSTAINED,)
        names = list(dict.fromkeys(c.name for c in unneeded))
        changing = [c.name for c in unneeded if c.mutating]
        if not changing:
            return (_finding(False, f"unneeded read: {', '.join(names)}", unneeded=names, side_effects=[]),)
        unknown = any(c.effect is None for c in unneeded)
        note = " (the policy declares no effect for it)" if unknown and len(names) == 1 else ""
        said = f"{', '.join(dict.fromkeys(changing))} was called, which may change something{note}"
        return (_finding(False, said, unneeded=names, side_effects=list(dict.fromkeys(changing))),)

    def _tolerated(self, call: CallView) -> bool:
        return not call.mutating and (self.reads_pass or allows_call(self.allowed, call))


@dataclass(frozen=True, slots=True)
class _Act:
    """For required and multi_step: some call."""

    name: str = NAME
    layer: Layer = _LAYER
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        if view.first is not None:
            return (_CALLED,)
        said = f"no tool was called: the outcome is {view.label} ({view.run.no_call.signal})"
        return (_finding(False, said, missing=["a call"], outcome=view.label),)


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        chosen = draft.problems.choice(node, "class", CLASSES)
        if chosen is not None:
            draft.configs[NAME] = chosen

    def finish(self, draft: Draft) -> Check | None:
        decision = draft.decision
        if decision in ("none", "refuse", "clarify"):
            return _Abstain(draft.first, decision == "clarify")
        return _Act() if decision in ("required", "multi_step") else None


PLUGIN = _Kind()
