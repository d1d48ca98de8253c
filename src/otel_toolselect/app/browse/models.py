"""What pages show and the read API answers: frozen view models, made by the functions of this package.

Texts are as the trace has them: whoever writes HTML escapes them. Times are UTC nanoseconds, shares between 0 and 1 or
None where nothing was counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.model.alerting import Notification, Silence, Window
from otel_toolselect.model.catalogs import Catalog, CatalogDiff, Suspicion
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.figures import Rate, ToolFigures
from otel_toolselect.model.labels import Drawn, Label
from otel_toolselect.model.monitoring import AlertStatus
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Span
from otel_toolselect.model.verdicts import Status
from otel_toolselect.store.browse_api import (
    CaseHistory,
    CatalogSeen,
    Count,
    Facet,
    FacetValue,
    RunSummary,
    SuiteSummary,
)

EventKind: TypeAlias = Literal["request", "assistant", "tool_call", "tool_result", "answer"]


# runs


@dataclass(frozen=True, slots=True)
class RunList:
    """A page of runs. `next`, `previous`: query strings of the neighbouring pages, None where there is none."""

    filters: Filters
    rows: tuple[RunSummary, ...]
    next: str | None
    previous: str | None
    next_cursor: str | None
    previous_cursor: str | None


@dataclass(frozen=True, slots=True)
class FacetList:
    """What there is to choose from, for the filters of a list, and how many runs fit the filters as they are."""

    filters: Filters
    count: Count
    values: Mapping[Facet, tuple[FacetValue, ...]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One finding of one expectation. `key` names it on the page; `events`: positions in `RunTimeline.events` that it
    is about. `values`: (position, where in its arguments or value), JSON paths, for what is wrong within an event.
    """

    key: str
    suite: str
    rule: str
    check: str
    layer: str
    status: Status
    explanation: str
    evidence: Mapping[str, Any]
    events: tuple[int, ...] = ()
    values: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LayerRow:
    layer: str
    status: Status
    explanation: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one suite, rule or label says of the run. `findings`: failed ones first; none where only the decision is
    kept and the rule file is not at hand.
    """

    suite: str
    rule: str
    status: Status
    layers: tuple[LayerRow, ...]
    findings: tuple[Evidence, ...]
    decision: Decision


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One step of a run. `position` counts from 0; `seq` is that of the run's events, None for request and answer.

    `content`: arguments or value as a JSON value, or text; `unknown` says why it is not there, `raw` what could not be
    decoded. `result_of`, `result`: positions of the call and of its result. `redundant`, `ghost`: of a call.
    `decides`: this is the first action, what a confusion matrix counts. `spans`: ids in `RunTimeline.spans`.
    `evidence`: keys of the findings about this event, failed ones first.
    """

    position: int
    kind: EventKind
    turn: int
    seq: int | None = None
    name: str = ""
    content: Any = None
    unknown: str | None = None
    raw: str | None = None
    call_id: str | None = None
    server: str | None = None
    agent: str | None = None
    dialect: str = ""
    emitted: bool | None = None
    executed: bool | None = None
    ok: bool | None = None
    error_type: str | None = None
    infra: bool = False
    duration_ns: int | None = None
    start_ns: int | None = None
    result: int | None = None
    result_of: int | None = None
    ghost: bool = False
    redundant: bool = False
    decides: bool = False
    spans: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()

    @property
    def cited_as(self) -> str:
        """The anchor of the event on its page."""
        return f"e{self.position}"


@dataclass(frozen=True, slots=True)
class RunTimeline:
    """One run with everything that was said of it. `spans`: raw spans by id, of which `spans_left` more exist."""

    run: Run
    tenant: str
    events: tuple[TimelineEvent, ...]
    judgements: tuple[Judgement, ...]
    labels: tuple[Label, ...]
    parent: RunSummary | None
    children: tuple[RunSummary, ...]
    before: str | None
    after: str | None
    spans: Mapping[str, Span] = field(default_factory=dict)
    spans_left: bool = False

    def finding(self, key: str) -> Evidence | None:
        return next((f for j in self.judgements for f in j.findings if f.key == key), None)


# confusion


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """`share`: of its row. `query`: query string of the runs behind it."""

    expected: str
    observed: str
    n: int
    share: float
    query: str

    @property
    def right(self) -> bool:
        return self.expected == self.observed


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A label of the matrix. `recall` and `precision` with intervals; `tool` False for no-call labels."""

    name: str
    tool: bool
    recall: Rate
    precision: Rate
    figures: ToolFigures


@dataclass(frozen=True, slots=True)
class Point:
    """One window of a course."""

    window: Window
    right: Rate


@dataclass(frozen=True, slots=True)
class Matrix:
    """`rows`, `columns`: labels in order, most frequent first, tools before no-call labels; `more`: labels that are in
    none of them, as there are too many. `cells` by (expected, observed), only those that were seen. `course`: the
    share of right first actions over the window, in steps.
    """

    filters: Filters
    window: Window
    n: int
    right: Rate
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: Mapping[tuple[str, str], MatrixCell]
    tools: tuple[ToolRow, ...]
    worst: ToolRow | None
    confused: tuple[MatrixCell, ...]
    course: tuple[Point, ...]
    more: int = 0


# suites


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """`passed`: runs of those that passed or failed."""

    summary: SuiteSummary
    passed: Rate


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case with its history. `flips`: its repeated attempts disagree on the first action (`stats.repeats`);
    `repeated`: it has any. `passed`: selection, observations that passed or failed. `changed`: it stands otherwise than
    in the run before the latest.
    """

    history: CaseHistory
    passed: Rate
    repeated: bool
    flips: bool
    changed: bool
    actions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SuiteView:
    """A page of a suite's cases in order of id; `next`: the id after which to ask on. `flip_rate`: of the page's cases
    with repeated attempts.
    """

    filters: Filters
    suite: str
    summary: SuiteSummary | None
    cases: tuple[CaseRow, ...]
    flip_rate: Rate
    next: str | None


