"""Figures of the store for /metrics: rows, parts and bytes of its tables, asked for at most every few seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from otel_toolselect.telemetry.metrics import OTHER, PREFIX, Refreshed, capped

if TYPE_CHECKING:
    from prometheus_client import Metric

    from otel_toolselect.store import Store, TableSize


class StoreCollector:
    """A collector for `Receiver(collectors=...)`. A store that does not answer in time has no figures, nothing more."""

    name = "store"

    def __init__(self, store: Store) -> None:
        self._sizes = Refreshed(store.sizes)

    def collect(self) -> Iterable[Metric]:
        sizes = self._sizes.get()
        if sizes is None:
            return
        yield _gauge("store_rows", "Rows of a table, with repeats that are not merged yet.", sizes, lambda s: s.rows)
        yield _gauge("store_parts", "Active parts of a table; too many slow inserts down.", sizes, lambda s: s.parts)
        yield _gauge("store_bytes", "Size of a table on disk, compressed.", sizes, lambda s: s.bytes)


def _gauge(name: str, text: str, sizes: Iterable[TableSize], figure: Callable[[TableSize], int]) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(PREFIX + name, text, labels=["table"])
    for table, value in capped({size.table: figure(size) for size in sizes}, OTHER).items():
        family.add_metric([table], value)
    return family
