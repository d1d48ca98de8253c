"""Rule tests carried out (house habit 9): given runs judged, and what came out otherwise than expected.

The judgement is the ordinary one (`judge`, `judge_rules`): a test can pass only for what production would say.
Questions about free text are answered by the test's own `judge`, never by an endpoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from otel_toolselect.judge.judging import judge
from otel_toolselect.judge.policies import judge_rules
from otel_toolselect.model.questions import Answer, Question
from otel_toolselect.model.ruletests import UNMATCHED, Difference, ExpectedVerdict, RuleTest
from otel_toolselect.model.rulings import overall
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.rules import Suite
from otel_toolselect.rules.problems import suggest
from otel_toolselect.rules.rulefiles import RuleFile

Target: TypeAlias = Suite | RuleFile
_Verdicts: TypeAlias = "dict[str, list[RunVerdict]]"


class Rehearsal:
    """The files under test, and which rule or case stands in which."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self.targets = tuple(targets)
        self.names: dict[str, list[str]] = {}
        for target in targets:
            entries = target.rules if isinstance(target, RuleFile) else target.cases
            for entry in entries:
                self.names.setdefault(entry.id, []).append(target.path)

    def differences(self, test: RuleTest, runs: Sequence[Run]) -> tuple[Difference, ...]:
        """What came out otherwise, in the order of the test's expectations."""
        verdicts = self._judged(test, runs)
        return tuple(d for wanted in test.expect for d in self._compared(wanted, verdicts, runs))

    def _judged(self, test: RuleTest, runs: Sequence[Run]) -> _Verdicts:
        asker = _Told(test.judge) if test.judge else None
        found: _Verdicts = {}
        for target in self.targets:
            if isinstance(target, RuleFile):
                verdicts: Sequence[RunVerdict] = [r.verdict for r in judge_rules(runs, target, asker).rulings]
            else:
                verdicts = judge(runs, target, asker).runs
            for verdict in verdicts:
                found.setdefault(verdict.case_id, []).append(verdict)
        return found

    def _compared(self, wanted: ExpectedVerdict, verdicts: _Verdicts, runs: Sequence[Run]) -> Iterator[Difference]:
        places = self.names.get(wanted.rule, [])
        if len(places) != 1:
            said = f"in {' and in '.join(places)}" if places else f"nowhere ({suggest(wanted.rule, self.names)})"
            yield Difference(wanted.rule, "rule", "in one of the files", said, line=wanted.line)
            return
        agents = {run.run_id: run.agent for run in runs}
        meant = [
            v for v in verdicts.get(wanted.rule, ()) if wanted.run in (None, v.run_id, agents.get(v.run_id))
        ]  # fmt: skip
        if not meant:
            if wanted.status != UNMATCHED:
                expected = wanted.status or "a verdict"
                why = "no run was given" if not runs else "the rule is about none of the runs given"
                yield Difference(wanted.rule, "status", expected, UNMATCHED, why, wanted.line)
            return
        for verdict in meant:
            yield from _differences(wanted, verdict)


def _differences(wanted: ExpectedVerdict, verdict: RunVerdict) -> Iterator[Difference]:
    status = overall(verdict)
    why = _why(verdict, status)
    pairs: list[tuple[str, str | None, str | None, str]] = [
        ("status", wanted.status, status, why),
        ("failure", wanted.failure, verdict.failure, why),
        ("owner", wanted.owner, verdict.owner, why),
        ("first_action", wanted.first_action, verdict.first_action, ""),
    ]
    for name, layer in verdict.layers.items():
        pairs.append((f"layers.{name}", wanted.layers.get(name), layer.status, layer.explanation))
    for what, expected, got, because in pairs:
        if expected is not None and expected != (got or "none"):
            yield Difference(wanted.rule, what, expected, got or "none", because, wanted.line)
    explained = [layer.explanation for layer in verdict.layers.values()] + [f.explanation for f in verdict.findings]
    if wanted.says is not None and not any(wanted.says in text for text in explained):
        yield Difference(wanted.rule, "says", wanted.says, why, "", wanted.line)


def _why(verdict: RunVerdict, status: str) -> str:
    if status == "n/a":
        return "no check applied to the run"
    said = [f"{name}: {layer.explanation}" for name, layer in verdict.layers.items() if layer.status == status]
    return "; ".join(said) if verdict.excluded is None else next(iter(verdict.layers.values())).explanation


class _Told:
    """Answers as the test says; what it says nothing of stays undecided."""

    def __init__(self, answers: Mapping[str, bool]) -> None:
        self.answers = answers

    def ask(self, question: Question) -> Answer:
        for part, yes in self.answers.items():
            if part in question.asks:
                return Answer(yes, "as the test says", question.asks, "yes" if yes else "no", "rule test")
        return Answer(None, "the test's judge says nothing of this question")
