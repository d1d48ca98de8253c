"""The server: a thread per connection, as many statements at a time as there are connections."""

from __future__ import annotations

import contextlib
import ssl
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import quote

from .answer import Answer, new_tag
from .engine import Engine, EngineError, Result
from .faults import Faults
from .request import Asked, User, chosen, encoded, read


@dataclass(slots=True)
class Endpoint:
    """A running server."""

    engine: Engine
    users: dict[str, User]
    port: int = 0
    secure: bool = False
    faults: Faults = field(default_factory=Faults)
    asked: list[Asked] = field(default_factory=list)
    """Every statement that came, in order."""

    def dsn(self, database: str, user: str = "default") -> str:
        scheme = "clickhouses" if self.secure else "clickhouse"
        password = quote(self.users[user].password, safe="")
        return f"{scheme}://{user}:{password}@localhost:{self.port}/{database}"


@contextmanager
def endpoint(
    engine: Engine, users: Sequence[User] = (User(),), *, tls: ssl.SSLContext | None = None
) -> Iterator[Endpoint]:
    """Serve an engine on a free port of this machine."""
    running = Endpoint(engine, {user.name: user for user in users}, secure=tls is not None)
    handler = type("_BoundHandler", (_Handler,), {"endpoint": running})
    with _Server(("127.0.0.1", 0), handler) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        running.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield running
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a connection that is kept alive would be waited for
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A peer that hangs up is what the tests are about; anything else fails the test by its answer."""


class _Handler(BaseHTTPRequestHandler):
    endpoint: Endpoint
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path == "/ping":
            self._answer(None, Result(b"Ok.\n", "{}")).whole()
        else:
            self._statement()

    def do_POST(self) -> None:
        self._statement()

    def _statement(self) -> None:
        try:
            asked = read(self.command, self.path, dict(self.headers), self._body(), self.endpoint.users)
        except EngineError as error:
            self._send(self._answer(None, None, error))
            return
        self.endpoint.asked.append(asked)
        fault = self.endpoint.faults.take(asked.statement.sql)
        result, error = (None, None) if fault is not None and not fault.runs else self._run(asked)
        answer = self._answer(asked, result, error)
        if fault is not None:
            with contextlib.suppress(OSError):
                fault.send(answer)
            self.close_connection = not answer.keep_alive
        else:
            self._send(answer)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = bytearray()
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    def _run(self, asked: Asked) -> tuple[Result | None, EngineError | None]:
        try:
            return self.endpoint.engine.run(asked.statement), None
        except EngineError as error:
            return None, error

    def _send(self, answer: Answer) -> None:
        answer.whole()
        self.close_connection = not answer.keep_alive

    def _answer(self, asked: Asked | None, result: Result | None, error: EngineError | None = None) -> Answer:
        engine = self.endpoint.engine
        headers = {
            "X-ClickHouse-Server-Display-Name": "endpoint",
            "X-ClickHouse-Query-Id": (asked.query.get("query_id") if asked else None) or str(uuid.uuid4()),
            "X-ClickHouse-Timezone": engine.timezone,
            "Content-Type": "application/octet-stream",
        }
        payload = result.body if result is not None else b""
        if asked is not None and result is not None:
            coding = chosen(asked.accepts)
            if asked.statement.gives_rows:
                headers["X-ClickHouse-Format"] = asked.statement.format
            if coding is not None and payload:
                headers["Content-Encoding"] = coding
                payload = encoded(payload, coding)
        keep_alive = self.headers.get("Connection", "").lower() != "close"
        return Answer(
            self.wfile, self.connection, headers, engine.version, result, error, payload, new_tag(), keep_alive
        )

    def log_message(self, *_: Any) -> None: ...
