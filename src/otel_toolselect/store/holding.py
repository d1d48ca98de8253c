"""Who holds an embedded store: chDB allows one process per directory, and one directory per process.

chDB itself finds out late, prints to stderr and says little. These checks come first and say what to do.
"""

from __future__ import annotations

import fcntl
import threading
from collections import Counter
from pathlib import Path

from otel_toolselect.errors import StoreBusyError, StoreError, StoreMissingError

# chDB's lock: while it holds a directory it flocks this file there, with its process id inside
_ENGINE_LOCK = "status"

_held: Counter[str] = Counter()
_guard = threading.Lock()


def held_by_this_process(path: str) -> bool:
    """Whether this process has the directory open; `StoreBusyError` if it has another one open."""
    with _guard:
        return _check_process(path)


def _check_process(path: str) -> bool:
    others = [held for held, count in _held.items() if count and held != path]
    if others:
        raise StoreBusyError(
            f"this process already has the embedded store {others[0]} open and can hold only one directory; "
            f"close it before opening {path}, or use a ClickHouse server (--store clickhouse://...)"
        )
    return _held[path] > 0


def acquire(path: str) -> None:
    """Count one more user of the directory in this process."""
    with _guard:
        _check_process(path)
        _held[path] += 1


def release(path: str) -> None:
    with _guard:
        _held[path] -= 1


def check_directory(path: str, *, create: bool) -> None:
    """Make the directory or insist that it is there; `StoreBusyError` when another process holds it."""
    directory = Path(path)
    if not directory.is_dir() and not create:
        raise StoreMissingError(
            f"there is no store at {path}; fill one with `toolselect serve` or `replay`, or name another --store"
        )
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the store directory {path}: {error.strerror}", retryable=False) from error
    holder = _holder(directory / _ENGINE_LOCK)
    if holder is not None:
        raise busy(path, holder)


def busy(path: str, holder: str = "another process") -> StoreBusyError:
    return StoreBusyError(
        f"the embedded store {path} is held by {holder}, which is no `toolselect serve` that answers; "
        "wait until it ends or stop it, or use a ClickHouse server (--store clickhouse://...) to share a store"
    )


def _holder(lock: Path) -> str | None:
    """Who has the engine's lock file locked, None when nobody has."""
    try:
        with lock.open("r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                text = file.read(200).decode("utf-8", "replace")
                pid = text.partition("PID:")[2].split()
                return f"process {pid[0]}" if pid else "another process"
    except OSError:
        return None  # no lock file, or not ours to open: the engine will say
    return None
