"""What a receiver is given: its settings, and the sink that it feeds."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from otel_toolselect.config.sections import Limits, Redact, Retention
from otel_toolselect.errors import UsageError
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.otlp.limits import DEFAULT, MIB
from otel_toolselect.receive.records import Compression


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
    """What senders must present as `authorization: Bearer ...`. It opens everything."""
    tokens: Path | None = None
    """A file of tokens (`receive.tokens`), read again when it changes."""
    tls_cert: Path | None = None
    """With `tls_key`, both PEM: the ports speak TLS. Read again when they change."""
    tls_key: Path | None = None
    tls_client_ca: Path | None = None
    """Clients must show a certificate that it signed."""
    allow_unauthenticated: bool = False
    """Anybody may send, from anywhere."""
    allow_plaintext: bool = False
    """Tokens may travel unencrypted over a network, as behind a proxy that ends TLS."""
    max_request_bytes: int = DEFAULT.max_bytes
    limits: Limits = Limits()
    retention: Retention = Retention()
    redact: Redact = Redact()
    spool_bytes: int = 1024 * MIB
    """Acknowledged and not yet in the store; beyond it senders are told to come back later."""
    spool_max_age_s: float = 0.0
    """What the store did not take for so long goes to the dead letters; 0: it waits as long as it must."""
    spool_compression: Compression = "none"
    segment_bytes: int = 16 * MIB
    memory_bytes: int = 8 * MIB
    """Size of requests that wait in memory; beyond it they are read back from the spool."""
    dead_letter_bytes: int = 256 * MIB
    """Bodies that were refused, kept to look at; beyond it only the count grows. Acknowledged ones are kept always."""
    insert_spans: int = 10_000
    insert_bytes: int = 8 * MIB
    insert_delay_s: float = 0.25
    retry_after_s: float = 5.0
    store_backoff_s: float = 5.0
    """The longest pause between two attempts while the store is away."""
    stop_s: float = 30.0
    """How long a graceful stop may drain; what is left then stays in the spool for the next start."""

    def check(self) -> None:
        """Raises UsageError with everything that cannot work or would open a port to everybody (design section 10)."""
        problems = [*self._tls_problems(), *self._open_problems()]
        if self.limits.in_flight_bytes < 4 * self.max_request_bytes:
            least = 4 * self.max_request_bytes
            problems.append(f"limits.in_flight_bytes must be {least} or more: four times the largest request")
        if problems:
            raise UsageError("\n".join(problems))

    @property
    def asks_who(self) -> bool:
        """Whether senders must show who they are."""
        return self.bearer_token is not None or self.tokens is not None or self.tls_client_ca is not None

    def _tls_problems(self) -> list[str]:
        problems = []
        if (self.tls_cert is None) != (self.tls_key is None):
            there, missing = ("tls_cert", "tls_key") if self.tls_key is None else ("tls_key", "tls_cert")
            problems.append(f"receive.{missing} is missing: {there} is of no use without")
        if self.tls_client_ca is not None and (self.tls_cert is None or self.tls_key is None):
            problems.append("receive.tls_client_ca needs tls_cert and tls_key: without TLS nobody shows a certificate")
        return problems

    def _open_problems(self) -> list[str]:
        if is_loopback(self.host):
            return []
        where = f"listening on {self.host}, which is not loopback,"
        if not self.asks_who:
            if self.allow_unauthenticated:
                return []
            return [
                f"{where} needs a bearer token (TOOLSELECT_TOKEN), a file of tokens (--tokens) or client certificates "
                "(--tls-client-ca); --allow-unauthenticated lets anybody send"
            ]
        if self.tls_cert is None and not self.allow_plaintext:
            return [
                f"{where} would take tokens in plain text: give --tls-cert and --tls-key, or --allow-plaintext where "
                "something else encrypts"
            ]
        return []


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
