"""From what a span costs to machines: the tables of docs/scale.md.

    python -m benchmarks.scale               # prints them, from results.json, scale_tiers.json and the plan below
    python -m benchmarks.scale --write       # into docs/scale.md

Nothing here is measured: what is, is in the two files, with the commands that made them.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.all import RESULTS
from benchmarks.scale_shards import TRACES, Balance, Grown, Lost, error_of_rates, simulated
from benchmarks.scale_tiers import RESULTS as TIERS

from otel_toolselect.store.clickhouse import ROWS_PER_INSERT

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
RATES = (1_000, 100_000, 10_000_000)
RETENTION_DAYS = (7, 30, 90)
DAY_S = 86_400
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Plan:
    """What is chosen, not measured."""

    busy: float = 0.5
    """Of a core, so that peaks of twice the mean fit."""
    receiver_cores: int = 8
    worker_cores: int = 8
    shard_cores: int = 32
    shard_disk_tb: float = 30.0
    replicas: int = 2
    network_gbit: float = 25.0
    spool_gib: int = 1
    """Of one receiving process, as by default."""
    insert_mib: int = 8
    """Of requests in one insert, as by default (`[spool] insert_bytes`)."""
    parts_per_s: float = 10.0
    """New parts that one table of one server takes and merges for good. ClickHouse advises one insert a second, and
    begins to refuse at 3,000 parts of a partition."""
    cell_rate: int = 75_000
    """Spans a second of one cluster, where more than one stand side by side."""
    spans_per_trace: int = 7


@dataclass(frozen=True, slots=True)
class Costs:
    """Per span: CPU us of each tier, bytes on the wire and on disk."""

    receive_us: float
    judge_us: float
    store_us: float
    store_judged_us: float
    bytes_in: float
    bytes_to_store: float
    bytes_spooled: float
    disk_raw: float
    disk_all: float
    shared_us: float
    """Per trace and worker, whoever judges it."""


def costs() -> Costs:
    results, tiers = json.loads(RESULTS.read_text()), json.loads(TIERS.read_text())
    judged: list[dict[str, Any]] = results["whole"]["toolselect, gRPC, judged"]
    stored_tier, judged_tier = tiers["stored"], tiers["judged"]
    return Costs(
        receive_us=stored_tier["serve_cpu_ms"],
        judge_us=judged_tier["serve_cpu_ms"] - stored_tier["serve_cpu_ms"],
        store_us=stored_tier["store_cpu_ms"],
        store_judged_us=judged_tier["store_cpu_ms"],
        bytes_in=judged_tier["bytes_in"],
        bytes_to_store=judged_tier["bytes_to_store"],
        bytes_spooled=tiers["spooled"]["bytes_zstd"],
        disk_raw=median(found["disk_spans_bytes"] for found in judged),
        disk_all=median(found["disk_merged_bytes"] for found in judged),
        shared_us=tiers["shared"]["arrival_us"] + tiers["shared"]["bond_us"],
    )


@dataclass(frozen=True, slots=True)
class Need:
    """Of one cluster at one rate."""

    rate: int
    receivers: int
    workers: int
    shards: int
    by: str
    """What the number of shards follows from."""


def need(rate: int, cost: Costs, plan: Plan) -> Need:
    """Processes of one core for receivers and workers, and shards by processor or disk of 30 days. No number of workers
    is enough from `t / shared` on: then each is busy with what all share. That is `math.inf` of them, said as 0.
    """
    receivers = math.ceil(rate * cost.receive_us / 1e6 / plan.busy)
    left = plan.busy - rate / plan.spans_per_trace * cost.shared_us / 1e6
    workers = math.ceil(rate * cost.judge_us / 1e6 / left) if left > 0 else 0
    by_cpu = math.ceil(rate * cost.store_judged_us / 1e6 / plan.busy / plan.shard_cores)
    by_disk = math.ceil(disk_tb(rate, cost.disk_all, 30) / (plan.shard_disk_tb * 0.7))
    return Need(rate, receivers, workers, max(by_cpu, by_disk), "disk" if by_disk > by_cpu else "processors")


def disk_tb(rate: int, per_span: float, days: int) -> float:
    return rate * DAY_S * days * per_span / 1e12


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def costs_table(cost: Costs) -> str:
    rows = [
        ("receive, check, spool, insert", "receiver", f"{cost.receive_us:.0f} us"),
        ("assemble and judge", "worker", f"{cost.judge_us:.0f} us"),
        ("store spans, merges included", "shard", f"{cost.store_us:.0f} us"),
        ("store spans and what is judged, read for judging", "shard", f"{cost.store_judged_us:.0f} us"),
        ("hear of every trace of the crew", "each worker", f"{cost.shared_us:.1f} us a trace"),
        ("request of a sender", "network", f"{cost.bytes_in:,.0f} bytes"),
        ("to the store, as it is compressed", "network", f"{cost.bytes_to_store:,.0f} bytes"),
        ("in the spool, compressed", "disk of a receiver", f"{cost.bytes_spooled:,.0f} bytes"),
        ("spans, merged", "disk of one replica", f"{cost.disk_raw:.0f} bytes"),
        ("all tables, merged", "disk of one replica", f"{cost.disk_all:.0f} bytes"),
    ]
    return table(("what", "where", "per span"), rows)


def machines_table(cost: Costs, plan: Plan) -> str:
    rows = []
    for rate in RATES:
        cells = max(1, math.ceil(rate / plan.cell_rate)) if rate > plan.cell_rate else 1
        one = need(rate // cells, cost, plan)
        rows.append(
            (
                f"{rate:,}",
                f"{cells:,}",
                processes_and_machines(one.receivers * cells, plan.receiver_cores),
                processes_and_machines(one.workers * cells, plan.worker_cores),
                f"{one.shards * cells:,} ({one.by})",
                f"{one.shards * cells * plan.replicas:,}",
            )
        )
    head = ("spans/s", "clusters", "receivers", "judging workers", "shards", "ClickHouse servers")
    return table(head, rows)


def processes_and_machines(processes: int, cores: int) -> str:
    machines = math.ceil(processes / cores)
    return f"{processes:,} on {machines:,}"


def disk_table(cost: Costs, plan: Plan) -> str:
    rows = []
    for rate in RATES:
        kept = [disk_tb(rate, cost.disk_all, days) * plan.replicas for days in RETENTION_DAYS]
        day = disk_tb(rate, cost.disk_all, 1)
        rows.append((f"{rate:,}", size(day), size(day * plan.replicas), *map(size, kept)))
    head = ("spans/s", "a day", f"with {plan.replicas} replicas", *(f"{days} days" for days in RETENTION_DAYS))
    return table(head, rows)


def size(terabytes: float) -> str:
    if terabytes >= 1_000:
        return f"{terabytes / 1_000:,.1f} PB"
    return f"{terabytes:,.1f} TB" if terabytes >= 1 else f"{terabytes * 1_000:,.0f} GB"


def network_table(cost: Costs, plan: Plan) -> str:
    rows = []
    for rate in RATES:
        into, to_store = (rate * b * 8 / 1e9 for b in (cost.bytes_in, cost.bytes_to_store))
        copies = to_store * (plan.replicas - 1)
        rows.append(
            (f"{rate:,}", gbit(into), gbit(to_store), gbit(copies), f"{math.ceil(into / plan.network_gbit * 2)}")
        )
    head = (
        "spans/s",
        "senders to receivers",
        "receivers and workers to store",
        "between replicas",
        "25 Gbit/s links, half full",
    )
    return table(head, rows)


def gbit(value: float) -> str:
    return f"{value * 1_000:,.1f} Mbit/s" if value < 1 else f"{value:,.1f} Gbit/s"


def limits_table(cost: Costs, plan: Plan) -> str:
    """Where each tier ends, however many machines of it there are."""
    inserts = [("8 MiB, as by default", plan.insert_mib * _MIB / cost.bytes_in)]
    inserts += [(f"{ROWS_PER_INSERT:,} spans, the most", ROWS_PER_INSERT)]
    crew = plan.busy * plan.spans_per_trace / cost.shared_us * 1e6
    rows = [
        (
            "one receiving process",
            f"{1e6 / cost.receive_us:,.0f} spans/s",
            "one core: Python runs one thread at a time",
        ),
        ("one judging worker", f"{1e6 / cost.judge_us:,.0f} spans/s", "one core"),
        *(
            (
                f"one cluster, inserts of {words}",
                f"{spans * plan.parts_per_s:,.0f} spans/s",
                f"each insert makes a part on every shard; a table takes {plan.parts_per_s:.0f} a second",
            )
            for words, spans in inserts
        ),
        ("one crew, half busy", f"{crew:,.0f} spans/s", "every worker hears of every trace"),
        ("one tenant on one shard", "no limit", "traces are spread by their own id, not by tenant"),
    ]
    return table(("of", "ends at", "because"), rows)


def spool_table(cost: Costs, plan: Plan) -> str:
    rows = []
    for share in (0.1, 0.5, 1.0):
        rate = share / cost.receive_us * 1e6
        plain = plan.spool_gib * 2**30 / (rate * cost.bytes_in)
        packed = plan.spool_gib * 2**30 / (rate * cost.bytes_spooled)
        day = rate * cost.bytes_in * DAY_S / 2**30
        rows.append((f"{share:.0%}", f"{rate:,.0f}", f"{plain:,.0f} s", f"{packed:,.0f} s", f"{day / 24:,.0f} GiB"))
    kept = f"{plan.spool_gib} GiB"
    head = ("of a process's capacity", "spans/s", f"{kept}, as sent", f"{kept}, zstd", "an hour needs, as sent")
    return table(head, rows)


def balance_table(found: Sequence[Balance]) -> str:
    rows = [(b.what, f"{b.shards}", f"{b.most:.3f}", f"{b.p99:.3f}") for b in found]
    return table(("what, by which key", "shards", "fullest / mean", "p99 / mean"), rows)


def lost_table(found: Sequence[Lost]) -> str:
    rows = []
    for gone in found:
        before, after = error_of_rates(0.9, 10_000, gone.runs)
        rows.append(
            (
                f"{gone.shards}",
                f"{gone.traces:.1%}",
                f"{gone.runs:.1%}",
                f"{1 - gone.whole:.1%}",
                f"{gone.tenants} of {gone.of_tenants}",
                f"{before:.2f} to {after:.2f}",
            )
        )
    head = (
        "shards", "traces missing", "decisions missing", "runs with either missing", "tenants off by a quarter",
        "95 % interval of a rate of 90 % over 10,000 runs, points",
    )  # fmt: skip
    return table(head, rows)


def grown_table(found: Sequence[Grown]) -> str:
    rows = [(f"{g.before} to {g.after}", f"{g.elsewhere:.1%}", f"{1 - g.before / g.after:.1%}") for g in found]
    head = ("shards", "ids that go elsewhere from now on", "least that a move could be")
    return table(head, rows)


def tables() -> dict[str, str]:
    cost, plan = costs(), Plan()
    balances, losses, growths = simulated()
    return {
        "costs": costs_table(cost),
        "machines": machines_table(cost, plan),
        "limits": limits_table(cost, plan),
        "disk": disk_table(cost, plan),
        "network": network_table(cost, plan),
        "spool": spool_table(cost, plan),
        "balance": balance_table(balances),
        "lost": lost_table(losses),
        "grown": grown_table(growths),
    }


def placed(page: str, made: dict[str, str]) -> str:
    """The page with each table between its marks, `<!-- scale NAME -->` and `<!-- end -->`."""
    for name, text in made.items():
        marks = re.compile(rf"(<!-- scale {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marks.search(page):
            raise ValueError(f"docs/scale.md has no place for the table {name!r}")
        page = marks.sub(lambda found, text=text: found[1] + "\n" + text + "\n" + found[2], page)  # type: ignore[misc]
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description="the capacity model and the simulation of the sharding")
    parser.add_argument("--write", action="store_true", help="into docs/scale.md")
    made = tables()
    if parser.parse_args().write:
        PAGE.write_text(placed(PAGE.read_text("utf-8"), made), "utf-8")
        return
    print(f"{TRACES:,} traces simulated\n")
    for name, text in made.items():
        print(f"## {name}\n\n{text}")


if __name__ == "__main__":
    main()
