"""OTLP/gRPC: TraceService/Export, LogsService/Export, health. Compression (gzip, deflate) is grpc's own."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health

from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.otlp import replies
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.receive.intake import Intake
from otel_toolselect.receive.records import Request
from otel_toolselect.receive.settings import Settings

SERVICES: dict[Signal, str] = {
    "traces": "opentelemetry.proto.collector.trace.v1.TraceService",
    "logs": "opentelemetry.proto.collector.logs.v1.LogsService",
}
_CODES = {code.value[0]: code for code in grpc.StatusCode}
_Handler = Callable[[bytes, Any], Awaitable[bytes]]


class GrpcServer:
    """Start, then `port` is the real one; stop lets calls under way end."""

    def __init__(self, intake: Intake, settings: Settings) -> None:
        self._intake = intake
        self._settings = settings
        self._health = health.HealthServicer()
        self._server: Any = None
        self.port = 0

    async def start(self) -> None:
        """Raises EnvironmentProblem when the port cannot be had."""
        options = [
            ("grpc.max_receive_message_length", self._settings.max_request_bytes),
            ("grpc.so_reuseport", 0),  # a second receiver on the same port is a mistake, not a share
        ]
        self._server = grpc.aio.server(options=options)
        for signal, service in SERVICES.items():
            # without deserializer and serializer: bytes in, bytes out, so that the spool gets what was sent
            method = grpc.unary_unary_rpc_method_handler(self._export(signal))
            handler = grpc.method_handlers_generic_handler(service, {"Export": method})
            self._server.add_generic_rpc_handlers((handler,))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self.port = self._bind()
        await self._server.start()
        await self.report(ready=True)

    def _bind(self) -> int:
        host, port = self._settings.host, self._settings.grpc_port or 0
        address = f"[{host}]:{port}" if _is_v6(host) else f"{host}:{port}"
        try:
            bound = self._server.add_insecure_port(address)
        except RuntimeError:
            bound = 0
        if not bound:
            raise EnvironmentProblem(f"gRPC cannot listen on {address}: the port is taken, or no such address")
        return int(bound)

    async def stop(self, grace_s: float) -> None:
        await self.report(ready=False)
        await self._server.stop(grace_s)

    async def report(self, *, ready: bool) -> None:
        """What health checks are told from now on."""
        status = health_pb2.HealthCheckResponse.SERVING if ready else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", *SERVICES.values()):
            await self._health.set(name, status)

    def _export(self, signal: Signal) -> _Handler:
        async def export(body: bytes, context: Any) -> bytes:
            try:
                sender = self._intake.access.admit(_authorization(context))
                return await self._intake.accept(Request(signal, "protobuf", body), sender, "grpc")
            except Exception as error:  # noqa: BLE001 - every error is answered by the one table
                await self._abort(context, error)
                raise AssertionError("abort does not return") from None

        return export

    async def _abort(self, context: Any, error: Exception) -> None:
        failure = self._intake.failure(error, "grpc")
        status = replies.encode_status(
            failure.grpc_code, failure.message, "protobuf", retry_after_s=failure.retry_after_s
        )  # the details travel as grpc's richer error model wants them (google.rpc.Status in a trailer)
        await context.abort(_CODES[failure.grpc_code], failure.message, (("grpc-status-details-bin", status),))


def _authorization(context: Any) -> str | None:
    found = [value for key, value in context.invocation_metadata() or () if key == "authorization"]
    return found[0] if found and isinstance(found[0], str) else None


def _is_v6(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).version == 6
    except ValueError:
        return False
