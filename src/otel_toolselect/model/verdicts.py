"""Verdicts: what judging says of one run, layer by layer (R24, design sections 7 and 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_toolselect.model.facts import CaseGroup, RunFacts
from otel_toolselect.model.quick import quick

Status: TypeAlias = Literal["pass", "fail", "n/a", "excluded", "needs_review"]
Layer: TypeAlias = Literal[
    "selection",
    "arguments",
    "sequencing",
    "abstention",
    "clarification",
    "execution",
    "outcome",
    "efficiency",
]
LAYERS: tuple[Layer, ...] = (
    "selection",
    "arguments",
    "sequencing",
    "abstention",
    "clarification",
    "execution",
    "outcome",
    "efficiency",
)
Exclusion: TypeAlias = Literal["infra", "catalog_gap", "incomplete"]


@quick
@dataclass(frozen=True, slots=True)
class Finding:
    """What one check saw in one run: plain data that prints itself, never an exception.

    `evidence` holds what a reader needs to recompute the finding; `explanation` is one sentence.
    """

    check: str
    layer: Layer
    status: Status
    explanation: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@quick
@dataclass(frozen=True, slots=True)
class LayerVerdict:
    status: Status
    explanation: str
    evidence: Mapping[str, Any] = field(default_factory=dict)


@quick
@dataclass(frozen=True, slots=True)
class CallScore:
    """Argument judgement of one call whose tool was right: the denominator of the arguments figure is calls (R25)."""

    seq: int
    name: str
    passed: bool


@quick
@dataclass(frozen=True, slots=True)
class Cell:
    """One observation for the confusion matrix: expected label x observed first consequential action (R38)."""

    expected: str
    observed: str


@quick
@dataclass(frozen=True, slots=True)
class RunVerdict:
    """The judgement of one run against one case. `cells` has one entry per run and per labelled turn.

    `excluded` names why the run left the denominators, None when it counts. `failure` is a label of the failure
    taxonomy (R50) and `owner` its likely first owner; both None when nothing failed.
    """

    run_id: str
    trace_id: str
    suite: str
    case_id: str
    first_action: str
    observed_class: str
    layers: Mapping[Layer, LayerVerdict]
    parent_run_id: str | None = None
    attempt: int | None = None
    label: str | None = None
    request: str | None = None
    risk: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()
    call_scores: tuple[CallScore, ...] = ()
    findings: tuple[Finding, ...] = ()
    excluded: Exclusion | None = None
    failure: str | None = None
    owner: str | None = None
    policy_version: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    catalog_id: str | None = None
    start_ns: int = 0


@dataclass(frozen=True, slots=True)
class SuiteVerdicts:
    """All verdicts of one suite, in a fixed order (case, attempt, run id); what could not be matched is counted.

    `facts` by run id and `groups` by case id are there when the runs and the suite were at hand.
    """

    suite: str
    runs: tuple[RunVerdict, ...]
    cases: tuple[str, ...] = ()
    unmatched_runs: int = 0
    cases_without_run: tuple[str, ...] = ()
    facts: Mapping[str, RunFacts] = field(default_factory=dict)
    groups: Mapping[str, CaseGroup] = field(default_factory=dict)
