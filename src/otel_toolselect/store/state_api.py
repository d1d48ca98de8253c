"""What a store says of itself: `Store.state`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableState:
    """Rows with repeats that are not merged yet, parts and bytes on disk; `keeps`: its retention and tier in words."""

    table: str
    rows: int
    parts: int
    bytes: int
    keeps: str = ""


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """A server of the cluster. `readonly`: tables that it cannot write now; `delay_s`: how far its tables are behind;
    `waiting`: parts that it has to fetch or merge.
    """

    shard: int
    host: str
    readonly: int = 0
    delay_s: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class StoreState:
    """`applied`, `pending`: migrations as `0001_spans`; `statements`: those that the pending ones would run.
    `foreign`: a Collector made the tables of spans.
    """

    engine: str
    applied: tuple[str, ...]
    pending: tuple[str, ...]
    statements: tuple[str, ...]
    tables: tuple[TableState, ...]
    cluster: str | None = None
    replicas: tuple[ReplicaState, ...] = ()
    foreign: bool = False
