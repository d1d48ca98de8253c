"""The unit that the spool keeps: one request as it came, and its frame in a segment file.

A segment is 8 bytes of magic, then records: length (4, big-endian), CRC-32 over kind and body (4), kind
(1), body. The CRC tells a record that was being written when the power went from one that is whole.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp import decode_json, decode_logs_proto, decode_traces_proto
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.otlp.limits import Limits
from otel_toolselect.otlp.replies import Encoding

MAGIC = b"TSSPOOL1"
_HEAD = struct.Struct(">IIB")
_KINDS: tuple[tuple[Signal, Encoding], ...] = (
    ("traces", "protobuf"),
    ("traces", "json"),
    ("logs", "protobuf"),
    ("logs", "json"),
)


@dataclass(frozen=True, slots=True)
class Request:
    """One export request, its content coding already taken off."""

    signal: Signal
    encoding: Encoding
    body: bytes

    @property
    def kind(self) -> int:
        """The number that stands for signal and encoding in a segment."""
        return _KINDS.index((self.signal, self.encoding)) + 1

    def decode(self, max_bytes: int) -> Batch:
        """Raises DecodeError when the body is not what it claims to be."""
        limits = Limits(max_bytes=max_bytes)
        if self.encoding == "json":
            return decode_json(self.body, where="body", signal=self.signal, limits=limits)
        decode = decode_traces_proto if self.signal == "traces" else decode_logs_proto
        return decode(self.body, limits, where="body")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a segment the body of a record lies."""

    kind: int
    offset: int
    size: int


def frame(request: Request) -> bytes:
    """The record without its body, which follows it (bodies are large: they are not copied)."""
    return _HEAD.pack(len(request.body), _crc(request.kind, request.body), request.kind)


FRAME_BYTES = _HEAD.size


def request_of(kind: int, body: bytes) -> Request:
    signal, encoding = _KINDS[kind - 1]
    return Request(signal, encoding, body)


def scan(data: bytes) -> Iterator[Place]:
    """The whole records of a segment, up to the first that is not whole."""
    at = len(MAGIC)
    if data[:at] != MAGIC:
        return
    while at + _HEAD.size <= len(data):
        size, crc, kind = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        if at + size > len(data) or not 1 <= kind <= len(_KINDS) or _crc(kind, data[at : at + size]) != crc:
            return
        yield Place(kind, at, size)
        at += size


def _crc(kind: int, body: bytes) -> int:
    return zlib.crc32(body, kind)
