"""Lending an open embedded store to other processes: the gateway in a thread, and the file that tells them of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.store import RawEngine, remove_serve_info, write_serve_info
from otel_toolselect.web.gateway import gateway_app, new_token

_START_S, _STOP_S = 10, 5


@contextmanager
def lend(engine: RawEngine, directory: str, *, port: int = 0) -> Iterator[str]:
    """While inside, other processes reach the store in `directory` through this one; yields the gateway's address.

    Binds a loopback port (0: any free one), writes the serve info file when the gateway answers and removes it
    before it stops. The engine stays open.
    """
    token = new_token()
    with serving(engine, token, port=port) as url:
        write_serve_info(directory, url=url, token=token)
        try:
            yield url
        finally:
            remove_serve_info(directory)


@contextmanager
def serving(engine: RawEngine, token: str, *, port: int = 0) -> Iterator[str]:
    """The gateway in a thread of its own, on loopback; yields its address once it answers."""
    # the protocol is named because asyncio sets TCP_NODELAY only then: without it every answer takes 40 ms more
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
    except OSError as error:
        bound.close()
        raise EnvironmentProblem(f"cannot listen on 127.0.0.1:{port}: {error.strerror}; choose another port") from error
    config = uvicorn.Config(
        gateway_app(engine, token),
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=_STOP_S,
    )
    server = _Server(config)
    thread = threading.Thread(target=server.run, args=([bound],), name="toolselect-gateway", daemon=True)
    thread.start()
    try:
        if not server.answering.wait(_START_S):
            raise EnvironmentProblem(f"the gateway did not start within {_START_S} s")
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(2 * _STOP_S)
        bound.close()


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answering = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self.answering.set()
