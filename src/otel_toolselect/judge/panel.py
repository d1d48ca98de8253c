"""A panel: all the suites and rule files that one judging holds runs to, with everything that is to be kept of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

from otel_toolselect.errors import InputError
from otel_toolselect.judge.decisions import decision_of, traffic_of
from otel_toolselect.judge.judging import verdicts_of
from otel_toolselect.judge.labelling import Labelling
from otel_toolselect.judge.policies import rulings_of
from otel_toolselect.judge.views import RunLooks, Views
from otel_toolselect.model.decisions import LABELS, Decision
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.rules import Suite
from otel_toolselect.rules.asking import Asker
from otel_toolselect.rules.rulefiles import RuleFile

Asking = Callable[[], AbstractContextManager[Asker | None]]


@dataclass(frozen=True, slots=True)
class Judged:
    """Runs with what was said of them: verdicts under suites, one decision per run, and one per run and expectation."""

    runs: tuple[Run, ...] = ()
    verdicts: tuple[RunVerdict, ...] = ()
    decisions: tuple[Decision, ...] = ()

    def without(self, run_ids: Collection[str]) -> Judged:
        return Judged(
            tuple(run for run in self.runs if run.run_id not in run_ids),
            tuple(verdict for verdict in self.verdicts if verdict.run_id not in run_ids),
            tuple(decision for decision in self.decisions if decision.run_id not in run_ids),
        )


def joined(parts: Sequence[Judged]) -> Judged:
    """Parts without a run in common as one."""
    return Judged(
        tuple(run for part in parts for run in part.runs),
        tuple(verdict for part in parts for verdict in part.verdicts),
        tuple(decision for part in parts for decision in part.decisions),
    )


def refuse_reserved(*files: Suite | RuleFile) -> None:
    """Raises InputError for one whose decisions would be taken for those of labelled traffic."""
    for file in files:
        if file.name == LABELS:
            raise InputError(f"the name {LABELS!r} is that of labelled traffic; choose another", where=file.path)


def _nobody() -> AbstractContextManager[Asker | None]:
    return nullcontext(None)


@dataclass(frozen=True, slots=True)
class Panel:
    """`asking` opens a yes/no judge for one judging, whose limits hold for that one."""

    suites: tuple[Suite, ...] = ()
    rules: tuple[RuleFile, ...] = ()
    asking: Asking = _nobody
    labelling: Labelling = field(default_factory=Labelling)

    def __post_init__(self) -> None:
        refuse_reserved(*self.suites, *self.rules)

    @property
    def names(self) -> tuple[str, ...]:
        """The suites and rule files by name, as decisions bear them; "" stands for all traffic."""
        return tuple(sorted({"", LABELS, *(s.name for s in self.suites), *(r.name for r in self.rules)}))

    def judge(self, runs: Iterable[Run]) -> Judged:
        """Pure but for the yes/no judge and given labels: the same runs give the same outcome in any order."""
        return self.labelled(self.expected(runs))

    def labelled(self, judged: Judged) -> Judged:
        """With what labels say of the runs: best of many at once, as it asks who keeps labels."""
        decisions = self.labelling.decisions(judged.runs)
        return replace(judged, decisions=(*judged.decisions, *decisions)) if decisions else judged

    def expected(self, runs: Iterable[Run]) -> Judged:
        """What suites and rule files say of the runs, and what they count for as traffic."""
        listed = tuple(runs)
        by_id = {run.run_id: run for run in listed}
        verdicts: list[RunVerdict] = []
        looks = RunLooks()
        decisions = [traffic_of(run, looks.of(run)) for run in by_id.values()]
        with self.asking() as asker:
            for suite in self.suites:
                views = Views(suite.policy, looks)
                for verdict in verdicts_of(listed, suite, views, asker)[0]:
                    verdicts.append(verdict)
                    decisions.append(decision_of(verdict, views.of(by_id[verdict.run_id])))
            for file in self.rules:
                views = Views(file.policy, looks)
                for ruling in rulings_of(listed, file, views, asker):
                    view = views.of(by_id[ruling.verdict.run_id])
                    found = decision_of(ruling.verdict, view, rule=ruling.rule, severity=ruling.severity, origin="rule")
                    decisions.append(found)
        return Judged(listed, tuple(verdicts), tuple(decisions))
