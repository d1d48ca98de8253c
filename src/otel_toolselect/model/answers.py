"""What is answered to those who ask over the network: evaluations on demand, labels, streams of decisions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from otel_toolselect.model.alerting import Series, Window
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.figures import Confusion, Rate
from otel_toolselect.model.verdicts import RunVerdict

SuiteKind: TypeAlias = Literal["suite", "rules"]


@dataclass(frozen=True, slots=True)
class ServedSuite:
    """A suite or rule file that a server judges by. `cases`: how many, or how many rules."""

    name: str
    kind: SuiteKind
    version: str = ""
    cases: int = 0


@dataclass(frozen=True, slots=True)
class Judgement:
    """One run under one case (`severity` "") or rule."""

    verdict: RunVerdict
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Runs held to a suite or rule file. Of `runs` that were looked at `unmatched_runs` are the business of no case or
    rule. `warnings`: what was put right or left out of the spans.
    """

    suite: str
    kind: SuiteKind
    judgements: tuple[Judgement, ...] = ()
    runs: int = 0
    unmatched_runs: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelOutcome:
    """What follows from a label. `verdict`: by this label alone. `decisions`: by all labels with this one among them,
    in order of precedence. `stored`: it is kept; `changed`: that was news.
    """

    run_id: str
    accepts: bool
    verdict: RunVerdict
    decisions: tuple[Decision, ...] = ()
    stored: bool = False
    changed: bool = False


@dataclass(frozen=True, slots=True)
class Streamed:
    """A decision of a stream. `kept_ns`: when it was kept. `cursor`: the place right after it, to go on from."""

    decision: Decision
    kept_ns: int
    cursor: str = field(compare=False)


@dataclass(frozen=True, slots=True)
class Windowed:
    """Decisions of one window and one combination of what it is cut by. `right`: first actions that were expected."""

    window: Window
    series: Series
    right: Rate
    confusion: Confusion
