"""Serves the ASGI application with uvicorn on the receiver's own event loop."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket

import uvicorn
from starlette.types import ASGIApp

from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.receive.settings import Settings

_BACKLOG = 2048


class HttpServer:
    """Start, then `port` is the real one; stop lets requests under way end."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._settings = settings
        config = uvicorn.Config(
            app,
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=max(1, math.ceil(settings.stop_s)),
        )
        config.load()
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)
        self._socket: socket.socket | None = None
        self._loop_task: asyncio.Task[None] | None = None
        self.port = 0

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
