"""The unit that the spool keeps: one request as it was admitted, and its frame in a segment file.

A segment is 8 bytes of magic and 4 random ones, its marker; then records: a frame (30 bytes, big-endian) and the
body. The frame holds the marker again, so that the records behind a damaged one are found; the marker is random, so
that no sender can put a record inside a body. The CRC-32 tells a record that was being written when the power went
from one that is whole.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any, Literal

from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp import decode_json, decode_logs_proto, decode_traces_proto
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.otlp.limits import Limits
from otel_toolselect.otlp.replies import Encoding

Compression = Literal["none", "zstd"]
MAGIC = b"TSSPOOL2"
MARKER_BYTES = 4
SEGMENT_HEAD_BYTES = len(MAGIC) + MARKER_BYTES
_HEAD = struct.Struct(f">{MARKER_BYTES}sII")  # marker, bytes of the body as stored, CRC-32 of all that follows
_ABOUT = struct.Struct(">BBIIQ")  # kind, coding, records, bytes of the body as it was, when it was accepted
FRAME_BYTES = _HEAD.size + _ABOUT.size
_PLAIN, _ZSTD = 0, 1
_ZSTD_LEVEL = 1  # the higher ones cost several times the CPU and save little more
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
class Frame:
    """What a segment says about a body. `records`: spans and log records in it. `raw`, `size`: its bytes as they were
    and as they are stored. `since_ns`: when it was accepted, UTC nanoseconds since the epoch.
    """

    kind: int
    coding: int
    records: int
    raw: int
    since_ns: int
    size: int


class Packer:
    """Makes records. Used by one thread: a compressor is no friend of two."""

    def __init__(self, compression: Compression) -> None:
        self._compressor: Any = None
        if compression == "zstd":
            import zstandard

            self._compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL, write_checksum=False)

    def pack(self, request: Request, records: int, since_ns: int) -> tuple[Frame, bytes]:
        """The frame and the body as it is stored: compressed where that makes it smaller."""
        stored, coding = request.body, _PLAIN
        if self._compressor is not None:
            small = self._compressor.compress(stored)
            if len(small) < len(stored):
                stored, coding = small, _ZSTD
        return Frame(request.kind, coding, records, len(request.body), since_ns, len(stored)), stored


def head_of(marker: bytes, frame: Frame, stored: bytes) -> bytes:
    """The record without its body, which follows it."""
    about = _about(frame)
    return _HEAD.pack(marker, frame.size, zlib.crc32(stored, zlib.crc32(about))) + about


def read_head(marker: bytes, head: bytes) -> tuple[Frame, int] | None:
    """The frame and the CRC in it; None for bytes that are no frame of this segment."""
    if len(head) < FRAME_BYTES:
        return None
    found, size, crc = _HEAD.unpack_from(head)
    kind, coding, records, raw, since_ns = _ABOUT.unpack_from(head, _HEAD.size)
    if found != marker or not 1 <= kind <= len(_KINDS) or coding not in (_PLAIN, _ZSTD):
        return None
    return Frame(kind, coding, records, raw, since_ns, size), crc


def is_whole(frame: Frame, crc: int, stored: bytes) -> bool:
    return len(stored) == frame.size and zlib.crc32(stored, zlib.crc32(_about(frame))) == crc


def request_of(frame: Frame, stored: bytes) -> Request:
    """The request behind a whole record."""
    signal, encoding = _KINDS[frame.kind - 1]
    if frame.coding == _ZSTD:
        import zstandard

        stored = zstandard.ZstdDecompressor().decompress(stored, max_output_size=frame.raw)
    return Request(signal, encoding, stored)


def _about(frame: Frame) -> bytes:
    return _ABOUT.pack(frame.kind, frame.coding, frame.records, frame.raw, frame.since_ns)
