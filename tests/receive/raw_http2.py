"""Just enough of HTTP/2 to be a bad gRPC client: messages that stop in the middle, which grpc itself does not send.

Sources: RFC 9113 (frames), RFC 7541 section 6.2.2 (literal header fields, not indexed), gRPC over HTTP/2 (the five bytes
before a message).
"""

from __future__ import annotations

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS = 0, 1, 4
END_HEADERS = 4


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + payload


def headers(path: str, *more: tuple[str, str]) -> bytes:
    fields = (
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("te", "trailers"),
        ("content-type", "application/grpc"),
        *more,
    )
    return b"".join(b"\0" + _text(name) + _text(value) for name, value in fields)


def _text(text: str) -> bytes:
    assert len(text) < 127
    return bytes((len(text),)) + text.encode()


def connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0))
    return connection


def begin(connection: socket.socket, stream: int, path: str, announced: int, first: bytes = b"") -> None:
    """A call whose message is to be `announced` bytes long, and the first of them."""
    connection.sendall(
        frame(HEADERS, END_HEADERS, stream, headers(path))
        + frame(DATA, 0, stream, b"\0" + struct.pack(">I", announced) + first)
    )
