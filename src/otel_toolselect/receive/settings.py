"""What a receiver is given: its settings, and the sink that it feeds."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from otel_toolselect.errors import UsageError
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.otlp.limits import DEFAULT, MIB


class Sink(Protocol):
    """Where acknowledged spans go; called from one thread only, never twice at the same time."""

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord], /) -> None:
        """Durable on return. An identical span sent again must not become a second one: after a crash, what
        was inserted but not yet crossed off is inserted again. A failure whose cause may pass raises an
        error that is `retryable`, or another EnvironmentProblem.
        """


@dataclass(frozen=True, slots=True)
class Settings:
    """Ports of 0 mean any free one; None leaves that server out. Sizes are in bytes, times in seconds."""

    spool: Path
    host: str = "127.0.0.1"
    grpc_port: int | None = 4317
    http_port: int | None = 4318
    bearer_token: str | None = None
    """What senders must present as `authorization: Bearer ...`; may be left out on loopback only."""
    max_request_bytes: int = DEFAULT.max_bytes
    spool_bytes: int = 1024 * MIB
    """Acknowledged and not yet in the store; beyond it senders are told to come back later."""
    segment_bytes: int = 16 * MIB
    memory_bytes: int = 32 * MIB
    """Size of requests that wait in memory; beyond it they are read back from the spool."""
    dead_letter_bytes: int = 256 * MIB
    """Bodies that were refused, kept to look at; beyond it only the count grows."""
    insert_spans: int = 10_000
    insert_bytes: int = 16 * MIB
    insert_delay_s: float = 0.2
    retry_after_s: float = 5.0
    store_backoff_s: float = 5.0
    """The longest pause between two attempts while the store is away."""
    stop_s: float = 30.0
    """How long a graceful stop may drain; what is left then stays in the spool for the next start."""

    def check(self) -> None:
        """Raises UsageError for settings that would open a port to everybody (design section 10)."""
        if self.bearer_token is None and not is_loopback(self.host):
            raise UsageError(f"listening on {self.host} needs a bearer token: only a loopback address may go without")


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
