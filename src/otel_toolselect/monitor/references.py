"""What a window is compared with: an earlier window, a baseline, the release before (issue F points 4 and 5).

- `previous`: the window that lies one period (without one: its own size) before.
- `baseline`: the accepted baseline file of the suite (`gates`), when the alert is about one suite and a file of it is
  configured; else the configured stretch of time, `baseline_window`; else there is none, and the alert is held.
- `release`: the window is compared with what ran before the last release that began before the window's end: the
  stretch from the release before that (at most 14 days) to its beginning. A release is a combination of model, prompt,
  catalog and `toolselect.label` that was not seen before in the alert's scope and series (without the tool); what comes
  up within a day of it belongs to it: a rollout reaches quiet agents late, and a hot fix is compared with what ran
  before the release that it mends. No release is what was there a day after the 28 days that are looked at begin, nor
  the return of a combination. A canary is one: give it a label, and alerts of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_toolselect.model.alerting import UNIT_NS, Query, Reference, Series, Window
from otel_toolselect.model.gating import Baseline
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.monitor.alerts.wording import instant
from otel_toolselect.store.alert_api import Sighting

HORIZON_NS = 28 * UNIT_NS["d"]
LONGEST_NS = 14 * UNIT_NS["d"]
_SETTLING_NS = UNIT_NS["d"]
_ROLLOUT_NS = UNIT_NS["d"]
_NAMES = ("model", "prompt", "catalog", "label")


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of time to compare with, and what it is called in a sentence."""

    window: Window
    name: str


@dataclass(frozen=True, slots=True)
class Baselines:
    """`files`: accepted baselines by suite. `window`: for everything else."""

    files: Mapping[str, Baseline]
    window: Window | None = None

    def place(self) -> Place | None:
        if self.window is None:
            return None
        return Place(self.window, f"the baseline from {instant(self.window.start_ns)}")

    def of(self, query: Query, series: Series) -> Baseline | None:
        suite = dict(series).get("suite") or (query.of.suite[0] if len(query.of.suite) == 1 else "")
        return self.files.get(suite)


def before_release(seen: Sequence[Sighting], window: Window) -> Place | None:
    """The stretch before the last release that began before the window's end; None when there was none."""
    releases: list[Sighting] = []
    for sighting in seen:
        if sighting.first_ns < window.end_ns and not (
            releases and sighting.first_ns - releases[-1].first_ns < _ROLLOUT_NS
        ):
            releases.append(sighting)
    if len(releases) < 2 or releases[-1].first_ns < window.end_ns - HORIZON_NS + _SETTLING_NS:
        return None
    before, last = releases[-2:]
    since = max(before.first_ns, last.first_ns - LONGEST_NS)
    return Place(Window(since, last.first_ns), f"what ran before {_changed(before, last)} of {instant(last.first_ns)}")


def _changed(before: Sighting, after: Sighting) -> str:
    changed = [
        f"{name} {getattr(after, name) or 'unnamed'}"
        for name in _NAMES
        if getattr(before, name) != getattr(after, name)
    ]
    return ", ".join(changed) or "the release"


def figure_of(baseline: Baseline, query: Query, series: Series) -> Reference | None:
    """A signal's figure in a baseline file; None for what such files do not hold."""
    counts = _counts(baseline, query, series)
    if counts is None:
        return None
    passed, n = counts
    name = name_of(baseline)
    if query.signal in ("accuracy", "wrong_tool") and not baseline.accuracy_n:
        value = baseline.accuracy if query.signal == "accuracy" else 1 - (baseline.accuracy or 0.0)
        return Reference(value, n, name=name)
    return Reference(passed / n if n else None, n, passed, name)


def name_of(baseline: Baseline) -> str:
    return f"the baseline of {baseline.suite} of {baseline.on}"


def _counts(baseline: Baseline, query: Query, series: Series) -> tuple[int, int] | None:
    signal, tools = query.signal, _tools(query, series)
    if signal in ("accuracy", "wrong_tool"):
        return _accuracy(baseline, wrong=signal == "wrong_tool")
    if signal == "recall" and tools:
        return _sum([baseline.recall.get(tool, (0, 0)) for tool in tools])
    if signal == "worst_recall":
        known = [counts for counts in baseline.recall.values() if counts[1] >= max(query.least, 1)]
        return min(known, key=lambda counts: (counts[0] / counts[1], -counts[1]), default=None)
    if signal == "precision" and tools:
        return _sum([_precision(baseline, tool) for tool in tools])
    if signal == "confusion_share" and query.of.pair is not None:
        pair = Cell(*query.of.pair)
        return dict(baseline.cells).get(pair, 0), baseline.recall.get(pair.expected, (0, 0))[1]
    if signal == "infra_rate" and "runs" in baseline.observations:
        seen = baseline.observations
        return seen.get("infra", 0), seen["runs"] - seen.get("incomplete", 0)
    return None


def _accuracy(baseline: Baseline, *, wrong: bool) -> tuple[int, int] | None:
    if baseline.accuracy is None:
        return None
    n = baseline.accuracy_n or baseline.observations.get("judged", 0)
    passed = round(baseline.accuracy * n)
    return (n - passed if wrong else passed), n


def _precision(baseline: Baseline, tool: str) -> tuple[int, int]:
    right = baseline.recall.get(tool, (0, 0))[0]
    return right, right + sum(n for cell, n in baseline.cells if cell.observed == tool)


def _tools(query: Query, series: Series) -> tuple[str, ...]:
    tool = dict(series).get("tool")
    return query.of.tool if tool is None else (tool,)


def _sum(counts: Sequence[tuple[int, int]]) -> tuple[int, int]:
    return sum(passed for passed, _ in counts), sum(n for _, n in counts)


def cells_of(baseline: Baseline) -> dict[Cell, int]:
    """The whole confusion of a baseline file, its diagonal from the recall of each label."""
    diagonal = {Cell(label, label): passed for label, (passed, _) in baseline.recall.items() if passed}
    return diagonal | dict(baseline.cells)


def mix_of(baseline: Baseline) -> dict[str, int]:
    """How often each label was observed."""
    mix: dict[str, int] = {}
    for cell, n in cells_of(baseline).items():
        mix[cell.observed] = mix.get(cell.observed, 0) + n
    return mix