# catalogs


@dataclass(frozen=True, slots=True)
class CatalogList:
    filters: Filters
    catalogs: tuple[CatalogSeen, ...]


@dataclass(frozen=True, slots=True)
class CatalogView:
    """One catalog with what is suspicious in it; `others`: to compare it with."""

    catalog: Catalog
    suspicions: tuple[Suspicion, ...]
    others: tuple[CatalogSeen, ...]


@dataclass(frozen=True, slots=True)
class CatalogDiffView:
    """`new`: suspicions of the later catalog that the earlier one does not have."""

    diff: CatalogDiff
    new: tuple[Suspicion, ...]


# labels


@dataclass(frozen=True, slots=True)
class QueueItem:
    """`labels` are told only where the labeller has given one already, or asks as nobody: opinions stay independent."""

    drawn: Drawn
    summary: RunSummary
    disputed: bool
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueView:
    """What is left to label of a day. `sizes`: runs by stratum; `left`: how many wait, of which some are shown."""

    day: str
    by: str
    sizes: Mapping[str, int]
    items: tuple[QueueItem, ...]
    left: int


@dataclass(frozen=True, slots=True)
class DisputeRow:
    """A run on which sources disagree: its labels, and what rules, suites and the trace itself say."""

    summary: RunSummary
    labels: tuple[Label, ...]
    origins: tuple[tuple[str, Status], ...]


@dataclass(frozen=True, slots=True)
class LabelCard:
    """What a labeller sees of one run before deciding. `names`: first actions that a label can name, offered tools
    first; `mine`: the label that this labeller gave; `others`: only once `mine` is there.
    """

    timeline: RunTimeline
    names: tuple[str, ...]
    mine: Label | None
    others: tuple[Label, ...]
    history: tuple[Label, ...]


# alerts


@dataclass(frozen=True, slots=True)
class SilenceRow:
    silence: Silence
    state: Literal["active", "coming", "over"]


@dataclass(frozen=True, slots=True)
class SendingRow:
    """What became of one notification. `receiver` "" where it went to none."""

    notification: Notification | None
    alert: str
    kind: str
    receiver: str
    outcome: str
    at_ns: int
    settled_ns: int
    attempts: int
    error: str
    says: str


@dataclass(frozen=True, slots=True)
class AlertRow:
    """`silenced_by`: the silence that holds its notifications back now, if any."""

    status: AlertStatus
    silenced_by: str | None


@dataclass(frozen=True, slots=True)
class AlertsView:
    """`problem`: why the alert files cannot be read, in words; states that are kept are shown all the same."""

    alerts: tuple[AlertRow, ...]
    silences: tuple[SilenceRow, ...]
    sendings: tuple[SendingRow, ...]
    problem: str = ""


# instrumentation


@dataclass(frozen=True, slots=True)
class NeedRow:
    """Of `n` runs or calls, how many have what judging wants; `switch`: what brings the rest."""

    need: str
    have: int
    n: int
    switch: str = ""


@dataclass(frozen=True, slots=True)
class CoverageRow:
    service: str
    dialect: str
    runs: int
    calls: int
    needs: tuple[NeedRow, ...]
    incomplete: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class ScopeRow:
    service: str
    scope: str
    version: str
    spans: int
    traces: int
    dialects: tuple[tuple[str, int], ...]
    clock: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class DoctorView:
    """What the latest runs of the window tell of the instrumentation. `traces`: how many were looked at."""

    filters: Filters
    traces: int
    scopes: tuple[ScopeRow, ...]
    coverage: tuple[CoverageRow, ...]
    faults: tuple[tuple[str, int], ...]


# overview


@dataclass(frozen=True, slots=True)
class Change:
    """A figure of the window against the window before it. `p`: how likely chance alone would do it (Fisher's exact
    test), None where one side is empty. `query`: query string of the runs behind it.
    """

    dimension: str
    value: str
    figure: str
    now: Rate
    before: Rate
    p: float | None
    query: str

    @property
    def difference(self) -> float | None:
        if self.now.rate is None or self.before.rate is None:
            return None
        return self.now.rate - self.before.rate


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity of all runs of the window and of the one before it, in its unit. None where nothing reports it."""

    name: str
    unit: str
    now: float | None
    before: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """A value that the window has and the window before it has not: a new model, prompt, catalog, agent, tool."""

    dimension: str
    value: str
    n: int
    query: str


@dataclass(frozen=True, slots=True)
class Overview:
    """`runs`, `before`: in the window and in the one of the same length before it. `figures`: shares of the whole;
    `changes`: what moved within it, surest first. `failures`: by kind.
    """

    filters: Filters
    window: Window
    runs: int
    before: int
    right: Rate
    right_before: Rate
    figures: tuple[Change, ...]
    measures: tuple[Measure, ...]
    changes: tuple[Change, ...]
    arrived: tuple[Arrived, ...]
    course: tuple[Point, ...]
    confused: tuple[MatrixCell, ...]
    failures: tuple[FacetValue, ...]
    firing: tuple[AlertRow, ...]
    latest_failed: tuple[RunSummary, ...]
