"""Streams of verdicts that go on after a connection was lost, from where they were."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Any

import grpc

from otel_toolselect.client._failures import TRANSIENT, failure_of
from otel_toolselect.errors import OverloadError, ToolselectError
from otel_toolselect.model.answers import Streamed
from otel_toolselect.rpc import decoding
from otel_toolselect.rpc.gen import verdict_service_pb2 as pb

Open = Callable[[pb.StreamVerdictsRequest], Any]
_REMEMBERED = 10_000
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.1, 5.0


class _Course:
    """Where a stream is: what both streams have in common, without any waiting."""

    def __init__(self, request: pb.StreamVerdictsRequest, patience_s: float) -> None:
        self.request = request
        self.waiting: deque[Streamed] = deque()
        self._before = request.cursor
        self._recent: OrderedDict[tuple[int, str, str, str], None] = OrderedDict()
        self._patience_s = patience_s
        self._failing_since: float | None = None
        self._pause_s = _FIRST_PAUSE_S

    def take(self, message: pb.StreamVerdictsResponse) -> None:
        """What came under one time stamp may come again after a break; it is not given out again."""
        self._failing_since, self._pause_s = None, _FIRST_PAUSE_S
        last = len(message.verdicts) - 1
        for i, one in enumerate(message.verdicts):
            cursor = message.cursor if i == last else self._before + one.cursor_suffix
            item = Streamed(decoding.decision(one.decision), one.kept_unix_nano, cursor)
            if self._is_news(item):
                self.waiting.append(item)
        self._before = message.cursor
        if not self.waiting:
            self.request.cursor = message.cursor

    def _is_news(self, item: Streamed) -> bool:
        decision = item.decision
        key = (item.kept_ns, decision.suite, decision.run_id, decision.rule)
        if key in self._recent:
            return False
        self._recent[key] = None
        if len(self._recent) > _REMEMBERED:
            self._recent.popitem(last=False)
        return True

    def give(self) -> Streamed:
        item = self.waiting.popleft()
        self.request.cursor = item.cursor
        return item

    def broke(self, error: ToolselectError) -> float:
        """Seconds to wait before the next attempt. Raises the error when it is no use, or has lasted too long."""
        now = time.monotonic()
        self._failing_since = self._failing_since if self._failing_since is not None else now
        if not isinstance(error, TRANSIENT) or now - self._failing_since >= self._patience_s:
            raise error
        self._before = self.request.cursor
        pause, self._pause_s = self._pause_s, min(self._pause_s * 2, _LONGEST_PAUSE_S)
        return max(pause, error.retry_after_s) if isinstance(error, OverloadError) else pause


class VerdictStream(Iterator[Streamed]):
    """Decisions as they are kept, in a `for` loop that ends when the stream is closed, from any thread.

    A lost connection is made again. Raises the errors of `Client` for what is no use to try again, or has failed for
    `patience_s`.
    """

    def __init__(self, opening: Open, request: pb.StreamVerdictsRequest, patience_s: float) -> None:
        self._open = opening
        self._course = _Course(request, patience_s)
        self._call: Any = None
        self._closed = threading.Event()
        self._lock = threading.Lock()

    @property
    def cursor(self) -> str:
        """The place after what was given out last, to go on from in another stream; "" before anything is known."""
        return self._course.request.cursor

    def __next__(self) -> Streamed:
        while not self._course.waiting:
            if self._closed.is_set():
                raise StopIteration
            self._read()
        return self._course.give()

    def _read(self) -> None:
        try:
            self._course.take(next(self._connected()))
        except StopIteration:  # the server ends a stream now and then, and it begins again
            self._call = None
        except grpc.RpcError as error:
            self._call = None
            if not self._closed.is_set():
                self._closed.wait(self._course.broke(failure_of(error)))

    def _connected(self) -> Any:
        with self._lock:
            if self._call is None:
                self._call = self._open(self._course.request)
                if self._closed.is_set():
                    self._call.cancel()
            return self._call

    def close(self) -> None:
        """Ends the loop, also one that waits in another thread."""
        with self._lock:
            self._closed.set()
            if self._call is not None:
                self._call.cancel()

    def __enter__(self) -> VerdictStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncVerdictStream(AsyncIterator[Streamed]):
    """The same in an `async for` loop; it ends with its task, or when it is closed."""

    def __init__(self, opening: Open, request: pb.StreamVerdictsRequest, patience_s: float) -> None:
        self._open = opening
        self._course = _Course(request, patience_s)
        self._call: Any = None
        self._closed = False

    @property
    def cursor(self) -> str:
        """As in `VerdictStream`."""
        return self._course.request.cursor

    async def __anext__(self) -> Streamed:
        while not self._course.waiting:
            if self._closed:
                raise StopAsyncIteration
            await self._read()
        return self._course.give()

    async def _read(self) -> None:
        if self._call is None:
            self._call = self._open(self._course.request)
        try:
            message = await self._call.read()
            if message is grpc.aio.EOF:
                self._call = None
            else:
                self._course.take(message)
        except grpc.RpcError as error:
            self._call = None
            if not self._closed:
                await asyncio.sleep(self._course.broke(failure_of(error)))
        except asyncio.CancelledError:
            if not self._closed:
                raise

    def close(self) -> None:
        self._closed = True
        if self._call is not None:
            self._call.cancel()

    async def __aenter__(self) -> AsyncVerdictStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
