"""OTLP/gRPC: TraceService/Export, LogsService/Export, health. Compression (gzip, deflate) is grpc's own."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health

from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.receive.access import CALLER
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.descriptors import room_for
from otel_toolselect.receive.extras import GrpcServices
from otel_toolselect.receive.gate import Gate
from otel_toolselect.receive.grpc_guard import Guard
from otel_toolselect.receive.intake import Intake
from otel_toolselect.receive.records import Request
from otel_toolselect.receive.settings import Settings
from otel_toolselect.receive.tls import Certificates, Loaded

SERVICES: dict[Signal, str] = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
}
_Handler = Callable[[bytes, Any], Awaitable[bytes]]


class GrpcServer:
    """Start, then `port` is the real one; stop lets calls under way end."""

    def __init__(
        self,
        intake: Intake,
        settings: Settings,
        gate: Gate,
        counters: Counters,
        certificates: Certificates | None = None,
        services: GrpcServices | None = None,
    ) -> None:
        self._services = services
        self._intake = intake
        self._settings = settings
        self._gate = gate
        self._counters = counters
        self._certificates = certificates
        self._health = health.HealthServicer()
        self._server: Any = None
        self.port = 0

    async def start(self) -> None:
        """Raises EnvironmentProblem when the port cannot be had."""
        methods = frozenset(f"/{service}/Export" for service in SERVICES.values())
        guard = Guard(self._intake, self._gate, self._counters, methods)
        self._server = grpc.aio.server(options=_options(self._settings), interceptors=[guard])
        for signal, service in SERVICES.items():
            # without deserializer and serializer: bytes in, bytes out, so that the spool gets what was sent
            method = grpc.unary_unary_rpc_method_handler(self._export(signal))
            handler = grpc.method_handlers_generic_handler(service, {"Export": method})
            self._server.add_generic_rpc_handlers((handler,))
        if self._services is not None:
            self._services.add(self._server)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self.port = self._bind()
        await self._server.start()
        await self.report(ready=True)
        await self._report_services(serving=True)

    def _bind(self) -> int:
        host, port = self._settings.host, self._settings.grpc_port or 0
        address = f"[{host}]:{port}" if _is_v6(host) else f"{host}:{port}"
        try:
            if self._certificates is None:
                bound = self._server.add_insecure_port(address)
            else:
                bound = self._server.add_secure_port(address, _credentials(self._certificates))
        except RuntimeError:
            bound = 0
        if not bound:
            raise EnvironmentProblem(f"gRPC cannot listen on {address}: the port is taken, or no such address")
        return int(bound)

    async def stop(self, grace_s: float) -> None:
        await self.report(ready=False)
        await self._report_services(serving=False)
        await self._server.stop(grace_s)

    async def report(self, *, ready: bool) -> None:
        """What health checks of OTLP are told from now on."""
        await self._tell(("", *SERVICES.values()), serving=ready)

    async def _report_services(self, *, serving: bool) -> None:
        """Services that take nothing in do not care whether the spool is full."""
        await self._tell(self._services.names if self._services is not None else (), serving=serving)

    async def _tell(self, names: Sequence[str], *, serving: bool) -> None:
        status = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in names:
            await self._health.set(name, status)

    def _export(self, signal: Signal) -> _Handler:
        async def export(body: bytes, _: Any) -> bytes:
            return await self._intake.accept(Request(signal, "protobuf", body), CALLER.get(), "grpc")

        return export


def _options(settings: Settings) -> list[tuple[str, int]]:
    """Source: grpc's channel arguments (grpc/impl/channel_arg_names.h) and gRFC A8 and A9 for keepalive."""
    limits = settings.limits
    return [
        ("grpc.max_receive_message_length", settings.max_request_bytes),  # after inflating, and inflating stops at it
        ("grpc.so_reuseport", 0),  # a second receiver on the same port is a mistake, not a share
        ("grpc.max_concurrent_streams", limits.streams),
        ("grpc.max_allowed_incoming_connections", room_for(limits.connections)),
        ("grpc.max_metadata_size", limits.header_bytes),
        ("grpc.absolute_max_metadata_size", limits.header_bytes),
        ("grpc.server_handshake_timeout_ms", _ms(limits.header_seconds)),
        ("grpc.http2.settings_timeout", _ms(limits.header_seconds)),
        ("grpc.max_connection_idle_ms", _ms(limits.idle_seconds)),
        # is somebody there? And who asks so more often than every ten seconds is sent away
        ("grpc.keepalive_time_ms", _ms(limits.idle_seconds)),
        ("grpc.keepalive_timeout_ms", _ms(limits.header_seconds)),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", 10_000),
        ("grpc.http2.max_ping_strikes", 3),
        # how much may come of a message that is not read yet: 64 KiB, as a measured window grows with what the sender
        # can push and was seen to hold ten times the memory. A message being read gets all the window that it needs; a
        # large one from far away takes twice as long (1.6 MB over 50 ms: 160 ms instead of 70), several do not
        ("grpc.http2.bdp_probe", 0),
    ]


def _ms(seconds: float) -> int:
    return max(1, round(seconds * 1000))


def _credentials(certificates: Certificates) -> Any:
    """Asks for the newest certificate at each handshake, on a thread of grpc's."""
    given = certificates.loaded()

    def newest() -> Any:
        nonlocal given
        loaded = certificates.loaded()
        if loaded is given:
            return None  # no change
        given = loaded
        return _configuration(loaded)

    return grpc.dynamic_ssl_server_credentials(
        _configuration(given), newest, require_client_authentication=given.client_ca is not None
    )


def _configuration(loaded: Loaded) -> Any:
    pair = (loaded.key, loaded.certificate)
    return grpc.ssl_server_certificate_configuration([pair], root_certificates=loaded.client_ca)


def _is_v6(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).version == 6
    except ValueError:
        return False
