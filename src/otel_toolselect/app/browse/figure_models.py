"""View models of what is counted over many runs: confusion, the cases of suites, the overview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.state_models import AlertRow
from otel_toolselect.model.alerting import Window
from otel_toolselect.model.figures import Rate, ToolFigures
from otel_toolselect.store.browse_api import CaseHistory, FacetValue, RunSummary, SuiteSummary

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
