"""The dead-letter folder: what could not be read or stored, with its reason, to be looked at, replayed or dropped.

Two files each: the body under an ending that `toolselect replay` knows, and `.reason.json` beside it. The body appears
last and whole, so that whoever lists the folder meanwhile sees no half letters.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path

from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.records import Request

ENDINGS = {"protobuf": ".pb", "json": ".json"}
TORN = ".torn"
"""The ending of bytes that are no request any more."""
REASON = ".reason.json"
FOLDER = "dead-letter"
"""Its name in the spool folder."""
_DRAFT = ".part"


class DeadLetters:
    """Written from several threads.

    `limit` bounds what senders can fill; acknowledged requests are always kept.
    """

    def __init__(self, folder: Path, limit: int, counters: Counters) -> None:
        self._folder = folder
        self._limit = limit
        self._counters = counters
        self._number = itertools.count()
        self._bytes = folder_bytes(folder)

    def keep(self, request: Request, reason: str, *, acknowledged: bool, tenant: str = "") -> bool:
        """True when the body is on disk (synced if it was acknowledged). Raises nothing."""
        about = {
            "reason": reason,
            "signal": request.signal,
            "encoding": request.encoding,
            "acknowledged": acknowledged,
            "tenant": tenant,
        }
        stem = f"{time.time_ns()}-{os.getpid()}-{next(self._number)}"
        return self._keep(stem + ENDINGS[request.encoding], request.body, about, acknowledged=acknowledged)

    def keep_digest(self, request: Request, reason: str, digest: str) -> bool:
        """As `keep`, for a refused body that must not be kept: a note with its size and digest stands alone."""
        note = {"reason": reason, "signal": request.signal, "encoding": request.encoding, "acknowledged": False}
        text = json.dumps({**note, "digest": digest, "bytes": len(request.body), "time": time.time()}).encode()
        path = self._folder / f"{time.time_ns()}-{os.getpid()}-{next(self._number)}{REASON}"
        if not self._has_room(len(text)):
            self._counters.add(dead_letters_not_kept=1)
            return False
        try:
            make_folder(self._folder)
            _write(path, text, sync=False)
        except OSError:
            _clear(path)
            self._counters.add(dead_letters_not_kept=1)
            return False
        self._bytes += len(text)
        self._counters.add(dead_letters=1)
        return True

    def keep_torn(self, name: str, data: bytes, about: Mapping[str, object]) -> bool:
        """As `keep`, for bytes of the spool that are no whole record."""
        return self._keep(name + TORN, data, {**about, "acknowledged": True}, acknowledged=True)

    def has_torn(self, name: str) -> bool:
        return (self._folder / (name + TORN)).exists()

    def _keep(self, name: str, body: bytes, about: Mapping[str, object], *, acknowledged: bool) -> bool:
        if not acknowledged and not self._has_room(len(body)):
            self._counters.add(dead_letters_not_kept=1)
            return False
        path = self._folder / name
        draft = path.with_name(name + _DRAFT)
        note = json.dumps({**about, "bytes": len(body), "time": time.time()}).encode()
        try:
            make_folder(self._folder)
            _write(draft, body, sync=acknowledged)
            _write(path.with_suffix(REASON), note, sync=acknowledged)
            draft.rename(path)
            if acknowledged:
                sync_folder(self._folder)
        except OSError:
            _clear(draft, path.with_suffix(REASON), path)
            self._counters.add(dead_letters_not_kept=1)
            return False
        self._bytes += len(body)
        self._counters.add(dead_letters=1)
        return True

    def _has_room(self, size: int) -> bool:
        if self._bytes + size > self._limit:
            self._bytes = folder_bytes(self._folder)  # somebody may have dropped or retried some
        return self._bytes + size <= self._limit


def folder_bytes(folder: Path) -> int:
    """Of the files in a folder, 0 when there is none."""
    total = 0
    try:
        with os.scandir(folder) as found:
            for item in found:
                try:
                    total += item.stat().st_size
                except FileNotFoundError:  # gone meanwhile
                    continue
    except OSError:  # what is wrong with it shows when it is written to
        return 0
    return total


def _write(path: Path, data: bytes, *, sync: bool) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        if sync:
            file.flush()
            os.fsync(file.fileno())


def _clear(*paths: Path) -> None:
    """Half a letter is none: a full disk would gather one an attempt."""
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError:
            return


def make_folder(folder: Path) -> None:
    """A folder for its owner only, durable; one that is there stays as it is. Raises OSError."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable (fsync(2): syncing a file does not sync its directory entry)."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
