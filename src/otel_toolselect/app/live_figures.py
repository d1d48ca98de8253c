"""Figures of live judging for /metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from otel_toolselect.telemetry.metrics import OTHER, PREFIX, capped

if TYPE_CHECKING:
    from prometheus_client import Metric

    from otel_toolselect.app.live import Live
    from otel_toolselect.judge.following import Follower

_COUNTED = (
    ("traces", "Traces judged, each time that they were."),
    ("runs", "Runs assembled and kept, each time that they were."),
    ("verdicts", "Verdicts of runs under suites."),
    ("decisions", "Decisions kept: one per run, and one per run and expectation."),
    ("retracted", "Runs that late spans made part of another one."),
    ("read_back", "Traces read from the store, not taken from fresh spans."),
    ("faults", "Failures to assemble or judge traces: a mistake of ours."),
    ("again", "Runs judged in place of earlier ones: late spans, or a share taken over."),
    ("doubtful", "Traces judged once more as another worker may have judged them at the same time."),
    ("sent_again", "Statements of judging that failed and were sent again in place."),
    ("store_failures", "Attempts to judge that failed because the store did not answer."),
)
_STANDING = (
    ("waiting_traces", "live_waiting_traces", "Traces that arrived and are not judged yet."),
    ("held_bytes", "live_held_bytes", "Memory for fresh spans of traces that wait."),
    ("lag_s", "live_lag_seconds", "Since the first span came of the trace that has waited longest."),
)


_MOST_SERIES = 200
"""Of a metric whose labels come from data: the largest keep their names."""


class LiveCollector:
    """A collector for `Receiver.metrics`."""

    name = "live"

    def __init__(self, live: Live) -> None:
        self._live = live

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        counters = self._live.judge.snapshot()
        for name, text in _COUNTED:
            yield CounterMetricFamily(f"{PREFIX}live_{name}", text, value=getattr(counters, name))
        for name, metric, text in _STANDING:
            yield GaugeMetricFamily(PREFIX + metric, text, value=getattr(counters, name))
        yield _labelled(
            "decisions",
            "Runs judged for the first time, by suite or rule file and outcome; no suite: all traffic.",
            ("suite", "status"),
            counters.judged.copy(),
        )
        yield _labelled(
            "confusion",
            "Cells of the confusion matrix of runs judged for the first time.",
            ("suite", "expected", "observed"),
            counters.cells.copy(),
        )
        files = self._live.files
        yield GaugeMetricFamily(
            PREFIX + "live_files_broken",
            "1 while a suite or rule file on disk is broken and the last good one is in force.",
            value=float(files.problem is not None),
        )
        yield CounterMetricFamily(
            PREFIX + "live_reloads", "Times that changed suite and rule files were taken over.", value=files.reloads
        )


def _labelled(name: str, text: str, labels: tuple[str, ...], counts: Mapping[tuple[str, ...], float]) -> Metric:
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(PREFIX + name, text, labels=labels)
    for values, count in capped(counts, (OTHER,) * len(labels), _MOST_SERIES).items():
        family.add_metric(values, count)
    return family


class FollowCollector:
    """A collector for what a follower of a store sees."""

    name = "follow"

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        counters = self._follower.counters
        for name, text in (
            ("told", "Traces that the followed store told of, each time that they got rows."),
            ("shared", "Those of this worker's share."),
            ("taken_over", "Traces taken over from workers that went."),
            ("failures", "Looks and reports that failed because a store did not answer."),
        ):
            yield CounterMetricFamily(f"{PREFIX}follow_{name}", text, value=getattr(counters, name))
        yield GaugeMetricFamily(PREFIX + "follow_workers", "Workers that share the judging.", value=counters.workers)
