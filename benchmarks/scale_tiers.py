"""What each tier of a cluster costs, measured apart: `serve` and the store as two processes with HTTP in between.

    python -m benchmarks.scale_tiers                  # writes benchmarks/scale_tiers.json
    python -m benchmarks.scale_tiers --part shared    # only what every worker does for all traces of the crew

The store is the engine of ClickHouse behind ClickHouse's HTTP interface as the tests have it, in Python: its share of
the work is small beside the engine's. CPU counts until both are idle, merges included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.load import Load, Shape, warm_up
from benchmarks.measure import measure, warm
from benchmarks.sender import Target
from benchmarks.server import Server, process

from benchmarks import processes
from otel_toolselect.model.spans import Span
from otel_toolselect.receive.records import Packer, Request
from otel_toolselect.store import open_store
from otel_toolselect.store.crew_api import TraceBonds

RESULTS = Path(__file__).parent / "scale_tiers.json"
_SPANS = "SELECT sum(rows) FROM system.parts WHERE active AND database = 'default' AND table = 'otel_traces'"
_JUDGED = "SELECT uniqExact(RunId) FROM default.verdicts"
_IN_FLIGHT = 8


def main() -> None:
    parser = argparse.ArgumentParser(description="what each tier of a cluster costs")
    parser.add_argument("--runs", type=int, default=6_000)
    parser.add_argument("--part", choices=("stored", "judged", "shared", "spooled"), action="append")
    arguments = parser.parse_args()
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    measured: dict[str, Callable[[], dict[str, float]]] = {
        "stored": lambda: tiers(arguments.runs, judge=False),
        "judged": lambda: tiers(arguments.runs, judge=True),
        "shared": shared,
        "spooled": spooled,
    }
    for part in arguments.part or measured:
        found[part] = measured[part]() | {"load_average": round(os.getloadavg()[0], 1)}
        print(part, json.dumps(found[part]), flush=True)
    found["date"] = time.strftime("%Y-%m-%d")
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def spooled() -> dict[str, float]:
    """Bytes of a span that waits for the store, with `[spool] compression` off and on."""
    bodies = [(request.body, request.spans) for request in Load(Shape(runs=600)).requests()]
    spans = sum(n for _, n in bodies)
    packer = Packer("zstd")
    packed = sum(len(packer.pack(Request("traces", "protobuf", body), n, 0)[1]) for body, n in bodies)
    return {"bytes_none": round(sum(len(b) for b, _ in bodies) / spans, 1), "bytes_zstd": round(packed / spans, 1)}


def shared(traces: int = 50_000) -> dict[str, float]:
    """CPU us per trace of what each worker of a crew does for all traces, those of others too: it hears of arrivals,
    and of the ids that tie traces together.
    """
    with tempfile.TemporaryDirectory(prefix="toolselect-bench-") as name:
        held = open_store(f"chdb://{name}")
        ids = [f"{n * 2654435761 % 2**128:032x}" for n in range(traces)]
        for at in range(0, traces, 10_000):
            held.insert([Span(i, "0000000000000001", start_ns=10**18) for i in ids[at : at + 10_000]], [])
            held.crews.publish("c", "other", at + 1, [TraceBonds(i, (at, at + 1)) for i in ids[at : at + 10_000]])
        begin = time.process_time()
        heard = len(held.arrivals(None, traces).trace_ids)
        arrived = time.process_time()
        told = len(held.crews.published("c", {}, 0)[1])
        done = time.process_time()
        held.close()
    assert (heard, told) == (traces, traces)
    return {
        "arrival_us": round((arrived - begin) * 1e6 / traces, 2),
        "bond_us": round((done - arrived) * 1e6 / traces, 2),
    }


def tiers(runs: int, *, judge: bool) -> dict[str, float]:
    """CPU ms per 1,000 spans of both processes, and bytes per span between them."""
    load = Load(Shape(runs=runs))
    requests = list(load.requests())
    spans = sum(request.spans for request in requests)
    with tempfile.TemporaryDirectory(prefix="toolselect-bench-") as name:
        folder = Path(name)
        with store(folder) as (engine, port), serving(folder, port, load.suite() if judge else None) as server:
            warm(server, warm_up(load.shape))
            before, said = processes.cpu_s(engine.pid), asked(engine)
            figures = measure(server, requests, _IN_FLIGHT)
            processes.wait_until_calm(engine.pid, 60)
            after, says = processes.cpu_s(engine.pid), asked(engine)
    return {
        "spans": spans,
        "serve_cpu_ms": round(figures.cpu_calm_ms, 1),
        "store_cpu_ms": round((after - before) * 1e6 / spans, 1),
        "bytes_in": round(figures.bytes / spans, 1),
        "bytes_to_store": round((says["bytes"] - said["bytes"]) / spans, 1),
        "statements": says["statements"] - said["statements"],
        "spans_per_insert": round(spans / max(1, says["inserts"] - said["inserts"]), 1),
    }


@contextmanager
def store(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    command = [sys.executable, "-m", "benchmarks.scale_store", f"{folder}/engine"]
    with (folder / "store.log").open("w") as errors:
        running = subprocess.Popen(  # noqa: S603 - a command of this folder, no shell
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
        try:
            assert running.stdout is not None
            line = running.stdout.readline()
            if not line:
                raise RuntimeError((folder / "store.log").read_text())
            yield running, int(line)
        finally:
            running.communicate()


@contextmanager
def serving(folder: Path, port: int, suite: str | None) -> Iterator[Server]:
    settings = folder / "toolselect.toml"
    live = ""
    if suite is not None:
        (folder / "suite.yaml").write_text(suite)
        live = f"[live]\nsuites = [{json.dumps(str(folder / 'suite.yaml'))}]\n"
    settings.write_text(live)
    command = [sys.executable, "-m", "otel_toolselect.cli", "serve", "--format", "json", "--host", "127.0.0.1"]
    command += ["--store", f"clickhouse://localhost:{port}", "--spool", f"{folder}/spool"]
    command += ["--grpc-port", "0", "--http-port", "0"]
    with process(command, folder / "serve.log", {"TOOLSELECT_CONFIG": str(settings)}) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        if not line:
            raise RuntimeError((folder / "serve.log").read_text())
        target = Target(json.loads(line)["grpc"], "grpc")
        yield Server("serve", running.pid, target, counting(port, _SPANS), counting(port, _JUDGED) if suite else None)


def counting(port: int, sql: str) -> Callable[[], int]:
    """A number of the store's, asked for every second: more often the question would be part of the cost."""
    query = urllib.parse.urlencode({"query": sql})

    def count() -> int:
        time.sleep(1)
        with urllib.request.urlopen(f"http://localhost:{port}/?{query}") as answer:
            return int(answer.read())

    return count


def asked(engine: subprocess.Popen[str]) -> dict[str, Any]:
    assert engine.stdin is not None
    assert engine.stdout is not None
    engine.stdin.write("\n")
    engine.stdin.flush()
    found: dict[str, Any] = json.loads(engine.stdout.readline())
    return found


if __name__ == "__main__":
    main()
