"""View models of runs, one by one: lists of them, a run's timeline and the evidence on it, what is left to label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.labels import Drawn, Label
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Span
from otel_toolselect.model.verdicts import Status
from otel_toolselect.store.browse_api import Count, Facet, FacetValue, RunSummary

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
