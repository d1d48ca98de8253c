"""A cluster of two shards in one embedded engine, as near to the real thing as one process comes.

The engine is given a cluster in its configuration whose two shards are all itself. `Distributed` tables, their inserts
and the plans of queries over them are ClickHouse's own: rows are parted by the sharding key, each shard aggregates what
it has, the first server merges. As all shards are one engine, what the local tables hold is the rows of all of them;
a filter lets each shard see its own alone. What is not there: other servers, replicas, Keeper, and so no ON CLUSTER and
no Replicated engines, which are taken out of the statements before the engine sees them.

The product knows nothing of it: `python -m tests.store.simulated FOLDER` prints a DSN for any command of it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import chdb
import pytest

from otel_toolselect.store import RawEngine, RawResult, open_store, opening
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
_REPLICATED = re.compile(rb"Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?")


class Alone:
    """An engine that carries out of a statement for a cluster what one server can, and parts itself into shards."""

    def __init__(self, engine: RawEngine) -> None:
        self._engine = engine
        # 0: not asked for a shard, as a materialized view is when rows are inserted
        own = {local(name): f"{key} % {SHARDS} + 1 = shardNum() OR shardNum() = 0" for name, key in SHARDING.items()}
        filters = ", ".join(f"'{name}': '{condition}'" for name, condition in own.items())
        self._settings = {"prefer_localhost_replica": "1", "additional_table_filters": f"{{{filters}}}"}

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
        bare = _REPLICATED.sub(rb"\1(", sql.replace(f" ON CLUSTER '{NAME}'".encode(), b""))
        wanted = {**settings, **self._settings}
        return self._engine.raw_query(bare, data=data, params=params, settings=wanted, database=database, fmt=fmt)

    def timezone(self) -> str:
        return self._engine.timezone()

    def close(self) -> None:
        self._engine.close()


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
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(opening, "_ENGINE_OPTIONS", dict(opening._ENGINE_OPTIONS) | {"config-file": str(config)})
        (home / "engine").mkdir()
        holder = open_store(f"chdb://{home / 'engine'}", create=False)
        engine = holder.raw_engine()
        assert engine is not None
        token = new_token()
        with serving(Alone(engine), token) as url:
            running = Simulated(home / "engine", url.removeprefix("http://"), token)
            yield running
            running.close()
        engine.close()
        holder.close()


def main() -> None:
    import sys
    import time

    with simulated(Path(sys.argv[1])) as running:
        print(running.dsn(), flush=True)
        while True:
            time.sleep(60)


if __name__ == "__main__":
    main()
