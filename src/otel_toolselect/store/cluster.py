"""Which shard of a cluster a row belongs to.

Each table X is there twice: `X_local` on every server, replicated within its shard, and `X`, a `Distributed` table over
all shards, which every query and insert names. The shard of a row is the sharding key modulo the number of shards. Two
rules make each query right that is right on one server:

1. A key is made of columns of the table's sorting key, so that rows that replace one another, whatever their version,
   meet on one shard, and `FINAL` there leaves one of them. Rows that mark something as gone hold these columns too.
2. What is told of together is kept together. Spans and log records go by trace, so that a trace is read whole on one
   shard. Everything that is said of a run (its row, verdicts, decisions, labels) goes by run. The id of a run is a hash
   of its trace and root span: it never changes, while the traces of a run do, when late spans tie another one to it.

What monitors and workers remember is small, and needs an order rather than room: each table goes by the name of what it
is about, so that all who contend for one lease, and all workers of one crew, ask one shard; what one worker publishes
is one insert on one shard, which readers see as a whole or not at all.

Log records and spans without a trace id all go to one shard.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.errors import UsageError

SHARDING: Mapping[str, str] = {
    "otel_traces": "cityHash64(TraceId)",
    "otel_logs": "cityHash64(TraceId)",
    "runs": "cityHash64(RunId)",
    "run_texts": "cityHash64(RunId)",
    "verdicts": "cityHash64(RunId)",
    "judgements": "cityHash64(RunId)",
    "labels": "cityHash64(RunId)",
    "events": "cityHash64(RunId)",
    "decisions": "cityHash64(RunId)",
    "catalogs": "cityHash64(ToolsKey)",
    "alerts": "cityHash64(Alert)",
    "notifications": "cityHash64(Alert)",
    "silences": "cityHash64(Id)",
    "audit": "cityHash64(Id)",
    "leases": "cityHash64(Name)",
    "bookmarks": "cityHash64(Name)",
    "workers": "cityHash64(Crew)",
    "bonds": "cityHash64(Crew, Worker)",
    "toolselect_migrations": "cityHash64(Number)",
}
"""Table or view -> sharding key. A migration that makes one adds it here; the tests fail until it does."""

SETTINGS: Mapping[str, str] = {
    # an insert is on its shards when it returns, and a shard that is away is an error, never a silent gap
    "distributed_foreground_insert": "1",
    "skip_unavailable_shards": "0",
    # what was written is read again: all go to the first replica of a shard that is there, in the order of the
    # cluster's configuration, also from a server that holds another one
    "load_balancing": "in_order",
    "prefer_localhost_replica": "0",
    # a subquery is answered by all shards together, once, and its answer is sent to each of them
    "distributed_product_mode": "global",
    # a condition on the sharding key asks the shards that it can be true on, no others
    "optimize_skip_unused_shards": "1",
    # a claim of a lease reads and writes one table: it must not do so on each shard apart
    "parallel_distributed_insert_select": "0",
    # a change of a table is done on every replica when it returns, as a view that needs it may come next
    "alter_sync": "2",
}
"""Settings of every statement on a cluster."""

LOCAL = "_local"
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}|\{[A-Za-z0-9_]{1,64}\}")


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster as its servers name it, or `{macro}`. `quorum`: replicas that must have an insert before it returns, a
    number or "auto" for most of them; "": one, as ClickHouse does.
    """

    name: str
    quorum: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise UsageError(
                f"{self.name!r} is no name of a cluster; give the name that <remote_servers> of the servers says, "
                "as in clickhouse://host/db?cluster=NAME"
            )
        if self.quorum not in ("", "auto") and not (self.quorum.isdecimal() and 1 < int(self.quorum) < 100):
            raise UsageError(f"{self.quorum!r} is no quorum; give a number of replicas from 2, or auto")

    @property
    def on(self) -> str:
        return f" ON CLUSTER '{self.name}'"

    @property
    def settings(self) -> dict[str, str]:
        return dict(SETTINGS) | ({"insert_quorum": self.quorum} if self.quorum else {})


def local(table: str) -> str:
    """The table that holds the rows of one shard."""
    return f"{table}{LOCAL}"
