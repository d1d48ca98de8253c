"""What a store promises to those who browse it: pages and the read API (R41, R45; issue H point 1). See `api` for the
rest.

Every method takes `tenant`: the only tenant whose data may be read, None for all. What belongs to another tenant is not
there for the caller: lists leave it out, single things are None. Times are UTC nanoseconds, windows half open.

A list costs what its window holds, not what the history holds, and no answer is longer than its `limit`. Runs are in
lists once they are judged, be it under no suite at all (`Decision.suite` ""), as `serve` and `eval` do with every run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from otel_toolselect.model.catalogs import Catalog
from otel_toolselect.model.decisions import Decision, Origin
from otel_toolselect.model.labels import Label
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Span
from otel_toolselect.model.verdicts import RunVerdict, Status

Sort: TypeAlias = Literal["start", "duration", "tokens", "cost", "calls"]
SORTS: tuple[Sort, ...] = ("start", "duration", "tokens", "cost", "calls")
Mark: TypeAlias = Literal[
    "ghost", "forbidden", "unauthorized", "failed_call", "loop", "redundant", "incomplete", "infra", "catalog_gap"
]
MARKS: tuple[Mark, ...] = (
    "ghost", "forbidden", "unauthorized", "failed_call", "loop", "redundant", "incomplete", "infra", "catalog_gap",
)  # fmt: skip
Facet: TypeAlias = Literal[
    "suite", "status", "failure", "owner", "origin", "agent", "service", "model", "provider", "prompt", "catalog",
    "tenant", "label", "first_action", "called", "case",
]  # fmt: skip
FACETS: tuple[Facet, ...] = (
    "suite", "status", "failure", "owner", "origin", "agent", "service", "model", "provider", "prompt", "catalog",
    "tenant", "label", "first_action", "called", "case",
)  # fmt: skip
MOST_ROWS = 200
"""Rows of a page at most, whatever is asked for."""
COUNTED = 10_000
"""Up to which runs are counted."""
TEXT_SEARCHED = 4_000
"""Of the request and of the final text, the characters that a search looks at."""


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs. An empty tuple does not limit; of several values any fits; of several fields all must.

    `suite`: suites and rule files, or FILE/RULE for one rule. `status`, `failure`, `owner`, `origin`, `expected`,
    `observed` and the marks `forbidden`, `unauthorized`, `infra`, `catalog_gap` are said by an expectation: one
    decision of the run, under `suite` where that is given, fits them all. `expected` and `observed` are of the same
    cell of the confusion matrix. `first_action` and `called` are names as that expectation sees them, else as the trace
    has them. `has`: all of the marks. `text` is found in the request or the final text (`TEXT_SEARCHED` characters of
    each, case does not matter), or is the beginning of a run id or trace id.
    """

    since_ns: int | None = None
    until_ns: int | None = None
    suite: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    failure: tuple[str, ...] = ()
    owner: tuple[str, ...] = ()
    origin: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    service: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    provider: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ()
    catalog: tuple[str, ...] = ()
    tenant: tuple[str, ...] = ()
    label: tuple[str, ...] = ()
    case: tuple[str, ...] = ()
    first_action: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    has: tuple[Mark, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What one expectation says of a run, in short. `rule` "" for a suite; `suite` "labels" for labelled traffic."""

    suite: str
    rule: str
    status: Status
    expected: str | None = None
    observed: str | None = None
    failure: str | None = None
    owner: str | None = None
    excluded: str | None = None
    severity: str = ""
    origin: Origin = "suite"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One row of a list. `request`: its first characters. `calls`: how many. `standings`: in order of suite and rule,
    without the one of no expectation. What the trace does not say is None or "".
    """

    run_id: str
    trace_id: str
    start_ns: int
    first_action: str
    observed_class: str
    request: str | None = None
    agent: str | None = None
    service: str = ""
    model: str | None = None
    provider: str | None = None
    prompt_version: str | None = None
    catalog_id: str | None = None
    case_id: str | None = None
    label: str | None = None
    tenant: str = ""
    incomplete: bool = False
    duration_ns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    calls: int = 0
    ghosts: tuple[str, ...] = ()
    standings: tuple[Standing, ...] = ()

    @property
    def tokens(self) -> int | None:
        """Of input and output together, None when neither is known."""
        known = [n for n in (self.input_tokens, self.output_tokens) if n is not None]
        return sum(known) if known else None

    @property
    def worst(self) -> Standing | None:
        """The standing to look at first: failed, then in need of review, excluded, passed."""
        return min(self.standings, key=lambda s: _URGENCY.index(s.status), default=None)


_URGENCY: tuple[Status, ...] = ("fail", "needs_review", "excluded", "pass", "n/a")


@dataclass(frozen=True, slots=True)
class RunPage:
    """`next` and `previous` are cursors of the neighbouring pages, None where there is none. A cursor holds a place in
    the order, not a number of rows: whatever arrives meanwhile, nothing that was there is left out or comes twice.
    """

    rows: tuple[RunSummary, ...]
    next: str | None = None
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class Count:
    """How many runs fit. `exact` False: more than `n`, which is `COUNTED` then."""

    n: int
    exact: bool


@dataclass(frozen=True, slots=True)
class FacetValue:
    value: str
    n: int


@dataclass(frozen=True, slots=True)
class RunRecord:
    """Everything on one run but its raw spans. `decisions`: of all suites, rules and labels, and the one of none.
    `verdicts`: of suites, with evidence. `labels`: as they stand. `children`: in order of start.
    """

    run: Run
    tenant: str
    decisions: tuple[Decision, ...]
    verdicts: tuple[RunVerdict, ...]
    labels: tuple[Label, ...]
    parent: RunSummary | None
    children: tuple[RunSummary, ...]


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    """A suite (`rule` "") or one rule of a rule file within a window. `statuses`: runs by status."""

    suite: str
    rule: str
    runs: int
    cases: int
    statuses: Mapping[str, int]
    first_ns: int
    last_ns: int
    origin: str = "suite"


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run of a case under one suite, as far as its history needs it. `expected`, `observed`: of the first cell."""

    run_id: str
    start_ns: int
    status: Status
    first_action: str
    selection: str
    expected: str | None = None
    observed: str | None = None
    excluded: str | None = None
    failure: str | None = None
    owner: str | None = None
    label: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class CaseHistory:
    """A case within a window. `recent`: its latest runs, oldest first. `last_failure`: its latest failed run."""

    suite: str
    case_id: str
    runs: int
    statuses: Mapping[str, int]
    first_ns: int
    last_ns: int
    recent: tuple[CaseRun, ...]
    last_failure: CaseRun | None = None


@dataclass(frozen=True, slots=True)
class CatalogSeen:
    """A catalog of the store and the runs of a window that were offered it."""

    id: str
    runs: int
    first_ns: int
    last_ns: int
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = field(default=())


class Browse(Protocol):
    """The part of a `Store` that pages and the read API ask: `Store.browse`. Every method may raise `StoreError`."""

    def runs(
        self,
        of: RunFilter,
        *,
        tenant: str | None,
        sort: Sort = "start",
        descending: bool = True,
        cursor: str | None = None,
        limit: int = 50,
    ) -> RunPage:
        """One page, of at most `limit` (and `MOST_ROWS`) rows. Runs that do not have what is sorted by come last.

        Raises UsageError for a cursor of another order, or none of ours.
        """
        ...

    def count(self, of: RunFilter, *, tenant: str | None) -> Count: ...

    def summaries(self, run_ids: Sequence[str], *, tenant: str | None) -> tuple[RunSummary, ...]:
        """Those of these runs (1,000 at most) that are there for the tenant, in the given order."""
        ...

    def facets(
        self, of: RunFilter, *, tenant: str | None, names: Sequence[Facet] = FACETS, limit: int = 50
    ) -> Mapping[Facet, tuple[FacetValue, ...]]:
        """The values that runs have, with how many have each, most frequent first, `limit` at most of each name.

        Only the window of `of` limits them, so that a filter does not hide the values beside its own. `suite` has names
        of suites, of rule files and FILE/RULE; it and what else an expectation says count decisions. Numbers may be
        slightly too high as long as rows of runs that were judged again are not merged.
        """
        ...

    def run(self, run_id: str, *, tenant: str | None) -> RunRecord | None: ...

    def spans(self, run: Run, *, tenant: str | None, limit: int = 2_000) -> tuple[Span, ...]:
        """The raw spans of the traces of a run, in order of time; those of other tenants are left out."""
        ...

    def neighbours(
        self, run_id: str, of: RunFilter, *, tenant: str | None, sort: Sort = "start", descending: bool = True
    ) -> tuple[str | None, str | None]:
        """Ids of the runs before and after this one in a list."""
        ...

    def first_ns(self, *, tenant: str | None) -> int | None:
        """When the first run started, None without runs; that of a run that is none any more may still count."""
        ...

    def suites(
        self,
        *,
        tenant: str | None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        suite: str | None = None,
    ) -> tuple[SuiteSummary, ...]:
        """Suites and rules with decisions in the window, in order of name (1,000 at most); labels under "labels".
        `suite`: only those of this name.
        """
        ...

    def cases(
        self,
        suite: str,
        *,
        tenant: str | None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        after: str | None = None,
        limit: int = 100,
        recent: int = 30,
    ) -> tuple[CaseHistory, ...]:
        """Cases of a suite with runs in the window, in order of id, after one; `recent` runs of each."""
        ...

    def case(
        self,
        suite: str,
        case_id: str,
        *,
        tenant: str | None,
        since_ns: int | None = None,
        until_ns: int | None = None,
        recent: int = 500,
    ) -> CaseHistory | None: ...

    def catalogs(
        self, *, tenant: str | None, since_ns: int | None = None, until_ns: int | None = None, limit: int = 500
    ) -> tuple[CatalogSeen, ...]:
        """Catalogs that runs of the window were offered, most used first."""
        ...

    def catalog(
        self, catalog_id: str, *, tenant: str | None, since_ns: int | None = None, until_ns: int | None = None
    ) -> Catalog | None:
        """One catalog with its tools, for `triage.catalogs`; None when no run of the window was offered it."""
        ...
