"""What the functions return. Every result shows itself in a notebook; what came from a trace is escaped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otel_toolselect.errors import UsageError
from otel_toolselect.model.runs import Run
from otel_toolselect.notebook import _charts, _frames

if TYPE_CHECKING:
    import altair
    import pandas as pd

    from otel_toolselect.model.figures import Report
    from otel_toolselect.model.gating import Comparison as Compared
    from otel_toolselect.model.gating import GateResult
    from otel_toolselect.stats.windowed import Windowed

_SUFFIXES = {".html": "html", ".json": "json", ".md": "markdown", ".xml": "junit", ".txt": "table"}
_SHOWN = 20
"""Rows that a result shows of itself; its data frames have all."""


class _Shown(ABC):
    """Says in a plain shell what a notebook shows above the tables."""

    @property
    @abstractmethod
    def _head(self) -> str: ...

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._head}>"


@dataclass(frozen=True, repr=False)
class Runs(_Shown, Sequence[Run]):
    """Agent runs, in the order of their start."""

    found: tuple[Run, ...]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per run."""
        return _frames.runs(self.found)

    @cached_property
    def events(self) -> pd.DataFrame:
        """One row per event: texts, calls with arguments, results."""
        return _frames.events(self.found)

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.found)

    @property
    def _head(self) -> str:
        return f"{len(self)} runs"

    def _repr_html_(self) -> str:
        columns = ["start", "agent", "model", "request", "first_action", "duration_s", "complete", "run_id"]
        frame = self.frame.reindex(columns=columns)
        return _section(self._head, _table(frame))


@dataclass(frozen=True, repr=False)
class Scorecard(_Shown):
    """A suite's figures. `report` is the model behind it, `runs` the judged runs by id where they were at hand."""

    report: Report
    runs: Mapping[str, Run]

    @property
    def passed(self) -> bool:
        """Something was judged, and no judged run failed at any layer: what exit code 0 says."""
        judged = [run for run in self.report.runs if not run.excluded]
        return bool(judged) and not any(v.status == "fail" for run in judged for v in run.layers.values())

    @cached_property
    def summary(self) -> pd.DataFrame:
        """Rates by layer, each with n and its Wilson 95 % interval."""
        return _frames.summary(self.report)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """One row per run."""
        return _frames.verdicts(self.report)

    @property
    def failures(self) -> pd.DataFrame:
        """The rows of `verdicts` that failed at some layer."""
        return self.verdicts[(self.verdicts == "fail").any(axis=1) & self.verdicts["excluded"].isna()]

    @cached_property
    def confusion(self) -> pd.DataFrame:
        """Expected labels down, observed first actions across."""
        return _frames.matrix(self.report.confusion)

    @cached_property
    def tools(self) -> pd.DataFrame:
        """Recall and precision per tool, with intervals."""
        return _frames.tools(self.report.confusion)

    @cached_property
    def flips(self) -> pd.DataFrame:
        """Repeated cases: how steady."""
        from otel_toolselect.stats import repeats

        return _frames.flips(repeats(self.report.runs).cases)

    def chart(self) -> altair.LayerChart:
        """The confusion matrix as a heat map."""
        return _charts.heat_map(self.report.confusion)

    def chart_summary(self) -> altair.LayerChart:
        """The rates by layer with their intervals."""
        return _charts.bars(self.summary, "layer")

    def save(self, path: str | Path, form: str | None = None) -> None:
        """Write the report that `toolselect score -o` writes; the form is told by the name unless given.

        Raises UsageError for a form that is not known.
        """
        from otel_toolselect.reports import Material, render, writers

        wanted = form or _SUFFIXES.get(Path(path).suffix, "")
        if wanted not in writers():
            raise UsageError(f"no form of report is known for {str(path)!r}; give form=, one of {', '.join(writers())}")
        Path(path).write_text(render(wanted, self.report, Material(dict(self.runs))), encoding="utf-8")

    @property
    def _head(self) -> str:
        summary = self.report.summary
        selection = summary.layers["selection"]
        right = f", {selection.passed} of {selection.n} selected rightly" if selection.n else ""
        return f"{self.report.suite}: {summary.judged} of {summary.runs} runs judged{right}"

    def _repr_html_(self) -> str:
        parts = [_table(_percent(self.summary[self.summary["n"] > 0]))]
        if self.report.confusion.cells:
            parts += ["<p>confusion: expected down, observed across</p>", _table(self.confusion)]
        if len(self.failures):
            columns = ["case_id", "request", "expected", "first_action", "failure"]
            parts += ["<p>failures</p>", _table(self.failures.reindex(columns=columns))]
        return _section(self._head, *parts)


