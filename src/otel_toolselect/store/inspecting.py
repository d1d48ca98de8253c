"""What a store says of itself, read from the engine's catalog alone."""

from __future__ import annotations

from collections.abc import Mapping

from otel_toolselect.store import migrations, overviews, queries, retention
from otel_toolselect.store.cluster import local
from otel_toolselect.store.queries import SPANS, Tables
from otel_toolselect.store.session import Session
from otel_toolselect.store.state_api import ReplicaState, StoreState, TableState


def state(session: Session, tables: Tables) -> StoreState:
    """See `Store.state`."""
    planned = migrations.plan(session)
    sizes = {size.table: size for size in overviews.sizes(session)}
    texts = session.select(queries.TABLE_TEXTS)
    held = dict(zip(texts.get("Name", ()), texts.get("Text", ()), strict=True))
    listed = []
    for name in migrations.schema_of(migrations.shipped()).tables:
        text = held.get(local(name) if session.cluster else name)
        if text is not None:
            size = sizes.get(name)
            figures = (size.rows, size.parts, size.bytes) if size else (0, 0, 0)
            listed.append(TableState(name, *figures, keeps=retention.described(text)))
    return StoreState(
        engine=str(session.select(queries.ENGINE_VERSION)["Version"][0]),
        applied=tuple(f"{number:04}_{name}" for number, name in sorted(planned.applied.items())),
        pending=tuple(migration.label for migration in planned.missing),
        statements=tuple(planned.statements),
        tables=tuple(sorted(listed, key=lambda one: one.table)),
        cluster=session.cluster.name if session.cluster else None,
        replicas=_replicas(session),
        foreign=tables.foreign(SPANS),
    )


def _replicas(session: Session) -> tuple[ReplicaState, ...]:
    if session.cluster is None:
        return ()
    found = session.select(queries.replicas(session.cluster))
    names = ("Readonly", "Delay", "Waiting")
    figures = dict(zip(found.get("Host", ()), zip(*(found.get(n, ()) for n in names), strict=True), strict=True))
    servers = session.select(queries.SERVERS, {"name": session.cluster.name})
    return tuple(
        ReplicaState(shard, host, *_figures_of(host, figures))
        for shard, host in zip(servers.get("Shard", ()), servers.get("Host", ()), strict=True)
    )


def _figures_of(host: str, figures: Mapping[str, tuple[int, int, int]]) -> tuple[int, int, int]:
    """A configuration names a server as it is reached, often longer than the name that it has for itself."""
    own = next((name for name in figures if host == name or host.startswith(f"{name}.")), None)
    return (0, 0, 0) if own is None else figures[own]
