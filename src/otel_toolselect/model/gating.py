"""Baselines, gates and comparisons: frozen data between `gates`, `reports` and the command line (R22, R42-R45, R56)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from otel_toolselect.model.experiments import Move
from otel_toolselect.model.figures import Rate
from otel_toolselect.model.verdicts import Cell

Outcome: TypeAlias = Literal["pass", "fail", "inconclusive", "n/a"]
Movement: TypeAlias = Literal["same", "moved", "unknown"]
IDENTITIES = ("model", "prompt", "catalog", "policy")
"""What can move a score: the three of R22, and the policy under which it was scored (R4)."""


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """What one case did: `passed` of `n` selections, its cells, its questions. `request` is a digest, None when it is
    not recorded or the attempts differ.
    """

    passed: int
    n: int
    cells: tuple[tuple[Cell, int], ...] = ()
    clarified: tuple[int, int] = (0, 0)
    risk: str | None = None
    request: str | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """What was accepted, by whom, and the different second reviewer (R42).

    With `cases` every other figure can be counted again from them; a hand-written baseline may do without, and then
    holds totals only. `accuracy_n` None: the author gave a rate without a count.
    """

    suite: str
    by: str
    reviewer: str
    on: str
    accuracy: float | None
    accuracy_n: int | None = None
    case_mean: float | None = None
    identities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    observations: Mapping[str, int] = field(default_factory=dict)
    flipping: tuple[str, ...] = ()
    repeated_cases: int = 0
    flip_rate: float | None = None
    recall: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    cells: tuple[tuple[Cell, int], ...] = ()
    """Off the diagonal only."""
    risk: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    clarification: tuple[int, int] = (0, 0)
    cases: Mapping[str, CaseRecord] | None = None


@dataclass(frozen=True, slots=True)
class Moved:
    """One identity on both sides; `unknown` when a side does not record it."""

    what: str
    movement: Movement
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Differences:
    """What keeps two sides from being compared on everything."""

    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()
    changed_request: tuple[str, ...] = ()
    identities: tuple[Moved, ...] = ()

    @property
    def moved(self) -> tuple[str, ...]:
        return tuple(m.what for m in self.identities if m.movement == "moved")


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """One condition of a gate: what it saw, its limit, the observations behind it (and what they are), the interval."""

    condition: str
    outcome: Outcome
    saw: str
    limit: str
    n: int
    unit: str
    explanation: str
    ci95: tuple[float, float] | None = None
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GateResult:
    """`outcome`: fail if a condition failed, else inconclusive if one was, else pass."""

    suite: str
    outcome: Outcome
    conditions: tuple[ConditionResult, ...]
    cases: int
    differences: Differences
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SideFigures:
    """One side of a comparison over the cases that all sides have. Cost and time: None where nothing is recorded;
    `*_n` are the runs behind them.
    """

    name: str
    runs: int
    judged: int
    infra: int
    accuracy: Rate
    case_mean: float | None
    case_majority: Rate
    flips: Rate
    identities: Mapping[str, tuple[str, ...]]
    catalog_sizes: tuple[int, ...]
    worst_recall: tuple[str, Rate] | None
    seconds_median: float | None
    seconds_p95: float | None
    seconds_n: int
    tokens_mean: float | None
    tokens_n: int
    cost_mean: float | None
    cost_n: int


@dataclass(frozen=True, slots=True)
class FlippedCase:
    """A case whose outcome by majority differs; actions are the first actions with counts, most frequent first."""

    case_id: str
    before: tuple[int, int]
    after: tuple[int, int]
    actions_before: tuple[tuple[str, int], ...]
    actions_after: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class MovedCell:
    """An off-diagonal cell whose share of its row differs on the common cases: (count, times expected) on either side.
    `kind`: new, grown, shrunk or gone; by shares, because the sides may be repeated unequally often.
    """

    cell: Cell
    before: tuple[int, int]
    after: tuple[int, int]
    kind: str


@dataclass(frozen=True, slots=True)
class Against:
    """One side against the first."""

    name: str
    differences: Differences
    lost: tuple[FlippedCase, ...]
    gained: tuple[FlippedCase, ...]
    rerouted: tuple[FlippedCase, ...]
    """Same outcome, another most frequent first action."""
    cells: tuple[MovedCell, ...]
    p: float | None
    moves: tuple[Move, ...] = ()
    """Which decisions went where (R53)."""


@dataclass(frozen=True, slots=True)
class CatalogPoint:
    """Accuracy of the runs of one side that were offered one catalog (R45)."""

    side: str
    catalog: str
    tools: int | None
    accuracy: Rate


@dataclass(frozen=True, slots=True)
class Comparison:
    suite: str
    cases: tuple[str, ...]
    sides: tuple[SideFigures, ...]
    against: tuple[Against, ...]
    catalogs: tuple[CatalogPoint, ...]
    outcomes: Mapping[str, tuple[tuple[int, int], ...]]
    """(passed, n) of every common case, one per side."""
