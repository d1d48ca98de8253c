"""Channels: where to, how protected, what is tried again."""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from otel_toolselect.errors import InputError, UsageError

_MIB = 1024 * 1024
_RETRIED = {
    "maxAttempts": 4,
    "initialBackoff": "0.2s",
    "maxBackoff": "2s",
    "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE"],
}
# every method may be called twice: evaluating keeps nothing, and a label given again changes nothing. Streams go on by
# themselves, from their cursor
_SERVICES = ("toolselect.v1.EvaluationService", "toolselect.v1.ConfusionService")
_CONFIG = {"methodConfig": [{"name": [{"service": name} for name in _SERVICES], "retryPolicy": _RETRIED}]}
OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.max_receive_message_length", 64 * _MIB),
    ("grpc.max_send_message_length", 64 * _MIB),
    ("grpc.max_metadata_size", 64 * 1024),  # lists of mistakes come in the trailers
    ("grpc.absolute_max_metadata_size", 64 * 1024),
    ("grpc.keepalive_time_ms", 30_000),  # a stream notices that its server is gone
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.enable_retries", 1),
    ("grpc.service_config", json.dumps(_CONFIG)),
)


@dataclass(frozen=True, slots=True)
class Tls:
    """PEM files. `ca`: who signs servers, without it those that the system trusts. `certificate` and `key`: what this
    client shows. `server_name`: what the server's certificate must bear where that is not the host of the target.
    """

    ca: Path | str | None = None
    certificate: Path | str | None = None
    key: Path | str | None = None
    server_name: str | None = None

    def credentials(self) -> Any:
        """Raises UsageError, InputError for files that cannot be read."""
        if (self.certificate is None) != (self.key is None):
            raise UsageError("certificate and key belong together")
        return grpc.ssl_channel_credentials(_read(self.ca), _read(self.key), _read(self.certificate))

    def options(self) -> tuple[tuple[str, Any], ...]:
        return (("grpc.ssl_target_name_override", self.server_name),) if self.server_name else ()


def _read(path: Path | str | None) -> bytes | None:
    if path is None:
        return None
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error


@dataclass(frozen=True, slots=True)
class Way:
    """How a server is reached."""

    target: str
    token: str | None = None
    tls: Tls | None = None

    @classmethod
    def to(cls, target: str, token: str | None, tls: Tls | bool | None, plaintext: bool) -> Way:
        """`target`: host:port, or as an address with http or https before it. Raises UsageError."""
        scheme, mark, rest = target.rpartition("://")
        host = rest.rstrip("/")
        if mark and scheme not in ("http", "https"):
            raise UsageError(f"{target!r}: write host:port, http://host:port or https://host:port")
        wanted = tls if isinstance(tls, Tls) else Tls() if tls or (tls is None and scheme == "https") else None
        if token is not None and wanted is None and not plaintext and not _is_loopback(host):
            raise UsageError(f"the token would go to {host} unencrypted: give tls=True, or plaintext=True")
        return cls(host, token, wanted)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        return () if self.token is None else (("authorization", f"Bearer {self.token}"),)

    def channel(self, library: Any) -> Any:
        """`library`: grpc, or grpc.aio."""
        if self.tls is None:
            return library.insecure_channel(self.target, options=OPTIONS)
        credentials = self.tls.credentials()
        return library.secure_channel(self.target, credentials, options=(*OPTIONS, *self.tls.options()))


def _is_loopback(target: str) -> bool:
    host = target.rpartition(":")[0].strip("[]") or target
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
