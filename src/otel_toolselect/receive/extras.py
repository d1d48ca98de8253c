"""Services of other parts on the receiver's gRPC port."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from otel_toolselect.telemetry.metrics import Collector


@dataclass(frozen=True, slots=True)
class GrpcServices:
    """They stand behind the same guard as OTLP: its limits, its answers to errors, and whoever calls needs the scope
    `read` (`access.CALLER` says who it is). `names`: in full, as health checks ask for them.
    """

    names: tuple[str, ...]
    add: Callable[[Any], None]
    """Given the `grpc.aio.Server` before it starts."""
    figures: Collector
    """For /metrics."""
