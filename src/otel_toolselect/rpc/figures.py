"""Figures of the services for /metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from otel_toolselect.rpc.rooms import Room
from otel_toolselect.telemetry.metrics import PREFIX

if TYPE_CHECKING:
    from prometheus_client import Metric


class RpcCollector:
    """A collector (`telemetry.metrics.Collector`). `streams`: how many are open."""

    name = "rpc"

    def __init__(self, rooms: Sequence[Room], streams: Callable[[], int]) -> None:
        self._rooms = tuple(rooms)
        self._streams = streams

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        at_work = GaugeMetricFamily(
            PREFIX + "rpc_under_way", "Questions over gRPC that are at work or wait for it.", labels=["work"]
        )
        done = CounterMetricFamily(
            PREFIX + "rpc_answers",
            "Questions over gRPC by outcome: done, failed, slow, busy.",
            labels=["work", "outcome"],
        )
        for room in self._rooms:
            at_work.add_metric([room.name], room.under_way)
            for outcome, n in sorted(room.outcomes.items()):
                done.add_metric([room.name, outcome], n)
        yield at_work
        yield done
        yield GaugeMetricFamily(PREFIX + "rpc_streams", "Streams of verdicts that are open.", value=self._streams())
