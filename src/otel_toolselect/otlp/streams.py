"""Where bytes come from: paths, folders, standard input; decompressed as they are read, cut into lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import cast

from otel_toolselect.errors import DecodeError, InputError, TooLargeError
from otel_toolselect.otlp.compress import Corrupt, Truncated, coding_of, inflate

_CHUNK = 1024 * 1024
_ENDINGS = (".json", ".jsonl", ".ndjson", ".otlp", ".pb", ".binpb")
_PACKED = ("", ".gz", ".gzip", ".zst", ".zstd")
ENDINGS = tuple(ending + packed for ending in _ENDINGS for packed in _PACKED)


@dataclass(frozen=True, slots=True)
class Found:
    """One file to read; `named` is False when it was only found in a folder."""

    path: str
    named: bool = True


def expand(path: str) -> list[Found]:
    """The file itself; for a folder its files, sorted, at any depth, hidden ones left out, only known
    endings.
    """
    if path == "-" or not Path(path).is_dir():
        return [Found(path)]
    found: list[Path] = []
    for folder, folders, names in os.walk(path):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [Path(folder, name) for name in names if not name.startswith(".") and name.lower().endswith(ENDINGS)]
    if not found:
        raise InputError(f"the folder holds no file that ends in {', '.join(_ENDINGS)} (or .gz, .zst)", where=path)
    return [Found(str(file), named=False) for file in sorted(found)]


@contextmanager
def opened(path: str) -> Iterator[BufferedReader]:
    """The bytes of a path, "-" being standard input. Raises InputError naming the path."""
    if path == "-":
        yield cast(BufferedReader, sys.stdin.buffer)
        return
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise InputError(f"cannot be opened: {_why(error)}", where=path) from None
        yield file


def _why(error: OSError) -> str:
    return (error.strerror or "unknown reason").lower()


def _raw(file: BufferedReader, path: str) -> Iterator[bytes]:
    try:
        while chunk := file.read1(_CHUNK):  # what is there now: standard input may be slow
            yield chunk
    except OSError as error:
        raise InputError(f"cannot be read: {_why(error)}", where=path) from None


class Reader:
    """A decompressed stream: a view of its beginning, then lines, exact counts of bytes, or all the rest.

    `line` is the number of lines taken so far. Every error names path and line.
    """

    def __init__(self, path: str, chunks: Iterator[bytes]) -> None:
        self.path = path
        self.line = 0
        self._chunks = chunks
        self._buffer = b""
        self._at = 0
        self._newlines = 0  # in all chunks so far: where a stream broke off

    @classmethod
    def over(cls, file: BufferedReader, path: str) -> Reader:
        """Plain, gzip or zstd, told apart by the first bytes and never by the name."""
        reader = cls(path, _raw(file, path))
        coding = coding_of(reader.peek(4))
        return reader if coding is None else cls(path, inflate(reader.rest(), coding))

    @property
    def where(self) -> str:
        return f"{self.path}:{max(self.line, 1)}"

    def peek(self, size: int) -> bytes:
        """The next bytes, `size` of them unless the stream is shorter; they stay to be read."""
        while len(self._buffer) - self._at < size and (chunk := self._next()):
            self._buffer, self._at = self._buffer[self._at :] + chunk, 0
        return self._buffer[self._at : self._at + size]

    def readline(self, limit: int) -> bytes | None:
        """The next line without its end, None after the last. TooLargeError over the limit."""
        pieces: list[bytes] = []
        size = 0
        while True:
            end = self._buffer.find(b"\n", self._at)
            pieces.append(self._buffer[self._at : end if end >= 0 else None])
            size += len(pieces[-1])
            if size > limit:
                raise TooLargeError(f"one line of more than {limit} bytes", where=f"{self.path}:{self.line + 1}")
            if end >= 0:
                self._at = end + 1
                break
            self._buffer, self._at = self._next(), 0
            if not self._buffer:
                if not size:
                    return None
                break
        self.line += 1
        return b"".join(pieces)

    def take(self, size: int) -> bytes:
        """Exactly `size` bytes; fewer only at the end of the stream."""
        pieces, missing = [], size
        while missing:
            if self._at == len(self._buffer):
                self._buffer, self._at = self._next(), 0
                if not self._buffer:
                    break
            pieces.append(self._buffer[self._at : self._at + missing])
            self._at += len(pieces[-1])
            missing -= len(pieces[-1])
        return b"".join(pieces)

    def rest(self) -> Iterator[bytes]:
        """All that was not read yet, in pieces."""
        if self._at < len(self._buffer):
            yield self._buffer[self._at :]
        self._buffer, self._at = b"", 0
        while chunk := self._next():
            yield chunk

    def all(self, limit: int, start: bytes = b"") -> bytes:
        """`start` and all that was not read yet, as one; TooLargeError over the limit."""
        pieces, size = [start], len(start)
        for chunk in self.rest():
            size += len(chunk)
            if size > limit:
                raise TooLargeError(f"one document of more than {limit} bytes", where=self.where)
            pieces.append(chunk)
        return b"".join(pieces)

    def _next(self) -> bytes:
        try:
            chunk = next(self._chunks, b"")
        except Truncated:
            raise DecodeError("the compressed data ends too early: truncated", where=self._broken) from None
        except Corrupt:
            raise DecodeError("the compressed data is damaged", where=self._broken) from None
        self._newlines += chunk.count(b"\n")
        return chunk

    @property
    def _broken(self) -> str:
        return f"{self.path}:{self._newlines + 1}"
