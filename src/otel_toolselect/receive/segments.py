"""Segment files of the spool: one that is written, and those that wait to be drained."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from otel_toolselect.receive.deadletters import sync_folder
from otel_toolselect.receive.records import FRAME_BYTES, MAGIC, Request, frame


@dataclass(slots=True)
class Segment:
    """One file.

    `waiting` counts its records that are not in the store yet; sealed: nothing is added any more.
    """

    path: Path
    size: int = 0
    waiting: int = 0
    sealed: bool = False


class SegmentFile:
    """The segment that is being written; used by the writer thread only."""

    def __init__(self, folder: Path, number: int) -> None:
        self.segment = Segment(folder / f"{number:020d}.seg")
        self._handle = os.open(self.segment.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        _write_all(self._handle, MAGIC)
        self.segment.size = len(MAGIC)
        sync_folder(folder)

    def append(self, requests: list[Request]) -> list[int]:
        """Writes and syncs all of them with one sync; gives the offsets of their bodies.

        On any OSError nothing of it counts: the file is cut back, and the caller goes on in a new one,
        because after a failed fsync nobody knows what the disk holds.
        """
        offsets: list[int] = []
        at = self.segment.size
        try:
            for request in requests:
                _write_all(self._handle, frame(request))
                _write_all(self._handle, request.body)
                offsets.append(at + FRAME_BYTES)
                at += FRAME_BYTES + len(request.body)
            _sync(self._handle)
        except OSError:
            self._cut_back()
            raise
        self.segment.size = at
        return offsets

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._handle, self.segment.size)
        except OSError:
            return  # the torn tail is told by its CRC when the spool is read again

    def close(self) -> None:
        self.segment.sealed = True
        os.close(self._handle)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _sync(handle: int) -> None:
    getattr(os, "fdatasync", os.fsync)(handle)
