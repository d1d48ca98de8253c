"""Segment files of the spool: the one that is written, and reading them in pieces."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from otel_toolselect.receive.deadletters import sync_folder
from otel_toolselect.receive.records import (
    FRAME_BYTES,
    MAGIC,
    MARKER_BYTES,
    SEGMENT_HEAD_BYTES,
    Frame,
    head_of,
    is_whole,
    read_head,
)

_PIECE = 1024 * 1024


@dataclass(slots=True, eq=False)
class Segment:
    """One file of the spool. All but `path` and `marker` is the backlog's, under its lock.

    `size`: bytes that are synced. `known`: up to here its records are in memory, handed out or settled; `unread_*`
    are of the records behind it. `waiting`: records before it that are not settled. `bodies`: bytes of its requests.
    `sealed`: nothing is added any more. `kept`: it may not be removed, as not all of it could be read or reported.
    """

    path: Path
    marker: bytes
    size: int = SEGMENT_HEAD_BYTES
    known: int = SEGMENT_HEAD_BYTES
    unread: int = 0
    unread_records: int = 0
    unread_bytes: int = 0
    unread_since_ns: int = 0
    waiting: int = 0
    bodies: int = 0
    sealed: bool = False
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A whole record. `stored`: its body as it lies there."""

    frame: Frame
    stored: bytes
    offset: int

    @property
    def end(self) -> int:
        return self.offset + FRAME_BYTES + self.frame.size


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes that are no whole record, up to the next that is, or to the end."""

    data: bytes
    offset: int

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


class SegmentFile:
    """The segment that is being written; used by the writer thread only. Raises OSError when it cannot be made."""

    def __init__(self, folder: Path, number: int) -> None:
        self.segment = Segment(folder / f"{number:020d}.seg", secrets.token_bytes(MARKER_BYTES))
        self.size = SEGMENT_HEAD_BYTES
        self._handle = os.open(self.segment.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            _write_all(self._handle, MAGIC + self.segment.marker)
            sync_folder(folder)
        except OSError:
            self.close()
            with contextlib.suppress(OSError):
                self.segment.path.unlink()  # or a full disk would gather one empty file an attempt
            raise

    def append(self, records: Sequence[tuple[Frame, bytes]]) -> list[int]:
        """Writes all records and syncs once; the offsets of their frames.

        On any OSError nothing of it counts: the file is cut back, and the caller goes on in a new one,
        because after a failed fsync nobody knows what the disk holds.
        """
        offsets: list[int] = []
        at = self.size
        part: list[bytes] = []
        held = 0
        try:
            for frame, stored in records:
                offsets.append(at)
                at += FRAME_BYTES + frame.size
                part += (head_of(self.segment.marker, frame, stored), stored)
                held += frame.size
                if held >= _PIECE:
                    _write_all(self._handle, b"".join(part))
                    part, held = [], 0
            _write_all(self._handle, b"".join(part))
            _sync(self._handle)
        except OSError:
            self._cut_back()
            raise
        self.size = at
        return offsets

    def _cut_back(self) -> None:
        with contextlib.suppress(OSError):  # the torn tail is told by its CRC when the spool is read again
            os.ftruncate(self._handle, self.size)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # an error of an earlier write: what counts is synced
            os.close(self._handle)


def open_segment(path: Path) -> Segment | None:
    """A segment of an earlier process, nothing of it read; None for a file that was just being made.

    A file of another kind has no marker, so that all of it is damage. Raises OSError.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(SEGMENT_HEAD_BYTES)
    if size < SEGMENT_HEAD_BYTES and MAGIC.startswith(head[: len(MAGIC)]):
        return None
    if head.startswith(MAGIC):
        return Segment(path, head[len(MAGIC) :], size=size, sealed=True)
    return Segment(path, b"", size=size, known=0, sealed=True)


def scan(segment: Segment, start: int, end: int) -> Iterator[Found | Damage]:
    """All that lies from `start` to `end`, one record in memory at a time. Raises OSError."""
    with segment.path.open("rb", buffering=_PIECE) as file:
        at = start
        file.seek(at)
        while at < end:
            item: Found | Damage | None = _record(file, at, end, segment.marker)
            if item is None:
                until = _next_record(file, at + 1, end, segment.marker)
                file.seek(at)
                item = Damage(file.read(until - at), at)
                if not item.data:  # shorter than it was
                    return
                file.seek(until)
            yield item
            at = item.end


def _record(file: BinaryIO, at: int, end: int, marker: bytes) -> Found | None:
    """The record at the place where the file stands."""
    head = read_head(marker, file.read(min(FRAME_BYTES, end - at)))
    if head is None:
        return None
    frame, crc = head
    if at + FRAME_BYTES + frame.size > end:
        return None
    stored = file.read(frame.size)
    return Found(frame, stored, at) if is_whole(frame, crc, stored) else None


def _next_record(file: BinaryIO, at: int, end: int, marker: bytes) -> int:
    """Where the next whole record begins; the end when there is none."""
    while marker and at < end:
        file.seek(at)
        piece = file.read(min(_PIECE, end - at))
        if not piece:
            break
        found = piece.find(marker)
        if found < 0:
            at += max(1, len(piece) - MARKER_BYTES + 1)  # a marker may lie across two pieces
            continue
        at += found
        file.seek(at)
        if _record(file, at, end, marker) is not None:
            return at
        at += 1
    return end


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _sync(handle: int) -> None:
    getattr(os, "fdatasync", os.fsync)(handle)
