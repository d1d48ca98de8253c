"""The receiver for callers without an event loop: the command line, tests."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.extras import GrpcServices
from otel_toolselect.receive.service import AsyncReceiver
from otel_toolselect.receive.settings import Settings, Sink
from otel_toolselect.telemetry.metrics import Collector, Metrics

if TYPE_CHECKING:
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    from otel_toolselect.receive.access import Access
    from otel_toolselect.receive.health import Health

T = TypeVar("T")


class Receiver:
    """Runs an AsyncReceiver on an event loop in a thread of its own. Also a context manager."""

    def __init__(
        self,
        settings: Settings,
        sink: Sink,
        *,
        extra_routes: Sequence[BaseRoute] = (),
        collectors: Sequence[Collector] = (),
        pages: Callable[[Access], ASGIApp] | None = None,
        services: GrpcServices | None = None,
    ) -> None:
        self._receiver = AsyncReceiver(
            settings, sink, extra_routes=extra_routes, collectors=collectors, pages=pages, services=services
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def grpc_port(self) -> int | None:
        return self._receiver.grpc_port

    @property
    def http_port(self) -> int | None:
        return self._receiver.http_port

    @property
    def counters(self) -> Counters:
        return self._receiver.counters

    @property
    def metrics(self) -> Metrics:
        """What /metrics shows; other parts may register collectors at any time."""
        return self._receiver.metrics

    @property
    def health(self) -> Health | None:
        """None before it has started. May be read by any thread."""
        return self._receiver.health

    @property
    def waiting_bytes(self) -> int:
        """Acknowledged and not yet in the sink."""
        return self._receiver.waiting_bytes

    def start(self) -> Receiver:
        """Returns when the ports are open. Raises EnvironmentProblem when they, or the spool, cannot be had."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="toolselect-receive", daemon=True)
        self._thread.start()
        try:
            self._call(self._receiver.start())
        except BaseException:
            self._end()
            raise
        return self

    def flush(self, timeout_s: float = 30.0) -> None:
        """Returns when all that was acknowledged before is in the sink. Raises StoreError when time runs out."""
        if self._loop is not None:
            self._call(self._receiver.flush(timeout_s))

    def stop(self) -> int:
        """Ends the ports and drains; how many requests stay in the spool for the next start.

        May be called when nothing runs (any more): 0 then.
        """
        if self._loop is None:
            return 0
        try:
            return self._call(self._receiver.stop())
        finally:
            self._end()

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        assert self._loop is not None
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end(self) -> None:
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        self._call(loop.shutdown_default_executor())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        self._loop = self._thread = None

    def __enter__(self) -> Receiver:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
