"""The same log line again and again: told once, then by its count."""

from __future__ import annotations

import copy
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

PERIOD_S = 60.0
KINDS = 200


@dataclass(slots=True)
class _Seen:
    since: float
    first: logging.LogRecord
    more: int = 0


class Repeats(logging.Handler):
    """Passes records on to `target`; one that equals an earlier one of the last `period_s` is only counted.

    Equal are records of one logger, level and template with the same texts put in; numbers may differ. When the period
    is over the count is told, once, and a new period begins. Lines for debugging are never held back. `later` runs a
    function after a number of seconds and gives what cancels it.
    """

    def __init__(
        self,
        target: logging.Handler,
        period_s: float = PERIOD_S,
        *,
        clock: Callable[[], float] = time.monotonic,
        later: Callable[[float, Callable[[], None]], Callable[[], None]] | None = None,
    ) -> None:
        super().__init__()
        self._target = target
        self._period_s = period_s
        self._clock = clock
        self._later = later or _timer
        self._seen: dict[tuple[object, ...], _Seen] = {}
        self._cancel: Callable[[], None] | None = None
        self._own_lock = threading.RLock()

    def emit(self, record: logging.LogRecord) -> None:
        with self._own_lock:
            self._take(record)

    def _take(self, record: logging.LogRecord) -> None:
        self._tell_due()
        if record.levelno < logging.INFO:
            self._target.handle(record)
            return
        key = _key(record)
        seen = self._seen.get(key)
        if seen is not None:
            seen.more += 1
            if self._cancel is None:
                self._cancel = self._later(self._period_s, self._on_time)
            return
        if len(self._seen) >= KINDS:
            self._tell(self._seen.pop(next(iter(self._seen))))
        self._seen[key] = _Seen(self._clock(), record)
        self._target.handle(record)

    def _on_time(self) -> None:
        with self._own_lock:
            self._cancel = None
            self._tell_due()
            if any(seen.more for seen in self._seen.values()):
                self._cancel = self._later(self._period_s, self._on_time)

    def _tell_due(self) -> None:
        now = self._clock()
        for key, seen in list(self._seen.items()):
            if now - seen.since < self._period_s:
                continue
            if seen.more:
                self._tell(seen)
                seen.since, seen.more = now, 0
            else:
                del self._seen[key]

    def _tell(self, seen: _Seen) -> None:
        if seen.more:
            record = copy.copy(seen.first)
            record.created = time.time()
            record.repeated = seen.more
            self._target.handle(record)

    def close(self) -> None:
        """Tells what was counted and not told yet."""
        with self._own_lock:
            if self._cancel is not None:
                self._cancel()
                self._cancel = None
            for seen in self._seen.values():
                self._tell(seen)
            self._seen.clear()
        self._target.flush()
        super().close()


def _key(record: logging.LogRecord) -> tuple[object, ...]:
    args = record.args if isinstance(record.args, tuple) else ()
    error = record.exc_info[0] if record.exc_info else None
    return record.name, record.levelno, str(record.msg), error, *(a for a in args if isinstance(a, str))


def _timer(seconds: float, run: Callable[[], None]) -> Callable[[], None]:
    timer = threading.Timer(seconds, run)
    timer.daemon = True
    timer.start()
    return timer.cancel
