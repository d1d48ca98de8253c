"""Content codings of HTTP bodies that ClickHouse clients use: gzip, deflate, zstd, lz4."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

from otel_toolselect.errors import DecodeError, TooLargeError

_PIECE = 16 * 1024


def decompress(body: bytes, coding: str, max_bytes: int) -> bytes:
    """The body in the clear; `DecodeError` for a coding that is not known or does not fit, `TooLargeError`."""
    if coding in ("", "identity"):
        return body
    reader = _READERS.get(coding)
    if reader is None:
        raise DecodeError(f"unknown content coding {coding!r}; known are {', '.join(_READERS)}")
    try:
        clear = reader(body, max_bytes + 1)
    except Exception as error:  # each codec has an error type of its own
        raise DecodeError(f"the body is not {coding}: {error}") from error
    if len(clear) > max_bytes:
        raise TooLargeError(f"the body is over {max_bytes} bytes after {coding} decompression")
    return clear


def choose(accepted: str) -> str | None:
    """The first coding of an Accept-Encoding header that we write."""
    names = (part.partition(";")[0].strip().lower() for part in accepted.split(","))
    return next((name for name in names if name in _WRITERS), None)


def compress(body: bytes, coding: str) -> bytes:
    return _WRITERS[coding](body)


def _inflate(body: bytes, limit: int) -> bytes:
    reader = zlib.decompressobj(wbits=47)  # 47: the header says whether it is zlib or gzip
    return _whole(reader.decompress(body, limit), reader.eof, limit)


def _unzstd(body: bytes, limit: int) -> bytes:
    import zstandard

    reader = zstandard.ZstdDecompressor().decompressobj()
    clear = bytearray()
    for start in range(0, len(body), _PIECE):  # in pieces, as this reader has no limit of its own
        clear += reader.decompress(body[start : start + _PIECE])
        if len(clear) >= limit or reader.eof:
            break
    return _whole(bytes(clear), reader.eof, limit)


def _unlz4(body: bytes, limit: int) -> bytes:
    import lz4.frame  # type: ignore[import-untyped]

    reader = lz4.frame.LZ4FrameDecompressor()
    return _whole(reader.decompress(body, max_length=limit), reader.eof, limit)


def _whole(clear: bytes, at_end: bool, limit: int) -> bytes:
    """A cut-off body must not pass for a short one."""
    if not at_end and len(clear) < limit:
        raise ValueError("the data ends too early")
    return clear


def _zstd(body: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor(level=1).compress(body)


_READERS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _inflate,
    "deflate": _inflate,
    "zstd": _unzstd,
    "lz4": _unlz4,
}
_WRITERS: dict[str, Callable[[bytes], bytes]] = {"zstd": _zstd, "gzip": lambda body: gzip.compress(body, 1)}
