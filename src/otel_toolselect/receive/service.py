"""The receiver put together: ports, spool, drain. One process, one event loop, two threads besides."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from otel_toolselect.errors import StoreError
from otel_toolselect.receive.access import Access
from otel_toolselect.receive.backlog import Backlog
from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.damage import DamageReport
from otel_toolselect.receive.deadletters import FOLDER, DeadLetters
from otel_toolselect.receive.door import Door
from otel_toolselect.receive.drain import Drainer
from otel_toolselect.receive.extras import GrpcServices
from otel_toolselect.receive.gate import Gate
from otel_toolselect.receive.health import Health
from otel_toolselect.receive.intake import Intake
from otel_toolselect.receive.metrics import ReceiverCollector
from otel_toolselect.receive.settings import Settings, Sink
from otel_toolselect.receive.spool import Spool
from otel_toolselect.telemetry.metrics import Collector, Metrics

if TYPE_CHECKING:  # both are imported late: a receiver of one protocol does not load the other
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    from otel_toolselect.receive.grpc_server import GrpcServer
    from otel_toolselect.receive.http_server import HttpServer
    from otel_toolselect.receive.tls import Certificates

log = logging.getLogger(__name__)


class AsyncReceiver:
    """`start`, then spans flow into the sink until `stop`; each is called once, on one event loop."""

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
        """`collectors` show figures of other parts at /metrics. `pages` makes what answers every other path of the HTTP
        port, and asks who calls by itself (`http_guard.Guard`). `services` stand beside OTLP on the gRPC port.
        """
        settings.check()
        self.settings = settings
        self.counters = Counters()
        self.metrics = Metrics(collectors)
        self._sink = sink
        self._extra_routes = tuple(extra_routes)
        self._pages = pages
        self._services = services
        self._spool: Spool | None = None
        self._drainer: Drainer | None = None
        self._grpc: GrpcServer | None = None
        self._http: HttpServer | None = None
        self._gate: Gate | None = None
        self._health: Health | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def grpc_port(self) -> int | None:
        """The real port; None when gRPC is left out or not started."""
        return self._grpc.port if self._grpc else None

    @property
    def http_port(self) -> int | None:
        """The real port; None when HTTP is left out or not started."""
        return self._http.port if self._http else None

    @property
    def health(self) -> Health | None:
        """None before it has started."""
        return self._health

    @property
    def waiting_bytes(self) -> int:
        """Acknowledged and not yet in the sink."""
        return self._spool.waiting_bytes if self._spool else 0

    async def start(self) -> None:
        """Replays what an earlier process left, then opens the ports.

        Raises EnvironmentProblem if it cannot, InputError for tokens or certificates that cannot be used.
        """
        settings, counters = self.settings, self.counters
        dead = DeadLetters(settings.spool / FOLDER, settings.dead_letter_bytes, counters)
        report = DamageReport(dead, counters)
        backlog = Backlog(settings.memory_bytes, report)
        self._spool = spool = Spool(
            settings.spool,
            backlog,
            limit=settings.spool_bytes,
            segment_bytes=settings.segment_bytes,
            retry_after_s=settings.retry_after_s,
            counters=counters,
            compression=settings.spool_compression,
        )
        try:
            self._drainer = Drainer(backlog, self._sink, dead, settings, counters)
            intake = Intake(self._access(), Door(settings), spool, dead, counters)
            left = await asyncio.to_thread(spool.recover, report)
            if left:
                log.info("%d requests of an earlier process go from the spool to the store now", left)
            self._drainer.start()
            spool.start(durable=self._drainer.put, told=intake.told)
            self._health = health = Health(spool, self._drainer)
            self.metrics.register(ReceiverCollector(settings, counters, spool, self._drainer, health))
            await self._open_ports(intake, health, self._certificates())
            self._watching = asyncio.create_task(health.watch(self._tell))
        except BaseException:
            await self.stop()
            raise

    def _access(self) -> Access:
        settings = self.settings
        return Access(
            settings.bearer_token,
            tokens=settings.tokens,
            certificates=settings.tls_client_ca is not None,
            counters=self.counters,
        )

    def _certificates(self) -> Certificates | None:
        settings = self.settings
        if settings.tls_cert is None or settings.tls_key is None:
            return None
        from otel_toolselect.receive.tls import Certificates

        return Certificates(
            settings.tls_cert,
            settings.tls_key,
            settings.tls_client_ca,
            failed=lambda: self.counters.add(reload_failures=1),
        )

    async def _open_ports(self, intake: Intake, health: Health, certificates: Certificates | None) -> None:
        self._gate = gate = Gate(self.settings.limits, self.settings.max_request_bytes)
        if self.settings.grpc_port is not None:
            from otel_toolselect.receive.grpc_server import GrpcServer

            server = GrpcServer(intake, self.settings, gate, self.counters, certificates, self._services)
            await server.start()
            self._grpc = server
        if self.settings.http_port is not None:
            from otel_toolselect.receive.http_app import make_app
            from otel_toolselect.receive.http_probes import routes
            from otel_toolselect.receive.http_server import HttpServer

            probes = routes(health, self.metrics)
            pages = self._pages(intake.access) if self._pages is not None else None
            app = make_app(intake, self.settings, gate, extra_routes=(*probes, *self._extra_routes), pages=pages)
            http = HttpServer(app, self.settings, self.counters, certificates)
            await http.start()
            self._http = http

    async def _tell(self, *, ready: bool) -> None:
        if self._grpc is not None:  # over HTTP it is looked up when somebody asks
            await self._grpc.report(ready=ready)

    async def flush(self, timeout_s: float = 30.0) -> None:
        """Returns when all that was acknowledged before is in the sink.

        Raises StoreError when time runs out.
        """
        if self._drainer and not await asyncio.to_thread(self._drainer.flush, timeout_s):
            raise StoreError("the store did not take what the spool holds in time; it is safe there")

    async def stop(self) -> int:
        """Ends the ports, drains the spool into the sink; how many requests are left for the next start (0:
        none).

        Never raises for a store that is away: what it did not take stays in the spool.
        """
        if self._health is not None:
            self._health.stopping = True
        if self._watching is not None:
            self._watching.cancel()
        if self._gate is not None:
            self._gate.hurry()
        until = time.monotonic() + self.settings.stop_s
        ending = [server.stop(self.settings.stop_s / 2) for server in (self._grpc,) if server]
        ending += [server.stop() for server in (self._http,) if server]
        await asyncio.gather(*ending)
        if self._spool is None:
            return 0
        return await asyncio.to_thread(self._drain_and_close, self._spool, until)

    def _drain_and_close(self, spool: Spool, until: float) -> int:
        with contextlib.closing(spool):
            spool.finish_writing(_left(until))
            left = self._drainer.stop(_left(until)) if self._drainer else 0
        if left:
            log.warning("%d requests stay in the spool: the store did not take them", left)
        return left


def _left(until: float) -> float:
    """Seconds from now until then, by time.monotonic; never negative."""
    return max(0.0, until - time.monotonic())
