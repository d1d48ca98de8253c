"""Figures: what is reported of a suite or a window (R38, R39, R44; formulas in design section 7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from otel_toolselect.model.facts import CaseGroup, RunFacts
from otel_toolselect.model.verdicts import Cell, Layer, RunVerdict


@dataclass(frozen=True, slots=True)
class Rate:
    """passed / n with a Wilson 95 % interval; `rate` and `ci95` are None when n is 0 (undefined, never 0)."""

    passed: int
    n: int
    rate: float | None
    ci95: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ToolFigures:
    """`support` = row total (times expected), `chosen` = column total (times observed)."""

    recall: float | None
    precision: float | None
    f1: float | None
    support: int
    chosen: int
    correct: int


@dataclass(frozen=True, slots=True)
class WorstRecall:
    tool: str
    recall: float
    support: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """Counts by (expected, observed), sorted by both; the no-call labels are rows and columns like tools."""

    cells: tuple[tuple[Cell, int], ...]
    tools: Mapping[str, ToolFigures]
    worst_recall: WorstRecall | None


@dataclass(frozen=True, slots=True)
class Summary:
    runs: int
    judged: int
    infra: int
    catalog_gap: int
    incomplete: int
    layers: Mapping[Layer, Rate]


@dataclass(frozen=True, slots=True)
class Report:
    """Input of every report writer (schema `toolselect.report/1`)."""

    suite: str
    summary: Summary
    confusion: Confusion
    runs: tuple[RunVerdict, ...]
    unmatched_runs: int = 0
    cases_without_run: tuple[str, ...] = ()
    facts: Mapping[str, RunFacts] = field(default_factory=dict)
    groups: Mapping[str, CaseGroup] = field(default_factory=dict)
