"""`budget`: what a run may use (R35), efficiency layer. Every limit is included in what is allowed.

    calls        calls of every kind
    extra_reads  calls of read-only tools that have no place in the case
    redundant    redundant calls (design section 7, see `rules.repeats`)
    tokens       input and output tokens together
    seconds      the run's duration
    cost_usd     the cost that the trace states

What the trace does not say is needs_review, unless another limit is broken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.repeats import redundant
from otel_toolselect.rules.selectors import Selector, allows_call
from otel_toolselect.rules.view import RunView

NAME = "budget"
_LAYER: Layer = "efficiency"
_WHOLE = ("calls", "extra_reads", "redundant", "tokens")
_KEYS = (*_WHOLE, "seconds", "cost_usd")
_FEW = frozenset({"calls", "extra_reads", "redundant"})  # the same small numbers in run after run
_KEPT = 256


@dataclass(frozen=True, slots=True)
class BudgetCheck:
    limits: Mapping[str, int | float]
    wanted: tuple[Selector, ...]
    _made: dict[tuple[int | float | None, ...], tuple[Finding, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )
    name: str = NAME
    layer: Layer = _LAYER
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        amounts = tuple([self._used(name, view) for name in self.limits])
        found = self._made.get(amounts)
        if found is None:
            found = (self._judge(dict(zip(self.limits, amounts, strict=True))),)
            if len(self._made) < _KEPT and _FEW.issuperset(self.limits):
                self._made[amounts] = found
        return found

    def _judge(self, used: Mapping[str, int | float | None]) -> Finding:
        over = [name for name, amount in used.items() if amount is not None and amount > self.limits[name]]
        unknown = [name for name, amount in used.items() if amount is None]
        evidence: dict[str, Any] = {"budget": {n: {"limit": self.limits[n], "used": a} for n, a in used.items()}}
        if over:
            said = "; ".join(f"{_figure(used[n])} {n.replace('_', ' ')}, allowed {self.limits[n]}" for n in over)
            return Finding(NAME, _LAYER, "fail", f"over budget: {said}", evidence)
        if unknown:
            said = f"the trace does not say {' and '.join(unknown)}"
            return Finding(NAME, _LAYER, "needs_review", said, evidence)
        said = ", ".join(f"{_figure(a)} of {self.limits[n]} {n.replace('_', ' ')}" for n, a in used.items())
        return Finding(NAME, _LAYER, "pass", f"within budget: {said}", evidence)

    def _used(self, name: str, view: RunView) -> int | float | None:
        run = view.run
        if name == "calls":
            return len(view.calls)
        if name == "extra_reads":
            return sum(c.effect == "read" and not allows_call(self.wanted, c) for c in view.calls)
        if name == "redundant":
            return len(redundant(view.seen))
        if name == "tokens":
            known = [n for n in (run.input_tokens, run.output_tokens) if n is not None]
            return sum(known) if known else None
        if name == "seconds":
            return None if run.duration_ns is None else run.duration_ns / 1e9
        return run.cost_usd


def _figure(amount: int | float | None) -> str:
    return f"{amount:.6g}" if isinstance(amount, float) else str(amount)


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        found = draft.problems.fields(node, NAME, _KEYS)
        if found is None:
            return
        limits: dict[str, int | float] = {}
        for name, (_, value) in found.items():
            what = f"budget.{name}"
            number = (
                draft.problems.whole(value, what, least=0) if name in _WHOLE else draft.problems.number(value, what)
            )
            if number is not None and number < 0:
                draft.problems.add(value, f"{what} cannot be negative")
            elif number is not None:
                limits[name] = number
        if not found:
            draft.problems.add(node, "budget limits nothing", "write budget: {calls: 6}")
        draft.configs[NAME] = limits

    def finish(self, draft: Draft) -> Check | None:
        limits = draft.configs.get(NAME)
        return BudgetCheck(limits, tuple(dict.fromkeys([*draft.first, *draft.wanted]))) if limits else None


PLUGIN = _Kind()
