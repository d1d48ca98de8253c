"""What is under way at the same time, over both protocols: a number of requests, and the bytes of their bodies.

Under pressure the slowest goes: a body that is still arriving after `PATIENCE_S` is given up when others wait for its
place, so that slow senders cannot keep the others out, whatever their number.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TypeVar

from otel_toolselect.config.sections import Limits
from otel_toolselect.errors import EnvironmentProblem
from otel_toolselect.receive.status import BusyError, SlowBodyError

T = TypeVar("T")
PATIENCE_S = 2.0
WAIT_S = 5.0
"""How long a request may wait for memory before its sender is told to come back."""
_QUEUE = 64
"""Requests that wait for memory; of each some 100 KiB may have come meanwhile."""
_RETRY_S = 1.0


class Gate:
    """On one event loop only.

    Bodies that arrive may take three quarters of the memory; the rest is for inflating what has arrived. So whoever
    has its body always gets on, and nobody waits for each other in a circle.
    """

    def __init__(self, limits: Limits, max_request_bytes: int) -> None:
        self.limits = limits
        self.max_request_bytes = max_request_bytes
        self._visits = 0
        self._streams: list[asyncio.Timeout] = []
        self._hurried = False
        self._used = 0
        self._reading: dict[Visit, None] = {}  # in the order in which they began
        self._waiting: tuple[_Queue, _Queue] = (deque(), deque())  # for inflating, for reading
        self._timer: asyncio.TimerHandle | None = None

    @property
    def requests(self) -> int:
        """Under way."""
        return self._visits

    @property
    def used_bytes(self) -> int:
        """Set aside for the bodies of requests under way."""
        return self._used

    def enter(self) -> Visit:
        """A place for one request, for a `with` block. Raises BusyError when there is none."""
        if self._visits >= self.limits.requests and not self._cut_slowest():
            raise BusyError(f"{self._visits} requests are under way", retry_after_s=_RETRY_S)
        self._visits += 1
        return Visit(self)

    @asynccontextmanager
    async def stream(self) -> AsyncIterator[None]:
        """A place for an answer that may go on for ever. Raises BusyError when there is none, EnvironmentProblem when
        the server stops meanwhile.
        """
        if len(self._streams) >= self.limits.requests:
            raise BusyError(f"{len(self._streams)} streams are open", retry_after_s=_RETRY_S)
        end = asyncio.timeout(0 if self._hurried else None)
        self._streams.append(end)
        try:
            async with end:
                yield
        except TimeoutError:
            raise EnvironmentProblem("the server stops") from None
        finally:
            self._streams.remove(end)

    def hurry(self) -> None:
        """The server stops: slow bodies are waited for as if others wanted their place, streams end now."""
        self._hurried = True
        for end in self._streams:
            end.reschedule(asyncio.get_running_loop().time())
        self._press()

    def leave(self, visit: Visit) -> None:
        self._visits -= 1
        self.give_back(visit.held)

    async def take(self, size: int, *, inflating: bool) -> None:
        """Sets memory aside, after those who came before. Raises BusyError when it takes too long."""
        queue = self._waiting[0 if inflating else 1]
        ceiling = self.limits.in_flight_bytes if inflating else self.limits.in_flight_bytes * 3 // 4
        if not queue and self._used + size <= ceiling:
            self._used += size
            return
        if len(queue) >= _QUEUE:
            raise BusyError("no memory for the body at the moment", retry_after_s=_RETRY_S)
        turn = (size, ceiling, asyncio.get_running_loop().create_future())
        queue.append(turn)
        self._press()
        try:
            async with asyncio.timeout(WAIT_S):
                await turn[2]
        except BaseException as error:
            if turn in queue:
                queue.remove(turn)
            elif turn[2].done() and not turn[2].cancelled():  # it was given at the same moment
                self._used -= size
            self._serve()
            if isinstance(error, TimeoutError):
                raise BusyError("no memory for the body at the moment", retry_after_s=_RETRY_S) from None
            raise

    def give_back(self, size: int) -> None:
        self._used -= size
        self._serve()

    def began(self, visit: Visit) -> None:
        self._reading[visit] = None
        if self._hurried:
            self._press()

    def ended(self, visit: Visit) -> None:
        self._reading.pop(visit, None)

    def _serve(self) -> None:
        for queue in self._waiting:
            while queue and self._used + queue[0][0] <= queue[0][1]:
                size, _, turn = queue.popleft()
                if not turn.done():
                    self._used += size
                    turn.set_result(None)
        self._press()

    def _press(self) -> None:
        """While somebody waits, looks at the slowest reader: now, and again when its patience is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        wanted = self._hurried or any(self._waiting)
        if not wanted or not self._reading or self._cut_slowest():
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(next(iter(self._reading)).began_at + PATIENCE_S, self._press)

    def _cut_slowest(self) -> bool:
        slowest = next(iter(self._reading), None)
        if slowest is None or asyncio.get_running_loop().time() < slowest.began_at + PATIENCE_S:
            return False
        self.ended(slowest)
        slowest.cut()  # and when it leaves, the next is looked at
        return True


_Queue = deque[tuple[int, int, asyncio.Future[None]]]


class Visit:
    """One request under way, for a `with` block."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._deadline: asyncio.Timeout | None = None
        self._was_cut = False
        self.held = 0
        self.began_at = 0.0

    def __enter__(self) -> Visit:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._gate.leave(self)

    async def read(self, most: int | None, reading: Callable[[], Awaitable[T]], size: Callable[[T], int]) -> T:
        """What `reading` reads; `most` is its largest size in bytes, None: not known.

        Raises SlowBodyError when it takes longer than `limits.body_seconds`, BusyError when others had to go first.
        """
        gate = self._gate
        most = gate.max_request_bytes if most is None else most
        await gate.take(most, inflating=False)
        self.held += most
        loop = asyncio.get_running_loop()
        self.began_at = loop.time()
        gate.began(self)
        try:
            async with asyncio.timeout(gate.limits.body_seconds) as self._deadline:
                found = await reading()
        except TimeoutError:
            if self._was_cut:
                raise BusyError("the body came slowly, and others waited", retry_after_s=_RETRY_S) from None
            raise SlowBodyError(f"was not there after {gate.limits.body_seconds:g} s", where="body") from None
        finally:
            gate.ended(self)
        self._keep(size(found))
        return found

    async def inflate(self, inflating: Callable[[], Awaitable[bytes]]) -> bytes:
        """What `inflating` makes of the body that was read: at most the largest request. Raises BusyError."""
        gate = self._gate
        await gate.take(gate.max_request_bytes, inflating=True)
        self.held += gate.max_request_bytes
        found = await inflating()
        self._keep(len(found))
        return found

    def cut(self) -> None:
        """Ends the reading under way."""
        self._was_cut = True
        if self._deadline is not None:
            self._deadline.reschedule(asyncio.get_running_loop().time())

    def _keep(self, size: int) -> None:
        self._gate.give_back(self.held - size)
        self.held = size
