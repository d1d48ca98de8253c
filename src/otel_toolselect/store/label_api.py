"""What a store promises to those who label production traffic (R14, R47). See `api` for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.labels import Frame, Label, Source


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a day is sampled: all failures, `per_stratum` runs of each other stratum, and `random` runs of all.
    The same day and seed give the same sample. `unsure_below`: confidence in the reading of a text without a call.
    """

    seed: str = "toolselect"
    per_stratum: int = 5
    random: int = 20
    unsure_below: float = 0.5


class Labels(Protocol):
    """The part of a `Store` that keeps labels: `Store.labels`. Every method may raise `StoreError`."""

    def write(self, labels: Sequence[Label]) -> None:
        """Keep labels. One replaces that of the same run, source and labeller, which stays as history."""
        ...

    def of_runs(self, run_ids: Sequence[str]) -> tuple[Label, ...]:
        """Labels that stand, in order of (run, source, labeller); also of runs that are none any more."""
        ...

    def history(self, run_id: str) -> tuple[Label, ...]:
        """All labels that were ever given on a run, in the order in which they were written, withdrawn ones too."""
        ...

    def all(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        source: Source | None = None,
        labeller: str | None = None,
    ) -> Iterator[Label]:
        """Labels that stand, in order of (run, source, labeller); the window is over the start of their runs."""
        ...

    def find(self, prefix: str, limit: int = 6) -> tuple[str, ...]:
        """Ids of runs that begin so; else of the runs that answer the user in traces whose id begins so."""
        ...

    def decisions(self, run_ids: Sequence[str], since_ns: int, until_ns: int) -> tuple[Decision, ...]:
        """All decisions on these runs, if they start within the window: under suites, rules, labels and none."""
        ...

    def frame(self, since_ns: int, until_ns: int, sampling: Sampling, day: str = "") -> Frame:
        """The complete runs that start within a window, by stratum, and the sample of them.

        Strata: `failure` (a rule failed), `unsure: ACTION` (something needs review, a text without a call reads as
        more than one thing, a tool was called that was not offered), `tool: ACTION` (the rest), by first action. A run
        is in the sample by its stratum or by the random draw over all; `chance` is that of either. Labels change
        neither strata nor sample, so that it can be drawn again.
        """
        ...
