"""Figures of a monitor for /metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from otel_toolselect.telemetry.metrics import PREFIX

if TYPE_CHECKING:
    from prometheus_client import Metric

    from otel_toolselect.monitor.runner import Monitor

_COUNTED = (
    ("rounds", "Rounds in which alerts were evaluated."),
    ("windows", "Windows that were decided on."),
    ("failed_rounds", "Rounds that ended early: the store did not answer, or a mistake of ours."),
    ("delivered", "Notifications that a target took."),
    ("dead", "Notifications that no target took in the time they are given."),
)


class MonitorCollector:
    """A collector for `Receiver.metrics`."""

    name = "monitor"

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        figures = self._monitor.figures
        for name, text in _COUNTED:
            yield CounterMetricFamily(f"{PREFIX}monitor_{name}", text, value=getattr(figures, name))
        yield GaugeMetricFamily(
            PREFIX + "monitor_holder",
            "1 while this monitor evaluates; others on the store stand by.",
            float(figures.holder),
        )
        yield GaugeMetricFamily(
            PREFIX + "monitor_problems", "Alert, suite and rule files that are broken on disk now.", figures.problems
        )
