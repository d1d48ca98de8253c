"""How ClickHouse's own hash spreads traces and runs over shards, and what one lost shard costs: a seeded simulation.

    python -m benchmarks.scale_shards          # the tables of docs/scale.md

Trace sizes are heavy-tailed (most agent runs are short, a few loop for thousands of spans), tenants too (Zipf). Ids are
random, as those of the OpenTelemetry SDKs are, and the shard of an id is `cityHash64(id) % shards` as the engine itself
computes it: sharding keys are those of `store/cluster.py`.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass

import chdb
import pyarrow as pa

from otel_toolselect.store.cluster import SHARDING

SEED = 20261130
TRACES = 200_000
TENANTS = 400
SHARDS = (2, 8, 64)
GROWN = ((2, 3), (8, 9), (8, 16))
# spans of a trace: log-normal, a median of 7 as in the load of the benchmarks, one in a thousand over 700
MEDIAN_SPANS, SIGMA, MOST_SPANS = 7, 1.5, 50_000
BYTES_OF_SPAN, BYTES_SIGMA = 3_193, 0.8
ZIPF = 1.2


@dataclass(frozen=True, slots=True)
class Traffic:
    """One entry per trace."""

    trace_ids: Sequence[str]
    run_ids: Sequence[str]
    spans: Sequence[int]
    bytes: Sequence[int]
    tenants: Sequence[int]


def traffic(seed: int = SEED, traces: int = TRACES) -> Traffic:
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    spans = [min(MOST_SPANS, max(1, round(MEDIAN_SPANS * chance.lognormvariate(0, SIGMA)))) for _ in range(traces)]
    sizes = [round(n * BYTES_OF_SPAN * chance.lognormvariate(-(BYTES_SIGMA**2) / 2, BYTES_SIGMA)) for n in spans]
    weights = [1 / rank**ZIPF for rank in range(1, TENANTS + 1)]
    return Traffic(
        trace_ids=[f"{chance.getrandbits(128):032x}" for _ in range(traces)],
        run_ids=[f"{chance.getrandbits(128):032x}" for _ in range(traces)],
        spans=spans,
        bytes=sizes,
        tenants=chance.choices(range(TENANTS), weights, k=traces),
    )


def hashes(ids: Sequence[str], key: str, column: str) -> list[int]:
    """The sharding key of each, computed by the engine."""
    table = pa.table({column: pa.array(ids, pa.string()), "n": pa.array(range(len(ids)), pa.uint64())})
    with tempfile.NamedTemporaryFile(suffix=".arrow") as file:
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
        file.flush()
        sql = f"SELECT {key} AS h FROM file('{file.name}', 'Arrow') ORDER BY n"  # noqa: S608 - names of ours
        found = pa.ipc.open_stream(chdb.query(sql, "ArrowStream").bytes()).read_all()
    return [int(h) for h in found["h"].to_pylist()]


@dataclass(frozen=True, slots=True)
class Balance:
    """The fullest shard beside the mean, and the shard that 99 in 100 stay below."""

    what: str
    shards: int
    most: float
    p99: float


def balance(what: str, keys: Sequence[int], weights: Sequence[int], shards: int) -> Balance:
    held = [0] * shards
    for key, weight in zip(keys, weights, strict=True):
        held[key % shards] += weight
    mean = sum(held) / shards
    ordered = sorted(held)
    return Balance(what, shards, ordered[-1] / mean, ordered[min(shards - 1, round(0.99 * (shards - 1)))] / mean)


@dataclass(frozen=True, slots=True)
class Lost:
    """Shares of what cannot be read while one shard is away, in the worst case of all shards. `whole`: runs of which
    both spans and verdict can be read. `tenants`: those with 100 runs or more whose missing share lies apart from the
    mean by more than a quarter of it.
    """

    shards: int
    traces: float
    runs: float
    whole: float
    tenants: int
    of_tenants: int


def lost(traffic: Traffic, traces: Sequence[int], runs: Sequence[int], shards: int) -> Lost:
    worst = max(range(shards), key=lambda shard: sum(key % shards == shard for key in traces))
    gone = [key % shards == worst for key in traces]
    unjudged = [key % shards == worst for key in runs]
    total: dict[int, int] = {}
    missing: dict[int, int] = {}
    for tenant, away in zip(traffic.tenants, unjudged, strict=True):
        total[tenant] = total.get(tenant, 0) + 1
        missing[tenant] = missing.get(tenant, 0) + away
    large = [tenant for tenant, n in total.items() if n >= 100]
    odd = [t for t in large if abs(missing[t] / total[t] - 1 / shards) > 0.25 / shards]
    n = len(traces)
    whole = sum(not a and not b for a, b in zip(gone, unjudged, strict=True))
    return Lost(shards, sum(gone) / n, sum(unjudged) / n, whole / n, len(odd), len(large))


def error_of_rates(rate: float, runs: int, missing: float) -> tuple[float, float]:
    """Half the width of a 95 % interval of a rate, in points, over all runs and over those that are left."""
    return tuple(196 * (rate * (1 - rate) / n) ** 0.5 for n in (runs, runs * (1 - missing)))  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Grown:
    """`elsewhere`: traces that would be written to another shard than before. `split`: share of the traces that are
    unfinished or get late spans at that moment that end up on two shards.
    """

    before: int
    after: int
    elsewhere: float


def grown(keys: Sequence[int], before: int, after: int) -> Grown:
    return Grown(before, after, statistics.fmean(key % before != key % after for key in keys))


def simulated() -> tuple[list[Balance], list[Lost], list[Grown]]:
    made = traffic()
    traces = hashes(made.trace_ids, SHARDING["otel_traces"], "TraceId")
    runs = hashes(made.run_ids, SHARDING["judgements"], "RunId")
    tenants = hashes([f"tenant-{t}" for t in made.tenants], "cityHash64(Tenant)", "Tenant")
    ones = [1] * len(traces)
    balances = [
        balance(what, keys, weights, shards)
        for what, keys, weights in (
            ("traces, by trace", traces, ones),
            ("spans, by trace", traces, made.spans),
            ("bytes, by trace", traces, made.bytes),
            ("runs, by run", runs, ones),
            ("spans, if it were by tenant", tenants, made.spans),
        )
        for shards in SHARDS
    ]
    return balances, [lost(made, traces, runs, n) for n in SHARDS], [grown(traces, *pair) for pair in GROWN]


def main() -> None:
    for part in simulated():
        for row in part:
            print(row)


if __name__ == "__main__":
    main()
