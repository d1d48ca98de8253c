"""What each user of a server may do, and no more: statements for an administrator to run, made of the schema.

`writer` is what `serve`, `eval` and the other commands that keep something log in with, `reader` dashboards and people
who look, `migrator` only `toolselect store migrate`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from otel_toolselect.errors import UsageError
from otel_toolselect.store.cluster import Cluster, local
from otel_toolselect.store.migrations import schema_of, shipped

Role: TypeAlias = Literal["writer", "reader", "migrator"]
ROLES: tuple[Role, ...] = get_args(Role)
HISTORY = "toolselect_migrations"
# what our queries and the client ask of the catalog; servers may be set up so that this needs a grant
_CATALOG = ("columns", "databases", "functions", "parts", "settings", "storage_policies", "tables", "time_zones")
_CATALOG_OF_CLUSTER = ("clusters", "macros", "replicas")
_OF_SCHEMA = "SELECT, INSERT, CREATE DATABASE, CREATE TABLE, CREATE VIEW, DROP TABLE, DROP VIEW, ALTER, SHOW"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


def statements(database: str, cluster: Cluster | None, users: Mapping[Role, str]) -> list[str]:
    """CREATE USER and GRANT for these users, by role. The place of a password's hash is marked and refused by
    ClickHouse as it is, so that nobody gets a password that is written somewhere.
    """
    on = cluster.on if cluster else ""
    found: list[str] = []
    for role, name in users.items():
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name of a user; give letters, digits, _, - and .")
        user = f"`{name}`"
        found.append(f"CREATE USER IF NOT EXISTS {user}{on} IDENTIFIED WITH sha256_hash BY 'SHA-256 OF ITS PASSWORD'")
        found += [f"GRANT{on} {right} TO {user}" for right in rights(role, database, cluster)]
    return found


def rights(role: Role, database: str, cluster: Cluster | None) -> list[str]:
    """What a role needs, as `SELECT ON db.table`."""
    schema = schema_of(shipped())
    place = f"`{database}`"
    read = [name for name, view in schema.views.items() if view.to is None]
    found = _catalog(cluster)
    if role == "migrator":
        engines = {table.tail["ENGINE"].partition("(")[0] for table in schema.tables.values()}
        made = {f"Replicated{engine}" for engine in engines} | {"Distributed"} if cluster else engines
        found.append(f"{_OF_SCHEMA} ON {place}.*")
        found += [f"TABLE ENGINE ON {engine}" for engine in sorted(made)]
        return [*found, "CLUSTER ON *.*"] if cluster else found
    for name in (*schema.tables, *read):
        insert = role == "writer" and name in schema.tables and name != HISTORY
        what = "SELECT, INSERT" if insert else "SELECT"
        found += [f"{what} ON {place}.{held}" for held in ((name, local(name)) if cluster else (name,))]
    return found


def _catalog(cluster: Cluster | None) -> list[str]:
    names = (*_CATALOG, *(_CATALOG_OF_CLUSTER if cluster else ()))
    found = [f"SELECT ON system.{name}" for name in names]
    # cluster(...) asks the catalogs of the other servers
    return [*found, "CREATE TEMPORARY TABLE, REMOTE ON *.*"] if cluster else found


def script(found: list[str]) -> str:
    """The statements as a file for `clickhouse-client --multiquery`."""
    return "".join(f"{statement};\n" for statement in found)
