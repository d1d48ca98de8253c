"""Runs held to labels: one decision per origin, the one with precedence marked as the one that counts (R47).

A label is a tiny case, made up on the spot: its expected actions are the allowed first actions. Everything else follows
from there as for cases of suites: exclusions, the confusion cell, the failure's name.

- attribute: what the trace says (`Run.expected`). As in the tiny form, `none` there means any outcome without a call.
- person: what most labellers say; of opinions that are held equally often the latest. A no-call label means itself.
- judge: the latest answer.

A label that only says that the first action is wrong fails the selection of a run that still has that first action, and
gives no cell. Once late spans have changed the first action it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from otel_toolselect.judge.decisions import decision_of
from otel_toolselect.judge.judging import judge_view
from otel_toolselect.model.decisions import LABELS, Decision, Origin
from otel_toolselect.model.labels import PRECEDENCE, Label
from otel_toolselect.model.runs import NO_CALL_LABELS, Run
from otel_toolselect.model.verdicts import Finding, Layer, RunVerdict
from otel_toolselect.rules import Case, Expectation, Policy, RunView, Suite
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.expect import compile_expectation
from otel_toolselect.rules.problems import Problems
from otel_toolselect.rules.selectors import NoCallOutcome, Selector, Tool

Given = Callable[[Sequence[str]], Iterable[Label]]
"""Labels that stand on these runs."""


def _nobody(run_ids: Sequence[str]) -> Iterable[Label]:
    return ()


@dataclass(frozen=True, slots=True)
class Labelling:
    """`policy`: which tools are metadata and which names are one tool, for runs that no suite or rule is about."""

    policy: Policy = field(default_factory=Policy)
    given: Given = _nobody
    _made: dict[tuple[tuple[str, ...], bool], Expectation] = field(default_factory=dict, compare=False, repr=False)

    def decisions(self, runs: Iterable[Run]) -> list[Decision]:
        """In order of run and precedence. A run without a label has none. Pure but for `given`."""
        by_id = {run.run_id: run for run in runs}
        labels: dict[str, list[Label]] = {}
        for label in self.given(sorted(by_id)) if by_id else ():
            labels.setdefault(label.run_id, []).append(label)
        if not labels and not any(run.expected for run in by_id.values()):
            return []
        found: list[Decision] = []
        for run_id in sorted(by_id):
            run = by_id[run_id]
            parent = by_id.get(run.parent_run_id or "")
            own = () if parent is not None and parent.expected == run.expected else run.expected
            if own or run_id in labels:
                found += self.decisions_on(run, own, labels.get(run_id, ()))
        return found

    def decisions_on(self, run: Run, attribute: Sequence[str], labels: Iterable[Label]) -> list[Decision]:
        """`attribute`: what the run itself says, () for nothing."""
        view = RunView(run, self.policy)
        given = list(labels)
        expectations: dict[Origin, Expectation | None] = {
            "person": self._expected(consensus(x for x in given if x.source == "person"), view),
            "attribute": self._allowed(tuple(attribute), any_outcome=True) if attribute else None,
            "judge": self._expected(consensus(x for x in given if x.source == "judge"), view),
        }
        judged = [self._judged(view, origin, expectations[origin]) for origin in _ORDER]
        standing = [decision for decision in judged if decision is not None]
        return [replace(decision, counts=i == 0) for i, decision in enumerate(standing)]

    def verdict(self, run: Run, label: Label) -> RunVerdict | None:
        """What one label says of a run; None for one that says nothing any more."""
        view = RunView(run, self.policy)
        expectation = self._expected(label, view)
        return None if expectation is None else self._verdict(view, expectation)

    def _judged(self, view: RunView, origin: Origin, expectation: Expectation | None) -> Decision | None:
        if expectation is None:
            return None
        return decision_of(self._verdict(view, expectation), view, rule=origin, origin=origin)

    def _verdict(self, view: RunView, expectation: Expectation) -> RunVerdict:
        case = Case("", expectation)
        return judge_view(view, case, Suite(LABELS, (case,), self.policy))

    def _expected(self, label: Label | None, view: RunView) -> Expectation | None:
        if label is None:
            return None
        if label.expected:
            return self._allowed(label.expected, any_outcome=False)
        if label.first_action != view.first_action:
            return None
        return Expectation(None, (), (), (), (Rejected(label.first_action),))

    def _allowed(self, names: tuple[str, ...], *, any_outcome: bool) -> Expectation:
        """Labels repeat from run to run; those of hostile traces need not."""
        key = names, any_outcome
        if key not in self._made:
            if len(self._made) >= _REMEMBERED:
                self._made.clear()
            self._made[key] = allowed_first(names, self.policy, any_outcome=any_outcome)
        return self._made[key]


_REMEMBERED = 4_096
_ORDER: tuple[Origin, ...] = ("person", "attribute", "judge")
assert _ORDER == PRECEDENCE


def consensus(labels: Iterable[Label]) -> Label | None:
    """The label that stands for several: what most say; of equally frequent opinions the one that was given last."""
    given = sorted(labels, key=lambda x: (x.at_ns, x.labeller))
    counts: dict[tuple[str, ...], int] = {}
    for label in given:
        counts[label.says] = counts.get(label.says, 0) + 1
    most = max(counts.values(), default=0)
    return next((label for label in reversed(given) if counts[label.says] == most), None)


def allowed_first(names: Sequence[str], policy: Policy, *, any_outcome: bool = False) -> Expectation:
    """The expectation that the first action is one of these. `any_outcome`: `none` is every outcome without a call."""
    draft = Draft(Problems(""), policy)
    selectors: list[Selector] = []
    for name in names:
        if name in NO_CALL_LABELS:
            selectors.append(NoCallOutcome(name, any_label=any_outcome and name == "none"))
        else:
            selectors.append(Tool(policy.canonical(name)))
    draft.configs["first"] = tuple(dict.fromkeys(selectors))
    return compile_expectation(draft)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The check of a label that says no more than that the first action is wrong."""

    first_action: str
    name: str = "first"
    layer: Layer = "selection"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        said = f"the first action {self.first_action} was labelled wrong"
        return (Finding("first", "selection", "fail", said, {"first_action": self.first_action}),)
