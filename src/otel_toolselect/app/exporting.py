"""Wiring of the export: verdicts as OpenTelemetry events, followed in the store (issue F point 7)."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from otel_toolselect.config import Export
from otel_toolselect.errors import StoreError
from otel_toolselect.telemetry.metrics import PREFIX

if TYPE_CHECKING:
    from prometheus_client import Metric

    from otel_toolselect.export.follower import Follower
    from otel_toolselect.store import Store

log = logging.getLogger(__name__)
STOP_S = 5.0
AFTERWARDS_S = 30.0
_COUNTED = (
    ("sent", "events", "Verdicts that the endpoint took."),
    ("repeated", "repeated", "Verdicts that said nothing new, and were not sent again."),
    ("refused", "refused", "Verdicts that the endpoint will never take."),
    ("failures", "failures", "Attempts that failed; what they held is sent later."),
)


@contextmanager
def exporting(store: Store, settings: Export, *, own_ports: Sequence[int | None] = ()) -> Iterator[Follower]:
    """Sends what is judged while the block lasts, going on where the last one stopped; at the end what is left, for
    some seconds. Raises UsageError when the endpoint is one of `own_ports`, and when the exporter is not installed.
    """
    from otel_toolselect.export.follower import Follower
    from otel_toolselect.export.sending import SETTING, Sender
    from otel_toolselect.telemetry.endpoints import refuse_loop

    refuse_loop(SETTING, settings.otlp_endpoint, own_ports)
    follower = Follower(store, Sender(settings.otlp_endpoint), lookback_s=settings.lookback_seconds)
    follower.start()
    try:
        yield follower
    finally:
        follower.stop(STOP_S)


def export_rest(store: Store, settings: Export) -> bool:
    """Sends what no other follower of this store has sent: for commands that judge and end. Whether all of it went, or
    another follower is at it; a failure is logged, and what is left is sent by the next.
    """
    from otel_toolselect.export.follower import Follower
    from otel_toolselect.export.sending import Sender

    follower = Follower(store, Sender(settings.otlp_endpoint), lookback_s=settings.lookback_seconds)
    try:
        done = follower.catch_up(AFTERWARDS_S)
    except StoreError as error:
        log.warning("verdicts were not exported: %s", error)
        done = False
    finally:
        follower.stop()
    return done


class ExportCollector:
    """A collector for `Receiver.metrics`."""

    name = "export"

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.core import CounterMetricFamily

        for field, name, text in _COUNTED:
            value = getattr(self._follower.figures, field)
            yield CounterMetricFamily(f"{PREFIX}export_{name}", text, value=value)
