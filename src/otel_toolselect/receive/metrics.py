"""The receiver's own figures for Prometheus; docs/operations.md says what each means and what to do about it."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from otel_toolselect import __version__
from otel_toolselect.receive.counters import ByLabel, Counters
from otel_toolselect.receive.drain import Drainer
from otel_toolselect.receive.health import Health
from otel_toolselect.receive.settings import Settings
from otel_toolselect.receive.spool import Spool
from otel_toolselect.telemetry.metrics import PREFIX, histogram

if TYPE_CHECKING:
    from prometheus_client import Metric

_COUNTED = {
    "accepted_spans": ("spans", "Spans that were acknowledged and kept; repeats of a sender count each time."),
    "accepted_logs": ("logs", "Log records that were acknowledged and kept."),
    "delivered_spans": ("delivered_spans", "Spans that the store took."),
    "delivered_logs": ("delivered_logs", "Log records that the store took."),
    "decode_warnings": ("warnings", "Things that were put right while decoding (lenient reading)."),
    "inserts": ("inserts", "Inserts into the store that succeeded; each holds many requests."),
    "insert_failures": ("insert_failures", "Attempts to insert into the store that failed, tried again or not."),
    "replayed_requests": ("replayed", "Requests of an earlier process that were found in the spool at the start."),
    "spool_torn_bytes": ("torn_bytes", "Bytes at the end of spool segments that were no whole record."),
    "dead_letters": ("dead_letters", "Requests kept in the dead-letter folder."),
    "dead_letters_by_age": ("dead_letters_by_age", "Of the dead letters, those that waited too long for the store."),
    "reload_failures": (
        "reload_failures",
        "Files of tokens or certificates that changed and could not be used; what was read before stays in force.",
    ),
    "dead_letters_not_kept": ("dead_letters_not_kept", "Requests that the dead-letter folder had no room for."),
}
"""Metric name without prefix and `_total`: field of Counters, help."""


class ReceiverCollector:
    """Reads snapshots; nothing is counted here."""

    name = "receiver"

    def __init__(self, settings: Settings, counters: Counters, spool: Spool, drainer: Drainer, health: Health) -> None:
        self._settings = settings
        self._counters = counters
        self._spool = spool
        self._drainer = drainer
        self._health = health

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import InfoMetricFamily

        counts = self._counters.snapshot()
        for name, (counted, text) in _COUNTED.items():
            yield _counter(name, text, [], {(): counts[counted]})
        yield from _labelled(self._counters.by_label())
        yield histogram(
            PREFIX + "ack_seconds",
            "From a request that arrived in full to its acknowledgement, kept on disk.",
            self._counters.ack_s.snapshot(),
        )
        yield histogram(
            PREFIX + "drain_lag_seconds",
            "From the acknowledgement of a request to its spans in the store.",
            self._counters.lag_s.snapshot(),
        )
        yield from self._gauges()
        versions = {"version": __version__, "python": platform.python_version()}
        yield InfoMetricFamily(PREFIX + "build", "What is running.", value=versions)

    def _gauges(self) -> Iterable[Metric]:
        from prometheus_client.core import GaugeMetricFamily

        read: dict[str, tuple[str, Callable[[], float]]] = {
            "spool_bytes": ("Acknowledged bytes that the store has not taken yet.", lambda: self._spool.waiting_bytes),
            "spool_limit_bytes": (
                "Beyond this many bytes senders are told to come back later.",
                lambda: self._settings.spool_bytes,
            ),
            "spool_oldest_seconds": (
                "How long the oldest acknowledged request has waited for the store; 0: none waits.",
                self._drainer.oldest_s,
            ),
            "ready": (
                "1 while the receiver takes requests, as /readyz says.",
                lambda: self._health.readiness == "ready",
            ),
        }
        for name, (text, figure) in read.items():
            yield GaugeMetricFamily(PREFIX + name, text, value=float(figure()))


def _labelled(counts: ByLabel) -> Iterable[Metric]:
    yield _counter(
        "requests",
        "Export requests by how they were answered.",
        ["protocol", "outcome"],
        {tuple(key): n for key, n in counts.answers.items()},
    )
    yield _counter("refused_requests", "Requests that were not taken, by reason.", ["reason"], _keyed(counts.refusals))
    yield _counter(
        "rejected_records",
        "Spans and log records left out of requests that were otherwise kept, by reason.",
        ["reason"],
        _keyed(counts.rejections),
    )
    yield _counter(
        "record_alterations",
        "What was done to records that were kept: cut, marked, redacted.",
        ["kind"],
        _keyed(counts.alterations),
    )
    yield _counter(
        "quota_refusals", "Requests over the quota of a token, by its name.", ["token"], _keyed(counts.over_quota)
    )


def _keyed(counts: Mapping[str, int]) -> dict[tuple[str, ...], int]:
    return {(label,): n for label, n in counts.items()}


def _counter(name: str, text: str, labels: list[str], counts: Mapping[tuple[str, ...], int]) -> Metric:
    from prometheus_client.core import CounterMetricFamily

    family = CounterMetricFamily(PREFIX + name, text, labels=labels)
    for values, n in counts.items():
        family.add_metric(list(values), n)
    return family
