"""Just enough of HTTP/2 to be a bad gRPC client: messages that stop in the middle, which grpc itself does not send.

Sources: RFC 9113 (frames), RFC 7541 section 6.2.2 (literal header fields, not indexed), gRPC over HTTP/2 (the five
bytes before a message).
"""

from __future__ import annotations

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
ACK = 1
MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE = 3, 4
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


def stall(connection: socket.socket, path: str, *, streams: int, size: int, seconds: float = 0.2) -> None:
    """Calls that stop one byte before their end; sends what flow control allows, for as long as it allows more."""
    sender = _Sender(connection, streams, size - 1)
    for stream in sender.left:
        begin(connection, stream, path, size)
    connection.settimeout(seconds)
    while sender.fill() and sender.learn():
        pass


class _Sender:
    """Keeps to the windows of RFC 9113 section 5.2, or the server would end the connection."""

    def __init__(self, connection: socket.socket, streams: int, size: int) -> None:
        self._connection = connection
        self._read = bytearray()
        self._initial = 65535
        self._window = self._initial - 5 * streams  # what `begin` has sent
        self.left = {2 * n + 1: size for n in range(streams)}
        self._windows = dict.fromkeys(self.left, self._initial - 5)

    def fill(self) -> bool:
        """Sends all that may be sent; False when the server has ended the connection."""
        try:
            for stream in list(self.left):
                while (n := min(16384, self._window, self._windows[stream], self.left[stream])) > 0:
                    self._connection.sendall(frame(DATA, 0, stream, b"x" * n))
                    self._window -= n
                    self._windows[stream] -= n
                    self.left[stream] -= n
        except OSError:
            return False
        return True

    def learn(self) -> bool:
        """Reads frames; False when none came in time."""
        try:
            piece = self._connection.recv(65536)
        except OSError:
            return False
        self._read += piece
        while len(self._read) >= 9 and len(self._read) >= 9 + (size := int.from_bytes(self._read[:3], "big")):
            kind, flags = self._read[3], self._read[4]
            stream, payload = int.from_bytes(self._read[5:9], "big"), bytes(self._read[9 : 9 + size])
            del self._read[: 9 + size]
            self._take(kind, flags, stream, payload)
        return bool(piece)

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == WINDOW_UPDATE:
            grown = int.from_bytes(payload, "big")
            if stream == 0:
                self._window += grown
            elif stream in self._windows:
                self._windows[stream] += grown
        elif kind == RST_STREAM:
            self.left.pop(stream, None)
        elif kind in (SETTINGS, PING) and not flags & ACK:
            self._connection.sendall(frame(kind, ACK, 0, payload if kind == PING else b""))
            if kind == SETTINGS:
                self._settings(payload)

    def _settings(self, payload: bytes) -> None:
        for at in range(0, len(payload), 6):
            if int.from_bytes(payload[at : at + 2], "big") == INITIAL_WINDOW_SIZE:
                new = int.from_bytes(payload[at + 2 : at + 6], "big")
                self._windows = {s: w + new - self._initial for s, w in self._windows.items()}
                self._initial = new
