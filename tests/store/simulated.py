"""A cluster of two shards in one embedded engine, as near to the real thing as one process comes.

The engine is given a cluster in its configuration whose two shards are all itself. `Distributed` tables, their inserts
and the plans of queries over them are ClickHouse's own: rows are parted by the sharding key, each shard aggregates what
it has, the first server merges. As all shards are one engine, what the local tables hold is the rows of all of them;
a filter lets each shard see its own alone. What is not there: other servers, replicas, Keeper, and so no ON CLUSTER and
no Replicated engines, which are taken out of the statements on their way.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chdb
import pytest

from otel_toolselect.store import cluster, open_store, opening, session
from otel_toolselect.store.cluster import SHARDING, local
from otel_toolselect.web.gateway import new_token
from otel_toolselect.web.lending import serving

NAME, SHARDS = "two", 2
_CONFIG = """<clickhouse>
  <tcp_port>9000</tcp_port>
  <macros><shard>1</shard><replica>a</replica></macros>
  <remote_servers><{name}>{shards}</{name}></remote_servers>
  <storage_configuration>
    <disks><cold><path>{home}/cold/</path></cold></disks>
    <policies>
      <tiered><volumes>
        <default><disk>default</disk></default>
        <cold><disk>cold</disk></cold>
      </volumes></tiered>
    </policies>
  </storage_configuration>
</clickhouse>
"""
_REPLICA = "<replica><host>localhost</host><port>9000</port></replica>"
_SHARD = f"<shard><internal_replication>true</internal_replication>{_REPLICA}</shard>"
_REPLICATED = re.compile(r"Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?")


def alone(statement: str) -> str:
    """What one server can carry out of a statement for a cluster."""
    return _REPLICATED.sub(r"\1(", statement.replace(f" ON CLUSTER '{NAME}'", ""))


class Simulated:
    """A running engine with a cluster; `dsn` is of a database of its own for each name."""

    def __init__(self, home: Path, address: str, token: str) -> None:
        self._home, self._address, self._token = home, address, token
        self._names = itertools.count()
        self._connection = chdb.connect(str(home))

    def dsn(self, database: str | None = None, cluster_name: str | None = NAME) -> str:
        database = database or f"c{next(self._names)}"
        of = f"?cluster={cluster_name}" if cluster_name else ""
        return f"clickhouse://anybody:{self._token}@{self._address}/{database}{of}"

    def query(self, sql: str) -> str:
        """On one server, past the filter that makes shards of it."""
        return str(self._connection.query(sql, "TabSeparated").bytes().decode())

    def empty(self, database: str) -> None:
        """Take all rows out of a database but those that say what was migrated."""
        names = self.query(f"SELECT name FROM system.tables WHERE database = '{database}' AND engine LIKE '%MergeTree'")
        for name in names.split():
            if name != local("toolselect_migrations"):
                self.query(f"TRUNCATE TABLE {database}.{name}")

    def close(self) -> None:
        self._connection.close()


@contextmanager
def simulated(home: Path) -> Iterator[Simulated]:
    """The engine holds the directory, and this process, while the block lasts."""
    config = home / "config.xml"
    config.write_text(_CONFIG.format(name=NAME, shards=_SHARD * SHARDS, home=home))
    # 0: not asked for a shard, as a materialized view is when rows are inserted
    own = {local(name): f"{key} % {SHARDS} + 1 = shardNum() OR shardNum() = 0" for name, key in SHARDING.items()}
    filters = "{" + ", ".join(f"'{name}': '{condition}'" for name, condition in own.items()) + "}"
    execute = session.Session.execute

    def executed(self: session.Session, sql: str, params: Any = None) -> None:
        execute(self, alone(sql), params)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opening, "_ENGINE_OPTIONS", dict(opening._ENGINE_OPTIONS) | {"config-file": str(config)})
        patched.setattr(
            cluster,
            "SETTINGS",
            dict(cluster.SETTINGS) | {"prefer_localhost_replica": "1", "additional_table_filters": filters},
        )
        patched.setattr(session.Session, "execute", executed)
        (home / "engine").mkdir()
        holder = open_store(f"chdb://{home / 'engine'}", create=False)
        engine = holder.raw_engine()
        assert engine is not None
        token = new_token()
        with serving(engine, token) as url:
            running = Simulated(home / "engine", url.removeprefix("http://"), token)
            yield running
            running.close()
        engine.close()
        holder.close()
