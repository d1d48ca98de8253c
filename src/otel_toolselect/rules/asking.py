"""Where a check needs a judgement of free text: a narrow question to whoever answers, in three-valued logic (R26).

A matcher such as `{judge: "says that ..."}` cannot decide alone. It asks through the `Asking` of its run, and the
answer may be missing: nobody is there to ask (the default), out of reach, over a limit. So a check that met a question
is looked at several times (`settle`):

1. as if every question were answered yes, and as if it were answered no, without asking anybody: where both give the
   same statuses the deterministic part has decided, and no question is worth its cost;
2. else with real answers, the missing ones taken as yes and then as no: where both agree the judge has decided;
3. else what differs is `needs_review`, with the reasons of the missing answers. It is never a pass.

Answers that were given are in the evidence of each finding they touch, under `judge`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from otel_toolselect.model.questions import Answer, Question
from otel_toolselect.model.verdicts import Finding
from otel_toolselect.rules.view import RunView

OFF = "no judge is configured (set judge.url and judge.model)"
_Look = Callable[[], Sequence[Finding]]


class Asker(Protocol):
    """Answers questions. Never raises: what goes wrong is an answer without a yes or no."""

    def ask(self, question: Question) -> Answer: ...


class Asking:
    """The questions of one run. `met` counts them; each is asked once, whatever number of looks needs it."""

    def __init__(self, asker: Asker | None) -> None:
        self._asker = asker
        self._answers: dict[Question, Answer] = {}
        self._live = False
        self._assume = False
        self.met = 0
        self.touched: dict[Question, Answer] = {}

    def holds(self, question: Question) -> bool:
        """Whether the answer is yes, as far as this look is concerned."""
        self.met += 1
        if not self._live:
            return self._assume
        answer = self._answers.get(question)
        if answer is None:
            answer = Answer(None, OFF) if self._asker is None else self._asker.ask(question)
            self._answers[question] = answer
        self.touched[question] = answer
        return self._assume if answer.yes is None else answer.yes

    def look(self, look: _Look, *, live: bool, assume: bool) -> Sequence[Finding]:
        self._live, self._assume = live, assume
        self.touched = {}
        try:
            return look()
        finally:
            self._live = self._assume = False


def asking(view: RunView) -> Asking:
    """The asking of a run, made when its first question comes up."""
    if view.asking is None:
        view.asking = Asking(view.asker)
    return view.asking


def settle(view: RunView, look: _Look) -> Sequence[Finding]:
    """What a check saw, questions settled (see the module's text). `look` is pure apart from its questions."""
    before = view.asking.met if view.asking is not None else 0
    pessimistic = look()
    if view.asking is None or view.asking.met == before:
        return pessimistic
    ask = view.asking
    optimistic = ask.look(look, live=False, assume=True)
    if _statuses(pessimistic) == _statuses(optimistic):
        return pessimistic
    as_yes = ask.look(look, live=True, assume=True)
    answers = dict(ask.touched)
    as_no = ask.look(look, live=True, assume=False)
    answers |= ask.touched
    return _combined(as_yes, as_no, answers, (pessimistic, optimistic))


def _statuses(findings: Sequence[Finding]) -> list[tuple[str, str, str]]:
    return [(f.check, f.layer, f.status) for f in findings]


def _combined(
    as_yes: Sequence[Finding],
    as_no: Sequence[Finding],
    answers: Mapping[Question, Answer],
    bounds: tuple[Sequence[Finding], Sequence[Finding]],
) -> Sequence[Finding]:
    if len(as_yes) != len(as_no):
        return [_open(f, answers) for f in max(as_yes, as_no, key=len)]
    fixed = [a.status == b.status for a, b in zip(*bounds, strict=True)] if len(bounds[0]) == len(bounds[1]) else []
    found: list[Finding] = []
    for i, (yes, no) in enumerate(zip(as_yes, as_no, strict=True)):
        if fixed and len(fixed) == len(as_no) and fixed[i]:
            found.append(no)
        elif yes.status == no.status:
            found.append(replace(no, evidence={**no.evidence, "judge": _records(answers)}))
        else:
            found.append(_open(no, answers))
    return found


def _open(finding: Finding, answers: Mapping[Question, Answer]) -> Finding:
    reasons = dict.fromkeys(a.reason for a in answers.values() if a.yes is None)
    asked = dict.fromkeys(q.asks for q, a in answers.items() if a.yes is None)
    said = f"undecided: {'; '.join(asked)} ({'; '.join(reasons)})"
    # what a failing look filed as forbidden or missing is not established
    kept = {k: v for k, v in finding.evidence.items() if k not in ("forbidden_observed", "missing_required", "missing")}
    return replace(finding, status="needs_review", explanation=said, evidence={**kept, "judge": _records(answers)})


def _records(answers: Mapping[Question, Answer]) -> list[Mapping[str, Any]]:
    return [{"question": q.asks, **a.record} for q, a in answers.items()]
