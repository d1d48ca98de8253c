"""Opening a store by its DSN. One process at a time may hold an embedded store; the others go through `serve`."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from otel_toolselect.errors import StoreBusyError, StoreError, StoreMissingError
from otel_toolselect.store import holding, queries
from otel_toolselect.store.dsn import DEFAULT_DATABASE, Embedded, Remote, parse
from otel_toolselect.store.serveinfo import ServeInfo, read_serve_info

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

    from otel_toolselect.store.api import RawEngine, Store
    from otel_toolselect.store.cluster import Cluster
    from otel_toolselect.store.session import Session

_CONNECT_S, _ANSWER_S = 10, 300
_SERVE_CONNECT_S = 2
_MIB = 2**20

# what the client warns of is in the StoreError that follows
logging.getLogger("clickhouse_connect").addHandler(logging.NullHandler())

# the embedded engine's own defaults are those of a server that has the machine to itself
_ENGINE_OPTIONS = {
    "mark_cache_size": 64 * _MIB,
    "primary_index_cache_size": 64 * _MIB,
    "index_mark_cache_size": 16 * _MIB,
    "query_condition_cache_size": 8 * _MIB,
    "compiled_expression_cache_size": 8 * _MIB,
    "background_merges_mutations_concurrency_ratio": 1,
}


def open_store(dsn: str, *, create: bool = True, query_seconds: float | None = None) -> Store:
    """Open the store that a DSN names (see `dsn.parse` for the forms), with the schema brought up to date.

    `create=False` makes nothing: a store that is not there is a `StoreError`, and the schema stays as it is, so that
    a database of somebody else can be read. An embedded store that a running `serve` holds is reached through it,
    and the store's `via` says so; one that any other process holds is a `StoreBusyError`. Never waits for a lock.
    `query_seconds`: a query that takes longer is given up with a `StoreError`.

    An embedded store may be opened by its process more than once: each has its own connection, so that the statements
    of one do not wait for those of the other.
    """
    place = parse(dsn)
    if isinstance(place, Remote):
        session = _remote_session(place, create=create, timeout_s=_CONNECT_S)
        return _store(session, create=create, seconds=query_seconds)
    if not holding.held_by_this_process(place.path):
        served = _open_served(place, create=create, seconds=query_seconds)
        if served is not None:
            return served
        holding.check_directory(place.path, create=create)
    return _open_embedded(place, create=create, seconds=query_seconds)


def _open_embedded(place: Embedded, *, create: bool, seconds: float | None) -> Store:
    from otel_toolselect.store.engine import ChdbEngine

    holding.acquire(place.path)
    try:
        return _store(
            _embedded_session(place, create=create),
            create=create,
            seconds=seconds,
            engine=lambda: ChdbEngine(place.path),
            on_close=lambda: holding.release(place.path),
        )
    except BaseException:
        holding.release(place.path)
        raise


def _open_served(place: Embedded, *, create: bool, seconds: float | None) -> Store | None:
    """The store through the `serve` that holds it; None when none does (a stale file is no `serve`)."""
    info = read_serve_info(place.path)
    if info is None or not info.alive:
        return None
    remote = _gateway_of(info, place.database)
    try:
        session = _remote_session(remote, create=create, timeout_s=_SERVE_CONNECT_S)
    except StoreError:
        # another program may have the number of a dead one: the engine's lock tells (see `holding`)
        return None
    session.where = place.shown
    return _store(session, create=create, seconds=seconds, via=f"the running server on {info.address}")


def _gateway_of(info: ServeInfo, database: str) -> Remote:
    url = urlsplit(info.url)
    secure = url.scheme == "https"
    return Remote(
        host=url.hostname or "127.0.0.1",
        port=url.port or (443 if secure else 80),
        database=database,
        secure=secure,
        token=info.token,
        url_path=url.path.lstrip("/"),
    )


def _store(
    session: Session,
    *,
    create: bool,
    seconds: float | None,
    engine: Callable[[], RawEngine] | None = None,
    on_close: Callable[[], None] | None = None,
    via: str | None = None,
) -> Store:
    from otel_toolselect.store.clickhouse import ClickHouseStore
    from otel_toolselect.store.migrations import migrate

    try:
        _check_cluster(session)
        if create:
            migrate(session)
        session.seconds = seconds
        return ClickHouseStore(session, via=via, engine=engine, on_close=on_close)
    except BaseException:
        session.close()
        raise


def _check_cluster(session: Session) -> None:
    """The DSN says whether the database is on a cluster, and so must its tables: other settings answer wrongly."""
    found = session.select(queries.ENGINE_TEXT, {"name": queries.SPANS})
    engine, text = ((found.get(name) or [""])[0] for name in ("Engine", "Text"))
    if engine == "Distributed" and session.cluster is None:
        name = text.partition("(")[2].partition(",")[0].strip("'` ")
        raise StoreError(
            f"the tables at {session.where} are on a cluster; add ?cluster={name} to --store", retryable=False
        )
    if engine not in ("", "Distributed") and session.cluster is not None:
        raise StoreError(
            f"the tables at {session.where} are those of one server; leave ?cluster= away, or name another database "
            "for the cluster (docs/store.md says how to move)",
            retryable=False,
        )


def _embedded_session(place: Embedded, *, create: bool) -> Session:
    from clickhouse_connect.driver.exceptions import ClickHouseError

    from otel_toolselect.store.faults import fault

    try:
        client = _client(interface="chdb", path=place.path, chdb_options=dict(_ENGINE_OPTIONS))
    except ImportError as error:
        raise StoreError(
            f"the embedded engine cannot be loaded: {error}; install chdb-core", retryable=False
        ) from error
    except ClickHouseError as error:
        # lost a race for the directory, or other code of this process has chDB open elsewhere
        if "already initialized with path" in str(error):
            raise StoreBusyError(f"this process has another embedded store open than {place.path}: {error}") from error
        if "Error initializing EmbeddedServer" in str(error):
            raise holding.busy(place.path) from error
        raise fault(error, place.shown) from error
    return _in_database(client, place.shown, place.database, create=create)


def _remote_session(place: Remote, *, create: bool, timeout_s: int) -> Session:
    from otel_toolselect.store.faults import translated

    login = {"access_token": place.token} if place.token else {"username": place.user, "password": place.password}
    with translated(place.shown):
        client = _client(
            interface="https" if place.secure else "http",
            host=place.host,
            port=place.port,
            proxy_path=place.url_path,
            connect_timeout=timeout_s,
            send_receive_timeout=_ANSWER_S,
            # a session of the server would allow one statement at a time
            autogenerate_session_id=False,
            # an own pool: it is closed with the client, and a proxy of the environment is not asked for loopback
            dedicated_pool=True,
            compress=False if place.token else "zstd",
            settings=place.cluster.settings if place.cluster else None,
            **login,
        )
    return _in_database(client, place.shown, place.database, create=create, cluster=place.cluster)


def _client(**arguments: Any) -> Client:
    import clickhouse_connect

    return clickhouse_connect.get_client(**arguments)


def _in_database(client: Client, where: str, database: str, *, create: bool, cluster: Cluster | None = None) -> Session:
    """The session with its database chosen, and made where that is allowed."""
    from otel_toolselect.store.migrations import execute
    from otel_toolselect.store.session import Session

    session = Session(client, where, database, cluster)
    try:
        found = session.select(queries.DATABASE_EXISTS, {"name": database})
        if not found["n"][0]:
            if not create:
                raise StoreMissingError(
                    f"there is no database {database!r} at {where}; name another --store, or make it with "
                    "`toolselect store migrate`"
                )
            on = cluster.on if cluster else ""
            execute(session, queries.CREATE_DATABASE + on, {"name": database})
        client.database = None if database == DEFAULT_DATABASE and not client.database else database
    except BaseException:
        session.close()
        raise
    return session
