"""How an answer goes out. What a server does by itself is `whole`; its steps are there for faults to leave out."""

from __future__ import annotations

import contextlib
import secrets
import selectors
import socket
import string
import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import IO, Literal

from .engine import EngineError, Result
from .request import begun

Framing = Literal["chunked", "length", "close"]
CHUNK_BYTES = 64 * 1024  # a server's buffer is a megabyte; answers in tests are small and should be several chunks

_STATUS_OF_CODE = {
    **dict.fromkeys((26, 27, 36, 38, 41, 53, 62, 69, 70, 72, 117, 457), 400),
    194: 401,
    **dict.fromkeys((192, 193, 516), 403),
    **dict.fromkeys((46, 47, 50, 56, 60, 63, 73, 81, 115), 404),
    159: 408,
    **dict.fromkeys((76, 209, 439), 503),
    48: 501,
}


def status_of(code: int) -> int:
    """The HTTP status of an exception that came before the first byte of an answer."""
    return _STATUS_OF_CODE.get(code, 500)


def new_tag() -> str:
    return "".join(secrets.choice(string.ascii_lowercase) for _ in range(16))


@dataclass(slots=True)
class Answer:
    """One answer on one connection. `payload` is the result, in the coding that the client was promised."""

    out: IO[bytes]
    connection: socket.socket
    headers: dict[str, str]
    version: str
    result: Result | None = None
    error: EngineError | None = None
    payload: bytes = b""
    tag: str = field(default_factory=new_tag)
    keep_alive: bool = True
    _framing: Framing = "chunked"
    _begun: bool = False

    def whole(self) -> None:
        """What a server answers by itself."""
        if self.error is not None:
            self.refused(status_of(self.error.code), self.error.code, str(self.error))
            return
        self.head()
        for piece in self.pieces():
            self.piece(piece)
        self.end()

    def pieces(self, size: int = CHUNK_BYTES) -> Iterable[bytes]:
        return (self.payload[at : at + size] for at in range(0, len(self.payload), size))

    def refused(self, status: int, code: int, text: str) -> None:
        """An exception before anything was sent: a status, a header and a text."""
        self.head(status, "length", {"X-ClickHouse-Exception-Code": str(code)}, self.worded(text), coded=False)

    def worded(self, text: str) -> bytes:
        return f"{text} (version {self.version} (official build))\n".encode()

    def head(
        self,
        status: int = 200,
        framing: Framing = "chunked",
        extra: dict[str, str] | None = None,
        body: bytes | None = None,
        *,
        coded: bool = True,
    ) -> None:
        """Status line and headers; with `framing="length"` the body (or, for None, its length only)."""
        self._framing = framing
        fields = {k: v for k, v in self.headers.items() if coded or k != "Content-Encoding"} | (extra or {})
        if self.result is not None and status == HTTPStatus.OK:
            fields["X-ClickHouse-Summary"] = self.result.summary
        fields["X-ClickHouse-Exception-Tag"] = self.tag
        if framing == "chunked":
            fields["Transfer-Encoding"] = "chunked"
        elif framing == "length":
            fields["Content-Length"] = str(len(self.payload if body is None else body))
        if framing == "close":
            self.keep_alive = False
        fields["Connection"] = "Keep-Alive" if self.keep_alive else "Close"
        lines = [f"{name}: {value}\r\n" for name, value in fields.items()]
        self._start(status)
        self.out.write(("".join(lines) + "\r\n").encode("latin-1") + (body or b""))
        self.out.flush()

    def progress(self, times: int = 1) -> None:
        """The status line and headers of progress, before it is known how the statement ends."""
        self._start(200)
        for step in range(times):
            self.out.write(f'X-ClickHouse-Progress: {{"read_rows":"{step}"}}\r\n'.encode())
        self.out.flush()

    def _start(self, status: int) -> None:
        if not self._begun:
            self.out.write(f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode())
            self._begun = True

    def piece(self, data: bytes) -> None:
        if data:
            self.out.write(b"%x\r\n%b\r\n" % (len(data), data) if self._framing == "chunked" else data)
            self.out.flush()

    def end(self) -> None:
        if self._framing == "chunked":
            self.out.write(b"0\r\n\r\n")
        self.out.flush()

    def rows_then_exception(self, share: float, text: str, *, tagged: bool) -> None:
        """Some of the rows, then an exception: since 25.11 between marks that a header names, before that bare.

        The exception goes the way of the rows: through the coding, which then has no end.
        """
        rows = self.result.body if self.result is not None else b""
        said = self.worded(text)
        if tagged:
            tag = self.tag.encode()
            said = b"\r\n__exception__\r\n%b\r\n%b%d %b\r\n__exception__\r\n" % (tag, said, len(said), tag)
        else:
            said = b"__exception__\r\n" + said
        self.piece(begun(rows[: int(len(rows) * share)] + said, self.headers.get("Content-Encoding")))

    def hang_up(self, *, reset: bool = False) -> None:
        """Close the connection; `reset`: so that the peer is told of it by an error, not by an end."""
        self.keep_alive = False
        with contextlib.suppress(OSError):
            self.out.flush()
            if reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
            else:
                self.connection.shutdown(socket.SHUT_RDWR)

    def wait_for_peer(self) -> None:
        """Say nothing until the peer gives up."""
        self.keep_alive = False
        with selectors.DefaultSelector() as readable:
            readable.register(self.connection, selectors.EVENT_READ)
            readable.select(60)
