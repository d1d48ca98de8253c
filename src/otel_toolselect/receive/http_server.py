"""Serves the ASGI application with uvicorn on the receiver's own event loop."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import ssl
from collections.abc import Callable
from typing import cast

import uvicorn
from starlette.types import ASGIApp

from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.receive.connections import Connections
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.descriptors import room_for
from otel_toolselect.receive.http_protocol import GuardedProtocol
from otel_toolselect.receive.settings import Settings
from otel_toolselect.receive.tls import Certificates

_BACKLOG = 2048


class HttpServer:
    """Start, then `port` is the real one; stop lets requests under way end. `certificates`: speaks TLS."""

    def __init__(
        self, app: ASGIApp, settings: Settings, counters: Counters, certificates: Certificates | None = None
    ) -> None:
        self._settings = settings
        limits = settings.limits
        self._connections = Connections(room_for(limits.connections), counters)
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=limits.header_bytes,
            timeout_keep_alive=math.ceil(limits.idle_seconds),
            timeout_graceful_shutdown=max(1, math.ceil(settings.stop_s)),
        )
        config.load()
        self._server = _Server(config, self._accepted)
        self._server.lifespan = config.lifespan_class(config)
        self._certificates = certificates
        self._socket: socket.socket | None = None
        self._loop_task: asyncio.Task[None] | None = None
        self.port = 0

    @property
    def connections(self) -> int:
        """Open at the moment, those in a handshake among them."""
        return len(self._connections)

    async def start(self) -> None:
        """Raises EnvironmentProblem when the port cannot be had."""
        self._socket = _listen(self._settings.host, self._settings.http_port or 0)
        self.port = self._socket.getsockname()[1]
        # not Server.serve(): it takes over the signals of the process, which belong to whoever runs the
        # receiver
        await self._server.startup(sockets=[self._socket])
        self._loop_task = asyncio.create_task(self._server.main_loop())

    async def stop(self) -> None:
        if self._loop_task is not None:
            self._loop_task.cancel()  # it only ticks for the date header; waiting for its next tick is no use
            with contextlib.suppress(asyncio.CancelledError):
                await self._loop_task
            self._server.should_exit = True
            await self._server.shutdown(sockets=[self._socket] if self._socket else None)
            self._connections.end()
            await asyncio.sleep(0)  # each is told of its end

    def _accepted(self) -> asyncio.Protocol:
        if self._certificates is None:
            return self._protocol()
        return _Handshake(self._certificates, self._protocol, self._connections, self._settings.limits.header_seconds)

    def _protocol(self) -> GuardedProtocol:
        server = self._server
        return GuardedProtocol(server.config, server.server_state, self._settings.limits, self._connections)


class _Server(uvicorn.Server):
    """Listens with a protocol of ours, which uvicorn would make of its own configuration."""

    def __init__(self, config: uvicorn.Config, accepted: Callable[[], asyncio.Protocol]) -> None:
        super().__init__(config)
        self._accepted = accepted

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        self.servers = [
            await loop.create_server(self._accepted, sock=found, backlog=_BACKLOG) for found in sockets or ()
        ]
        self.started = True


class _Handshake(asyncio.Protocol):
    """A connection until its TLS handshake is over: counted from the first moment, with the newest certificate."""

    def __init__(
        self,
        certificates: Certificates,
        protocol: Callable[[], GuardedProtocol],
        connections: Connections,
        seconds: float,
    ) -> None:
        self._certificates = certificates
        self._protocol = protocol
        self._connections = connections
        self._seconds = seconds
        self._early = bytearray()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._transport.pause_reading()  # until TLS reads
        self._connections.enter(self)
        self._task = asyncio.create_task(self._shake_hands(self._transport))

    async def _shake_hands(self, plain: asyncio.Transport) -> None:
        loop = asyncio.get_running_loop()
        try:
            context = self._certificates.context()
            secured = await loop.start_tls(
                plain, self, context, server_side=True, ssl_handshake_timeout=self._seconds, ssl_shutdown_timeout=2
            )
        except (OSError, asyncio.CancelledError) as error:  # no TLS, no certificate, too slow, gone, cut
            if self._connections.leave(self):
                self._connections.count(self._reason(error))
            plain.abort()
            return
        protocol = self._protocol()
        if secured is None or not self._connections.replace(self, protocol):
            plain.abort()
            return
        secured.set_protocol(protocol)
        protocol.connection_made(secured)
        if self._early:
            protocol.data_received(bytes(self._early))

    def data_received(self, data: bytes) -> None:
        """What came between the end of the handshake and our turn."""
        self._early += data

    def _reason(self, error: BaseException) -> str:
        if isinstance(error, ConnectionAbortedError):  # asyncio's word for a handshake that takes too long
            return "too_slow"
        asked = self._certificates.client_ca is not None
        return "unauthenticated" if asked and isinstance(error, ssl.SSLError) else "other"

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # the protocol is named because asyncio sets TCP_NODELAY only where it is: without, Nagle's algorithm and
        # delayed acknowledgements make each answer wait for 40 ms
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind((host, port))
            listening.listen(_BACKLOG)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise EnvironmentProblem(f"HTTP cannot listen on {host}:{port}: {error.strerror}") from None
    return listening
