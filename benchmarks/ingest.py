"""What ingest costs: one load into a fresh `toolselect serve`, several times.

    python -m benchmarks.ingest                          # gRPC, until queryable
    python -m benchmarks.ingest --judge                  # until judged, against the suite that fits the load
    python -m benchmarks.ingest --protocol http --in-flight 4 --runs 1000 --rounds 1 --json out.json

`--rate N` sends at N spans per second instead, and tells latencies only.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from statistics import median

from benchmarks.load import Load, add_shape, shape_of, warm_up
from benchmarks.measure import Figures, Latency, measure, measure_latency, warm
from benchmarks.server import toolselect


def main() -> None:
    parser = argparse.ArgumentParser(description="what ingest costs")
    add_shape(parser)
    parser.add_argument("--protocol", choices=("grpc", "http"), default="grpc")
    parser.add_argument("--in-flight", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--judge", action="store_true", help="judge as spans arrive, wait for the verdicts")
    parser.add_argument("--rate", type=float, default=0.0, help="spans per second; 0: as fast as they are taken")
    parser.add_argument("--json", type=Path, help="where figures go too")
    arguments = parser.parse_args()
    load = Load(shape_of(arguments))
    requests, first = list(load.requests()), warm_up(load.shape)
    found: list[Figures | Latency] = []
    for _ in range(arguments.rounds):
        with toolselect(load.suite() if arguments.judge else None, arguments.protocol) as server:
            warm(server, first)
            if arguments.rate:
                found.append(measure_latency(server, requests, arguments.rate))
            else:
                found.append(measure(server, requests, arguments.in_flight))
        print(json.dumps(rounded(found[-1])), flush=True)
    names = [name for name, value in asdict(found[0]).items() if isinstance(value, int | float)]
    print("median", json.dumps({n: round(median(getattr(f, n) for f in found), 2) for n in names}))
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(f) for f in found], indent=1) + "\n")


def rounded(figures: Figures | Latency) -> dict[str, object]:
    return {k: round(v, 2) if isinstance(v, float) else v for k, v in asdict(figures).items()}


if __name__ == "__main__":
    main()
