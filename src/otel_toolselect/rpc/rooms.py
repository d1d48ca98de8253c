"""Work off the event loop: so much at once, so much that waits, and none for longer than it may take."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

from otel_toolselect.receive.status import BusyError, SlowAnswerError

T = TypeVar("T")
_RETRY_S = 1.0
Outcome = Literal["done", "failed", "slow", "busy"]
"""Of a piece of work: answered; an error, or the caller went; took too long; there was no place."""


class GivenUpError(Exception):
    """Whoever asked does not wait any longer; nobody sees this."""


@dataclass(frozen=True, slots=True)
class Clock:
    """How long a piece of work may go on. `until`: by time.monotonic."""

    until: float
    _given_up: threading.Event = field(default_factory=threading.Event)

    @property
    def left_s(self) -> float:
        return max(0.0, self.until - time.monotonic())

    def check(self) -> None:
        """Called by the work now and then. Raises GivenUpError."""
        if self._given_up.is_set() or not self.left_s:
            raise GivenUpError

    def give_up(self) -> None:
        self._given_up.set()


class Room:
    """`places`: pieces of work at the same time; as many times `queue` may wait for one. A piece that nobody waits for
    any more keeps its place until it has noticed.
    """

    def __init__(self, name: str, places: int, *, queue: int) -> None:
        self.name = name
        self.outcomes: dict[Outcome, int] = dict.fromkeys(get_args(Outcome), 0)
        """On the event loop only."""
        self._threads = ThreadPoolExecutor(places, thread_name_prefix=f"toolselect-{name}")
        self._most = places * (1 + queue)
        self._under_way = 0
        self._lock = threading.Lock()

    @property
    def under_way(self) -> int:
        """Pieces that are at work or wait."""
        return self._under_way

    async def run(self, work: Callable[[Clock], T], within_s: float) -> T:
        """What the work returns or raises. Raises BusyError, and SlowAnswerError when time is over."""
        outcome: Outcome = "failed"
        try:
            found = await self._run(work, within_s)
            outcome = "done"
            return found
        except BusyError:
            outcome = "busy"
            raise
        except SlowAnswerError:
            outcome = "slow"
            raise
        finally:
            self.outcomes[outcome] += 1

    async def _run(self, work: Callable[[Clock], T], within_s: float) -> T:
        with self._lock:
            if self._under_way >= self._most:
                raise BusyError(f"{self._under_way} {self.name} requests are under way", retry_after_s=_RETRY_S)
            self._under_way += 1
        clock = Clock(time.monotonic() + within_s)
        future = self._threads.submit(work, clock)
        future.add_done_callback(self._done)
        try:
            async with asyncio.timeout(within_s):
                return await asyncio.wrap_future(future)
        except (TimeoutError, GivenUpError):
            raise SlowAnswerError(f"not done after {within_s:.3g} s", where=self.name) from None
        finally:
            clock.give_up()

    def _done(self, _: Future[Any]) -> None:
        with self._lock:
            self._under_way -= 1

    def close(self) -> None:
        """Waits for nobody: what is at work is given up as soon as it notices."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def within(context: Any, most_s: float) -> float:
    """Seconds that an answer may take: the caller's deadline, and ours."""
    remaining = context.time_remaining()
    return most_s if remaining is None else max(0.0, min(most_s, float(remaining)))
