"""Tests of alert files: literal series under a simulated clock, and what must come of them (issue F)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from otel_toolselect.model.alerting import NotificationKind, Silence, Span, StateWord


@dataclass(frozen=True, slots=True)
class Step:
    """What was seen in one step: nothing (a gap), a bare number, a numerator or value with the n it rests on, or counts
    by name.
    """

    value: float | None = None
    n: int | None = None
    counts: Mapping[str, int] | None = None

    @property
    def gap(self) -> bool:
        return self.value is None and self.counts is None


@dataclass(frozen=True, slots=True)
class LateStep:
    """From `at_ns` on, the step that begins at `step_ns` holds this."""

    step_ns: int
    at_ns: int
    holds: Step
    line: int = 0


@dataclass(frozen=True, slots=True)
class TestSeries:
    """Steps for some alerts; `labels` are the values of their `by`; `reference`: the baseline or release."""

    __test__ = False

    alerts: tuple[str, ...]
    steps: tuple[Step, ...]
    labels: Mapping[str, str] = field(default_factory=dict)
    reference: Step | None = None
    late: tuple[LateStep, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class ExpectedNotification:
    """What is not written is not compared. `says` must be part of what the notification says, or of an annotation."""

    kind: NotificationKind
    value: float | None = None
    numerator: int | None = None
    n: int | None = None
    silenced: bool = False
    late: bool | None = None
    says: str | None = None


@dataclass(frozen=True, slots=True)
class ExpectedState:
    """At a time: the state of a series of an alert, and all that it had to tell since the last such list."""

    at_ns: int
    alert: str
    labels: Mapping[str, str] = field(default_factory=dict)
    state: StateWord | None = None
    notifications: tuple[ExpectedNotification, ...] | None = None
    says: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class AlertTest:
    """Time begins at `start_ns`; step i of each series covers [start + i * every, start + (i + 1) * every)."""

    name: str
    line: int
    start_ns: int
    every: Span
    series: tuple[TestSeries, ...]
    expect: tuple[ExpectedState, ...]
    silences: tuple[Silence, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertTestFile:
    """`alerts_file` is relative to this file."""

    path: str
    alerts_file: str
    tests: tuple[AlertTest, ...]
