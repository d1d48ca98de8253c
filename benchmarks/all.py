"""Everything in one go: `python -m benchmarks.all`, or `make bench`, which also writes the figures into README.md.

Receivers take turns, so that a slow minute of the machine falls on all of them; each measurement has a fresh server
and a fresh store. Every figure is kept, medians are made when they are shown.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.ingest import rounded
from benchmarks.limit import floor
from benchmarks.load import Load, Shape, warm_up
from benchmarks.measure import Figures, Latency, measure, measure_latency, warm
from benchmarks.peers import agentevals
from benchmarks.server import Server, toolselect

RESULTS = Path(__file__).parent / "results.json"
IN_FLIGHT = 16
LOAD = Shape(runs=6_000)
PEER_LOAD = Shape(runs=60, services=1, spans_per_request=128)
"""With the 36 runs that warm it not more sessions than the peer keeps."""
GROWTH = Shape(runs=800)
PREFILL = 1_500
ATTRIBUTES = (1, 10, 20, 40)
HALF_SECONDS, HALF_REQUEST = 20, 128
"""Smaller requests than under load, so that there are enough of them for a p99."""

Open = Callable[[], AbstractContextManager[Server]]


def main() -> None:
    parser = argparse.ArgumentParser(description="all figures of README.md")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-judge", action="store_true", help="until queryable only")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    judge = not arguments.no_judge
    results: dict[str, Any] = {"machine": machine(), "date": time.strftime("%Y-%m-%d"), "rounds": arguments.rounds}
    results["load"] = asdict(LOAD)
    results["whole"] = whole_path(arguments.rounds, judge)
    results["half"] = half_of_capacity(arguments.rounds, judge, capacity_of(results["whole"], judge) / 2)
    if not arguments.no_peer:
        results["peer"], results["peer_missing"] = beside_peer(arguments.rounds, judge)
    if not arguments.no_growth:
        results["growth"] = growth(arguments.rounds, judge)
    arguments.output.write_text(json.dumps(results, indent=1) + "\n")


def machine() -> dict[str, object]:
    """The class of machine; no names."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": os.cpu_count(),
        "memory_gb": round(pages / 1e9),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "load_before": os.getloadavg()[0],
    }


def whole_path(rounds: int, judge: bool) -> dict[str, list[dict[str, Any]]]:
    """The product beside the floor under it, on the same bytes."""
    load = Load(LOAD)
    suite = load.suite()
    kinds: dict[str, Open] = {
        "bare gRPC, bytes counted": lambda: floor("count"),
        "bare gRPC, parsed": lambda: floor("parse"),
        "toolselect, gRPC": toolselect,
        "toolselect, HTTP": lambda: toolselect(protocol="http"),
    }
    if judge:
        kinds["toolselect, gRPC, judged"] = lambda: toolselect(suite)
    return in_turns(rounds, kinds, load, IN_FLIGHT)


def in_turns(rounds: int, kinds: dict[str, Open], load: Load, in_flight: int) -> dict[str, list[dict[str, Any]]]:
    requests, first = list(load.requests()), warm_up(load.shape)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in kinds}
    for _ in range(rounds):
        for name, opened in kinds.items():
            with opened() as server:
                warm(server, first)
                found[name].append(told(name, measure(server, requests, in_flight)))
    return found


def capacity_of(whole: dict[str, list[dict[str, Any]]], judge: bool) -> float:
    """Spans per second that go all the way."""
    if judge:
        return median(found["judged_per_s"] for found in whole["toolselect, gRPC, judged"])
    return median(found["queryable_per_s"] for found in whole["toolselect, gRPC"])


def half_of_capacity(rounds: int, judge: bool, spans_per_s: float) -> list[dict[str, Any]]:
    """Acknowledgements when requests come at half the rate that the whole path bears."""
    load = Load(replace(LOAD, runs=int(spans_per_s * HALF_SECONDS / 7), spans_per_request=HALF_REQUEST))
    requests, suite = list(load.requests()), load.suite() if judge else None
    found = []
    for _ in range(rounds):
        with toolselect(suite) as server:
            warm(server, warm_up(load.shape))
            found.append(told("half of capacity", measure_latency(server, requests, spans_per_s)))
    return found


def beside_peer(rounds: int, judge: bool) -> tuple[dict[str, list[dict[str, Any]]], str | None]:
    """The peer on a load that it can keep, and the product on the same bytes."""
    load = Load(PEER_LOAD)
    suite = load.suite()
    kinds: dict[str, Open] = {"toolselect, gRPC": toolselect}
    if judge:
        kinds["toolselect, gRPC, judged"] = lambda: toolselect(suite)
    missing = agentevals.install()
    if missing is None:
        kinds["agentevals-cli, gRPC, in memory"] = agentevals.agentevals
    return in_turns(rounds, kinds, load, 1), missing


def growth(rounds: int, judge: bool) -> dict[str, list[dict[str, Any]]]:
    """One thing grows, the rest stays."""
    found: dict[str, list[dict[str, Any]]] = {}
    for _ in range(rounds):
        for name, figures in _growing(judge):
            found.setdefault(name, []).append(told(name, figures))
    return found


def _growing(judge: bool) -> Iterator[tuple[str, Figures]]:
    for times in (1, 10):
        load = Load(replace(GROWTH, runs=GROWTH.runs * times))
        yield f"load x{times}", _once(load, judge)
    for times in (1, 10):
        before = Load(replace(GROWTH, runs=PREFILL * times, seed=GROWTH.seed + 1))
        yield f"stored x{times}", _once(Load(GROWTH), judge, before)
    for count in ATTRIBUTES:  # never judged: with few attributes there is nothing to judge
        yield f"attributes {count}", _once(Load(replace(GROWTH, attributes=count)), judge=False)


def _once(load: Load, judge: bool, before: Load | None = None) -> Figures:
    requests = list(load.requests())
    with toolselect(load.suite() if judge else None) as server:
        warm(server, warm_up(load.shape))
        if before is not None:
            measure(server, list(before.requests()), IN_FLIGHT)
        return measure(server, requests, IN_FLIGHT)


def told(name: str, figures: Figures | Latency) -> dict[str, Any]:
    print(name, json.dumps(rounded(figures)), file=sys.stderr, flush=True)
    return asdict(figures)


if __name__ == "__main__":
    main()
