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

from collections.abc import Mapping

SHARDING: Mapping[str, str] = {
    "otel_traces": "cityHash64(TraceId)",
    "otel_logs": "cityHash64(TraceId)",
    "runs": "cityHash64(RunId)",
    "verdicts": "cityHash64(RunId)",
    "judgements": "cityHash64(RunId)",
    "labels": "cityHash64(RunId)",
    "catalogs": "cityHash64(ToolsKey)",
    "alerts": "cityHash64(Alert)",
    "notifications": "cityHash64(Alert)",
    "silences": "cityHash64(Id)",
    "leases": "cityHash64(Name)",
    "bookmarks": "cityHash64(Name)",
    "workers": "cityHash64(Crew)",
    "bonds": "cityHash64(Crew, Worker)",
    "toolselect_migrations": "cityHash64(Number)",
}
"""Table -> sharding key. A migration that makes a table adds it here; the tests fail until it does."""
