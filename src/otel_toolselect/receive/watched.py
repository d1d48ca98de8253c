"""Files that are read again when they change: tokens, certificates. What cannot be used leaves the last good one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from otel_toolselect.errors import ToolselectError

log = logging.getLogger(__name__)
T = TypeVar("T")
_Stamp = tuple[tuple[int, int, int] | None, ...]


class Watched(Generic[T]):
    """What `load` makes of `paths`, made anew when one of them changed. Safe for threads.

    Looking costs one stat a file (a microsecond), so that a revoked token ends at once and not at the next tick.
    Raises what `load` raises the first time; later a failure is logged once and told to `failed`.
    """

    def __init__(self, paths: tuple[Path, ...], load: Callable[[], T], failed: Callable[[], None]) -> None:
        self._paths = paths
        self._load = load
        self._failed = failed
        self._lock = threading.Lock()
        self._stamp = _stamp(paths)
        self._value = load()

    def get(self) -> T:
        """The newest that could be used."""
        stamp = _stamp(self._paths)
        if stamp == self._stamp:
            return self._value
        with self._lock:
            if stamp != self._stamp:
                self._stamp = stamp  # before reading: a change in between is seen as one more
                self._renew()
            return self._value

    def _renew(self) -> None:
        try:
            self._value = self._load()
        except (ToolselectError, OSError) as error:
            self._failed()
            log.error("what was read before stays in force: %s", error)


def _stamp(paths: tuple[Path, ...]) -> _Stamp:
    """Changes with the content: time of change and file number besides the size, as keys often keep their size."""
    found: list[tuple[int, int, int] | None] = []
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            found.append(None)
        else:
            found.append((facts.st_ctime_ns, facts.st_ino, facts.st_size))
    return tuple(found)
