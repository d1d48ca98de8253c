"""Wiring of `serve`: a receiver that drains into a store, lent to other processes meanwhile (design section 8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.config import Settings, data_folder
from otel_toolselect.errors import EnvironmentProblem, StoreError, UsageError
from otel_toolselect.model.values import digest

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from otel_toolselect.app.backing import Backing
    from otel_toolselect.app.live import Live
    from otel_toolselect.app.parts import PartOf
    from otel_toolselect.receive import Receiver, Sink
    from otel_toolselect.receive import Settings as ReceiveSettings
    from otel_toolselect.receive.access import Access
    from otel_toolselect.receive.extras import GrpcServices
    from otel_toolselect.store import RawEngine, RawResult, Store
    from otel_toolselect.telemetry.metrics import Collector

Lend = Callable[["RawEngine", str], AbstractContextManager[str]]
"""Lends an embedded engine in a directory to other processes while the block lasts (`web.lending.lend`)."""
MakePages = Callable[[Settings, "Store", Path, "Sequence[PartOf]"], "Callable[[Access], ASGIApp]"]
"""Pages on a store that is their own handle, with a folder for their key and the parts that run, which grow until all
has started (`web.mounting.pages`)."""
MakeServices = Callable[["Backing"], AbstractContextManager["GrpcServices"]]
"""Services on the gRPC port while the block lasts (`rpc.service.services`)."""
SPOOL_NAME = "toolselect-spool"
FLUSH_S = 30.0
_SETTLE_S = 5.0


@dataclass(frozen=True, slots=True)
class Serving:
    """A receiver at work."""

    receiver: Receiver
    store: Store
    host: str
    spool: Path
    scheme: str = "http"
    """Of both ports; "https" with a certificate."""
    pages: str = ""
    """The address of the pages; "" without them."""

    @property
    def grpc(self) -> str:
        return f"{_bracketed(self.host)}:{self.receiver.grpc_port}"

    @property
    def http(self) -> str:
        return f"{self.scheme}://{_bracketed(self.host)}:{self.receiver.http_port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@contextmanager
def serving(
    settings: Settings, lend: Lend, pages: MakePages | None = None, services: MakeServices | None = None
) -> Iterator[Serving]:
    """Receiver into store. At the end the ports close, what was acknowledged is drained, the store is let go.

    An embedded store is lent to other processes from before the first span until after the last is drained, so that
    they never find it locked.
    """
    from otel_toolselect.app import parts
    from otel_toolselect.app.exporting import ExportCollector, exporting
    from otel_toolselect.app.following import following
    from otel_toolselect.app.live import LiveSink, judging
    from otel_toolselect.app.live_figures import FollowCollector, LiveCollector
    from otel_toolselect.app.monitoring import watching
    from otel_toolselect.app.monitoring_figures import MonitorCollector
    from otel_toolselect.app.store_figures import StoreCollector
    from otel_toolselect.app.storing import apply_retention
    from otel_toolselect.receive import Receiver
    from otel_toolselect.store import open_store
    from otel_toolselect.store.dsn import Embedded, parse
    from otel_toolselect.telemetry import tracing

    place = parse(settings.dsn)
    folder = place.path if isinstance(place, Embedded) else None
    with ExitStack() as stack:
        store = open_store(settings.dsn)
        stack.callback(store.close)
        if store.via:
            raise EnvironmentProblem(
                f"{store.dsn} is served already: {store.via}; stop that one, or name another --store"
            )
        if store.foreign:
            raise UsageError(
                f"the span table at {store.dsn} was made by a Collector and is only read; name another database in "
                "--store for what is received, and judge that one with `toolselect monitor judge --from`"
            )
        apply_retention(store, settings.retention)
        spool = spool_folder(settings)
        sink: Sink = store
        after_judging = stack.enter_context(ExitStack())
        live, followed = None, None
        if settings.live.on:
            if folder is not None:
                live = stack.enter_context(judging(store, settings))
                sink = LiveSink(store, live)
            else:  # others may fill it, and judge it, too
                followed = stack.enter_context(following(store, store, settings))
                live = followed.live
        known: list[PartOf] = []
        shown = _shown(pages, settings, spool, known, stack)
        offered = _offered(services, settings, live, lambda: receiver, stack)
        receiver = Receiver(
            receive_settings(settings, spool),
            sink,
            collectors=[StoreCollector(store), *_figures(offered)],
            pages=shown,
            services=offered,
        )
        known[:0] = [partial(parts.receiving, receiver)]
        known.append(partial(parts.judging, live))
        if live is not None:
            receiver.metrics.register(LiveCollector(live))
        if followed is not None:
            receiver.metrics.register(FollowCollector(followed.follower))
        engine = store.raw_engine()
        settled = _SettledEngine(engine, receiver) if engine is not None else None
        if settled is not None and folder is not None:
            stack.enter_context(lend(settled, folder))
        own_spans = stack.enter_context(ExitStack())  # ends after the last drain, which makes spans too
        receiver.start()
        stack.callback(receiver.stop)
        ports = (receiver.grpc_port, receiver.http_port)
        monitor = None
        if settings.monitor.on:
            files = None if live is None else live.files
            monitor = stack.enter_context(
                watching(store, settings.monitor, problems=lambda: [files.problem] if files and files.problem else [])
            )
            receiver.metrics.register(MonitorCollector(monitor))
        known.append(partial(parts.monitoring, monitor))
        if settings.export.on:
            follower = after_judging.enter_context(exporting(store, settings.export, own_ports=ports))
            receiver.metrics.register(ExportCollector(follower))
        if settings.telemetry.otlp_endpoint:
            own_spans.callback(tracing.start(settings.telemetry.otlp_endpoint, own_ports=ports))
        if settled is not None:
            settled.receiving = True
            stack.callback(settled.cease)
        yield _running(receiver, store, settings, spool, pages is not None)


def _shown(
    pages: MakePages | None, settings: Settings, spool: Path, known: list[PartOf], stack: ExitStack
) -> Callable[[Access], ASGIApp] | None:
    """Pages on a handle of their own: what they ask does not hold up what is stored."""
    from otel_toolselect.app import parts
    from otel_toolselect.store import open_store

    if pages is None or not settings.web.on:
        return None
    handle = open_store(settings.dsn, create=False, query_seconds=settings.web.query_seconds)
    known.append(partial(parts.storing, stack.enter_context(closing(handle))))
    return pages(settings, handle, spool, known)


def _offered(
    services: MakeServices | None,
    settings: Settings,
    live: Live | None,
    receiver: Callable[[], Receiver],
    stack: ExitStack,
) -> GrpcServices | None:
    """Services on a handle of their own, as pages. `receiver` is there once one of them is called."""
    from otel_toolselect.app.backing import Backing
    from otel_toolselect.store import open_store

    if services is None or not settings.rpc.on:
        return None

    def settle() -> None:
        if receiver().waiting_bytes:
            with suppress(StoreError):
                receiver().flush(_SETTLE_S)

    handle = stack.enter_context(closing(open_store(settings.dsn, create=False, query_seconds=settings.rpc.seconds)))
    return stack.enter_context(
        services(Backing(handle, settings, lambda: None if live is None else live.files.panel, settle))
    )


def _figures(offered: GrpcServices | None) -> list[Collector]:
    return [] if offered is None else [offered.figures]


def _running(receiver: Receiver, store: Store, settings: Settings, spool: Path, pages: bool) -> Serving:
    scheme = "https" if settings.receive.tls_cert else "http"
    found = Serving(receiver, store, settings.receive.host, spool, scheme)
    return replace(found, pages=settings.web.public_url or f"{found.http}/") if pages and settings.web.on else found


def spool_folder(settings: Settings) -> Path:
    """Beside the embedded store, so that the two move together; for a server, in the user's data folder by
    its name, without the password: that may change while something waits.
    """
    from otel_toolselect.store.dsn import Embedded, parse

    if settings.receive.spool:
        return Path(settings.receive.spool)
    place = parse(settings.dsn)
    if isinstance(place, Embedded):
        return Path(place.path) / SPOOL_NAME
    return data_folder() / "spool" / digest(place.shown).removeprefix("sha256:")[:16]


def receive_settings(settings: Settings, spool: Path) -> ReceiveSettings:
    from otel_toolselect.receive import Settings as ReceiveSettings

    wanted, spooled = settings.receive, settings.spool
    return ReceiveSettings(
        spool=spool,
        spool_bytes=spooled.max_bytes,
        spool_max_age_s=spooled.max_age_s,
        spool_compression=spooled.compression,
        memory_bytes=spooled.memory_bytes,
        dead_letter_bytes=spooled.dead_letter_bytes,
        insert_spans=spooled.insert_spans,
        insert_bytes=spooled.insert_bytes,
        insert_delay_s=spooled.insert_delay_s,
        store_backoff_s=spooled.backoff_s,
        stop_s=spooled.stop_s,
        host=wanted.host,
        grpc_port=wanted.grpc_port,
        http_port=wanted.http_port,
        bearer_token=wanted.token or None,
        tokens=_path(wanted.tokens),
        tls_cert=_path(wanted.tls_cert),
        tls_key=_path(wanted.tls_key),
        tls_client_ca=_path(wanted.tls_client_ca),
        allow_unauthenticated=wanted.allow_unauthenticated,
        allow_plaintext=wanted.allow_plaintext,
        max_request_bytes=settings.limits.request_bytes,
        limits=settings.limits,
        retention=settings.retention,
        redact=settings.redact,
    )


def _path(text: str) -> Path | None:
    return Path(text) if text else None


class _SettledEngine:
    """An engine whose answers include every span that was acknowledged before the question."""

    def __init__(self, engine: RawEngine, receiver: Receiver) -> None:
        self._engine = engine
        self._receiver = receiver
        self.receiving = False

    def cease(self) -> None:
        self.receiving = False

    def raw_query(
        self,
        sql: bytes,
        *,
        data: bytes | None = None,
        params: Mapping[str, str],
        settings: Mapping[str, str],
        database: str | None,
        fmt: str,
    ) -> RawResult:
        if self.receiving and self._receiver.waiting_bytes:
            with suppress(StoreError):  # too slow: the answer is of what is there, the rest is safe in the spool
                self._receiver.flush(FLUSH_S)
        return self._engine.raw_query(sql, data=data, params=params, settings=settings, database=database, fmt=fmt)

    def timezone(self) -> str:
        return self._engine.timezone()

    def close(self) -> None:
        self._engine.close()
