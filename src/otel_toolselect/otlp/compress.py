"""Decompression, bounded while inflating: gzip (all members, RFC 1952 section 2.2) and zstd (all frames,
RFC 8878).

The bound holds for memory too: output comes in small pieces and stops at the first one over the limit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from otel_toolselect.errors import DecodeError, TooLargeError
from otel_toolselect.otlp.limits import DEFAULT, FILES

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
CODINGS = ("gzip", "zstd", "identity")

_PIECE = 256 * 1024
_GZIP_STEP = 64 * 1024
# zstd gives out whole blocks: 4 bytes can become 128 KiB, so 512 bytes of input are at most 16 MiB of
# output at once
_ZSTD_STEP = 512


class Truncated(Exception):
    """Compressed data that ends too early.

    Stays inside `otlp`: the reader knows path and line and raises for it.
    """


class Corrupt(Exception):
    """Compressed data that is none. Stays inside `otlp`, as `Truncated` does."""


def decompress(body: bytes, encoding: str, max_bytes: int = DEFAULT.max_bytes) -> bytes:
    """A request body with its `Content-Encoding` taken off: gzip, zstd, identity or "".

    Raises TooLargeError over `max_bytes` (before or after), DecodeError for data that is not in this coding
    or for a coding that is not known (callers answer 415 for those: see `CODINGS`).
    """
    coding = encoding.strip().lower() or "identity"
    if coding not in CODINGS:
        raise DecodeError(f"content coding is not supported; use one of {', '.join(CODINGS)}", where="body")
    if len(body) > max_bytes:
        raise TooLargeError(f"{len(body)} bytes are over the limit of {max_bytes}", where="body")
    if coding == "identity":
        return body
    pieces: list[bytes] = []
    size = 0
    try:
        for piece in inflate([body], coding, max_window=DEFAULT.max_zstd_window):
            size += len(piece)
            if size > max_bytes:
                raise TooLargeError(f"inflates to more than the limit of {max_bytes} bytes", where="body")
            pieces.append(piece)
    except Truncated:
        raise DecodeError(f"{coding} data ends too early", where="body") from None
    except Corrupt:
        raise DecodeError(f"not {coding} data, though labelled so", where="body") from None
    return b"".join(pieces)


def inflate(chunks: Iterable[bytes], coding: str, *, max_window: int = FILES.max_zstd_window) -> Iterator[bytes]:
    """The decompressed stream of a compressed one, in bounded pieces. Raises Truncated or Corrupt."""
    return _gunzip(chunks) if coding == "gzip" else _unzstd(chunks, max_window)


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    member: zlib._Decompress | None = None
    seen = False
    try:
        for step in _steps(chunks, _GZIP_STEP):
            data = step.lstrip(b"\0") if seen and member is None else step  # padding, as gzip(1) allows
            while data:
                member = member or zlib.decompressobj(wbits=31)
                seen = True
                yield from _pump(member, data)
                data = b""
                if member.eof:
                    data, member = member.unused_data.lstrip(b"\0"), None
    except zlib.error:
        raise Corrupt from None
    if member is not None or not seen:
        raise Truncated


def _pump(member: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """All output that this input allows, never more than a piece at a time."""
    while True:
        piece = member.decompress(data, _PIECE)
        if piece:
            yield piece
        data = member.unconsumed_tail
        if member.eof or (not data and len(piece) < _PIECE):
            return


def _unzstd(chunks: Iterable[bytes], max_window: int) -> Iterator[bytes]:
    import zstandard  # late: few bodies and files are zstd, and start-up is to stay light

    frame: zstandard.ZstdDecompressionObj | None = None
    seen = False
    try:
        for step in _steps(chunks, _ZSTD_STEP):
            data = step
            while data:
                if frame is None:
                    frame = zstandard.ZstdDecompressor(max_window_size=max_window).decompressobj()
                seen = True
                if piece := frame.decompress(data):
                    yield piece
                data = b""
                if frame.eof:
                    data, frame = frame.unused_data, None
    except zstandard.ZstdError:
        raise Corrupt from None
    if frame is not None or not seen:
        raise Truncated


def _steps(chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
    for chunk in chunks:
        for at in range(0, len(chunk), size):
            yield chunk[at : at + size]


def coding_of(head: bytes) -> str | None:
    """gzip or zstd by magic bytes, None for anything else."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    return "zstd" if head.startswith(ZSTD_MAGIC) else None
