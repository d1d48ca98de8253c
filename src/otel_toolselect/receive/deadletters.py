"""The dead-letter folder: what could not be read or stored, with its reason, to be looked at and replayed.

Two files each: the body under an ending that `toolselect replay` knows, and `.reason.json` beside it.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from pathlib import Path

from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.records import Request

_ENDINGS = {"protobuf": ".pb", "json": ".json"}


class DeadLetters:
    """Written from several threads.

    `limit` bounds what senders can fill; acknowledged requests are always kept.
    """

    def __init__(self, folder: Path, limit: int, counters: Counters) -> None:
        self._folder = folder
        self._limit = limit
        self._counters = counters
        self._number = itertools.count()
        self._bytes = sum(f.stat().st_size for f in folder.iterdir()) if folder.is_dir() else 0

    def keep(self, request: Request, reason: str, *, acknowledged: bool) -> bool:
        """True when the body is on disk (synced if it was acknowledged). Raises nothing."""
        ending = _ENDINGS[request.encoding]
        about = {"reason": reason, "signal": request.signal, "encoding": request.encoding}
        return self.keep_bytes(request.body, ending, about, acknowledged=acknowledged)

    def keep_bytes(self, body: bytes, ending: str, about: dict[str, str], *, acknowledged: bool) -> bool:
        """As `keep`, for bytes that are no request any more."""
        if not acknowledged and self._bytes + len(body) > self._limit:
            self._counters.add(dead_letters_not_kept=1)
            return False
        stem = f"{time.time_ns()}-{os.getpid()}-{next(self._number)}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            _write(self._folder / (stem + ending), body, sync=acknowledged)
            note = json.dumps(about | {"bytes": str(len(body))}).encode()
            _write(self._folder / (stem + ".reason.json"), note, sync=acknowledged)
            if acknowledged:
                sync_folder(self._folder)
        except OSError:
            self._counters.add(dead_letters_not_kept=1)
            return False
        self._bytes += len(body)
        self._counters.add(dead_letters=1)
        return True


def _write(path: Path, data: bytes, *, sync: bool) -> None:
    with path.open("wb") as file:
        file.write(data)
        if sync:
            file.flush()
            os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable (fsync(2): syncing a file does not sync its directory entry)."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