@dataclass(frozen=True, repr=False)
class Windows(_Shown):
    """Confusion over windows; `found` in order of time, then of what it is cut by."""

    found: tuple[Windowed, ...]
    zone: str

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row per window and combination; an empty window has n 0 and no rate."""
        return _frames.windows(self.found, self.zone)

    @cached_property
    def tools(self) -> pd.DataFrame:
        """Recall and precision per tool in each window."""
        return _frames.window_tools(self.found, self.zone)

    def chart(self) -> altair.LayerChart:
        """The share of right first actions over time, with its interval."""
        return _charts.over_time(self.found, self.zone)

    @property
    def _head(self) -> str:
        return f"{len(self.found)} windows, times in {self.zone}"

    def _repr_html_(self) -> str:
        return _section(self._head, _table(_percent(self.frame)))


@dataclass(frozen=True, repr=False)
class Comparison(_Shown):
    """Sides over the cases that all of them have."""

    found: Compared

    @cached_property
    def sides(self) -> pd.DataFrame:
        return _frames.sides(self.found)

    @cached_property
    def flipped(self) -> pd.DataFrame:
        """Cases whose outcome or route differs from the first side's."""
        return _frames.flipped(self.found)

    @cached_property
    def moved(self) -> pd.DataFrame:
        """Cells of the confusion matrix whose share of their row differs from the first side's."""
        return _frames.moved(self.found)

    def chart(self) -> altair.LayerChart:
        """Accuracy of each side with its interval."""
        return _charts.bars(self.sides, "side")

    @property
    def _head(self) -> str:
        return f"{self.found.suite}: {len(self.found.cases)} cases on all sides"

    def _repr_html_(self) -> str:
        return _section(self._head, _table(_percent(self.sides)), _table(self.flipped), _table(self.moved))


@dataclass(frozen=True, repr=False)
class Gated(_Shown):
    """What a gate decided."""

    result: GateResult

    @property
    def outcome(self) -> str:
        """pass, fail or inconclusive."""
        return self.result.outcome

    @cached_property
    def conditions(self) -> pd.DataFrame:
        return _frames.conditions(self.result)

    @property
    def _head(self) -> str:
        return f"{self.result.suite}: {self.outcome}"

    def _repr_html_(self) -> str:
        return _section(self._head, _table(self.conditions))


def _section(head: str, *parts: str) -> str:
    return f"<div><p><strong>{escape(head)}</strong></p>{''.join(parts)}</div>"


def _table(frame: pd.DataFrame) -> str:
    """`to_html` escapes texts and the names of rows and columns."""
    more = f"<p>{len(frame) - _SHOWN} more rows</p>" if len(frame) > _SHOWN else ""
    shown = frame.head(_SHOWN).astype(object)
    named = frame.index.name is not None
    return str(shown.where(shown.notna(), "").to_html(border=0, index=named)) + more


def _percent(frame: pd.DataFrame) -> pd.DataFrame:
    """Shares as a reader takes them in."""
    shown = frame.copy()
    for name in ("rate", "low", "high", "flip_rate", "worst_recall"):
        if name in shown:
            shown[name] = shown[name].map(lambda x: "" if x is None or x != x else f"{x:.1%}")
    return shown
