"""Where telemetry goes: addresses of OTLP over HTTP."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from otel_toolselect.errors import UsageError


def address(endpoint: str, path: str) -> str:
    """OTLP exporter specification: the base address gets the path of the signal, one with a path keeps its own."""
    return endpoint if urlsplit(endpoint).path.strip("/") else endpoint.rstrip("/") + path


def refuse_loop(setting: str, endpoint: str, own_ports: Sequence[int | None]) -> None:
    """Raises UsageError, naming the setting, when the endpoint is one of these ports of this machine."""
    parts = urlsplit(endpoint)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise UsageError(f"{setting}: {endpoint} has no port that can be") from None
    if port in own_ports and _is_here(parts.hostname or ""):
        raise UsageError(f"{setting}: {endpoint} is this receiver itself; name another, say a Collector's")


def _is_here(host: str) -> bool:
    """Is this an address of this machine? Only those can be bound; with UDP nothing is sent and no port is taken."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    for family, kind, protocol, _, address in found:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.bind(address)
        except OSError:
            continue
        return True
    return False
