"""What live judging counts, for /metrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from otel_toolselect.model.decisions import Decision

_MOST_CELLS = 10_000


@dataclass(slots=True)
class LiveCounters:
    """All only grow, but for `waiting_traces`, `held_bytes` and `lag_s`, which say how things stand."""

    traces: int = 0
    runs: int = 0
    verdicts: int = 0
    decisions: int = 0
    retracted: int = 0
    read_back: int = 0
    """Traces that were read from the store, not taken from fresh spans."""
    faults: int = 0
    """Groups of traces that could not be assembled or judged: a mistake of ours, logged without content."""
    store_failures: int = 0
    sent_again: int = 0
    """Statements that failed and were sent again in place."""
    again: int = 0
    """Runs that took the place of earlier ones: late spans, or another worker's share taken over."""
    doubtful: int = 0
    """Traces that another worker may have judged at the same time, and are judged once more."""
    judged: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Decisions by suite (or rule file; "" is all traffic) and status, when a run is judged for the first time."""
    cells: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Of the same, cells of the confusion matrix: suite, expected, observed."""
    waiting_traces: int = 0
    held_bytes: int = 0
    lag_s: float = 0.0
    """Seconds since the first span of the trace that has waited longest."""

    def count_sent_again(self) -> None:
        self.sent_again += 1

    def count(self, decision: Decision) -> None:
        """Names of tools come from traces: only so many different cells are told apart."""
        self.judged[decision.suite, decision.status] += 1
        for cell in decision.cells:
            key = decision.suite, cell.expected, cell.observed
            if key in self.cells or len(self.cells) < _MOST_CELLS:
                self.cells[key] += 1
