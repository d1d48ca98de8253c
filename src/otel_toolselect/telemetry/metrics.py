"""Metrics for Prometheus: one registry per server, filled by collectors that read snapshots when somebody scrapes.

Source: Prometheus "Metric and label naming" and "Writing exporters" (collect on scrape, no global registry);
OpenMetrics 1.0 where the scraper asks for it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from prometheus_client import Metric

    from otel_toolselect.telemetry.histogram import Observed

log = logging.getLogger(__name__)
T = TypeVar("T")
K = TypeVar("K", str, tuple[str, ...])

PREFIX = "toolselect_"
OTHER = "other"
LABEL_VALUES = 50


class Collector(Protocol):
    """What any part registers to show figures of its own.

    `collect` is called at each scrape, in a thread that may wait; names begin with PREFIX. What it raises is counted in
    `toolselect_collector_errors_total` and leaves only its own figures out.
    """

    @property
    def name(self) -> str: ...

    def collect(self) -> Iterable[Metric]: ...


class Metrics:
    """The figures of one server. `register` may be called at any time; a scrape sees what is there then."""

    def __init__(self, collectors: Iterable[Collector] = ()) -> None:
        self._collectors: list[_Guarded] = []
        self._lock = threading.Lock()
        self._registry: Any = None
        for collector in collectors:
            self.register(collector)

    def register(self, collector: Collector) -> None:
        with self._lock:
            self._collectors.append(_Guarded(collector))

    def render(self, accept: str = "") -> tuple[bytes, str]:
        """The body of an answer and its content type, in the format that an `Accept` header asks for."""
        from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, choose_encoder, generate_latest

        source: Any = self  # has the one method that the encoders call
        try:
            encode, content_type = choose_encoder(accept)
        except (ValueError, TypeError):  # a version that is no number
            return generate_latest(source), CONTENT_TYPE_PLAIN_0_0_4
        return encode(source), content_type

    def collect(self) -> Iterable[Metric]:
        """What prometheus-client's encoders call."""
        from prometheus_client.core import CounterMetricFamily

        with self._lock:
            collectors = tuple(self._collectors)
        yield from self._process().collect()
        for guarded in collectors:
            yield from guarded.collect()
        errors = CounterMetricFamily(
            PREFIX + "collector_errors", "Scrapes that a part could not give its figures for.", labels=["collector"]
        )
        for guarded in collectors:
            errors.add_metric([guarded.name], guarded.errors)
        yield errors

    def _process(self) -> Any:
        """Memory, CPU and file descriptors of this process, build and platform: prometheus-client's own."""
        if self._registry is None:
            from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector

            registry = CollectorRegistry()
            ProcessCollector(registry=registry)
            PlatformCollector(registry=registry)
            self._registry = registry
        return self._registry


class _Guarded:
    """A collector whose failure costs its own figures and nothing else."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self.name = collector.name
        self.errors = 0

    def collect(self) -> list[Metric]:
        try:
            return list(self._collector.collect())
        except Exception as error:  # noqa: BLE001 - the other figures are wanted most when something is wrong
            self.errors += 1
            log.warning("no figures of %s: %s", self.name, type(error).__name__)
            return []


class Refreshed(Generic[T]):
    """A value that costs a query: asked anew at most every `every_s`, in a thread of its own.

    A call waits for a fresh value `patience_s` at most, then gives the last one, and None once that is older than
    `stale_s`: a scrape neither hangs on a store that is away nor shows figures of long ago.
    """

    def __init__(
        self, ask: Callable[[], T], *, every_s: float = 15.0, patience_s: float = 2.0, stale_s: float = 120.0
    ) -> None:
        self._ask = ask
        self._every_s, self._patience_s, self._stale_s = every_s, patience_s, stale_s
        self._lock = threading.Condition()
        self._asking = False
        self._value: T | None = None
        self._asked = self._answered = float("-inf")

    def get(self) -> T | None:
        with self._lock:
            if not self._asking and time.monotonic() - self._asked >= self._every_s:
                self._asking = True
                self._asked = time.monotonic()
                threading.Thread(target=self._run, name="toolselect-figures", daemon=True).start()
            self._lock.wait_for(lambda: not self._asking, self._patience_s)
            fresh = time.monotonic() - self._answered <= self._stale_s
            return self._value if fresh else None

    def _run(self) -> None:
        try:
            value = self._ask()
        except Exception as error:  # noqa: BLE001 - a store that is away is told by the metrics of inserts
            log.info("no figures of the store: %s", type(error).__name__)
            with self._lock:
                self._asking = False
                self._lock.notify_all()
            return
        with self._lock:
            self._value, self._answered, self._asking = value, time.monotonic(), False
            self._lock.notify_all()


def capped(counts: Mapping[K, float], other: K, limit: int = LABEL_VALUES) -> dict[K, float]:
    """Figures by label values, bounded: the `limit` largest under their names, the sum of the rest under `other`.

    For label values that come from data: tools, or pairs of them (then `other` is (OTHER, OTHER)). Equal figures go by
    name, so that the choice is the same at each scrape. What is itself named like `other` is one of the rest.
    """
    named = sorted((item for item in counts.items() if item[0] != other), key=lambda item: (-item[1], item[0]))
    kept = dict(named[:limit])
    rest = [figure for _, figure in named[limit:]]
    if rest or other in counts:
        kept[other] = sum(rest) + counts.get(other, 0)
    return kept


def histogram(name: str, text: str, observed: Observed) -> Metric:
    """A family of one histogram without labels."""
    from prometheus_client.core import HistogramMetricFamily

    return HistogramMetricFamily(name, text, buckets=list(observed.buckets), sum_value=observed.total)
