"""A receiver under measurement: started for one measurement, asked for what it holds, stopped.

Each kind of receiver is a context manager that yields a Server; what is sent and how the cost is read is the same for
all of them (`measure.py`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.sender import Target

from otel_toolselect.store.dsn import DEFAULT_DATABASE
from otel_toolselect.store.serveinfo import read_serve_info

_STOP_S, _QUERY_S = 60, 300
Count = Callable[[], int]


@dataclass(frozen=True, slots=True)
class Server:
    """`stored`, where it keeps anything, counts the spans that a reader sees now; `judged`, where it judges, the runs
    that have a verdict. `disk` tells bytes and parts of what is kept. `counters`, where it tells, are its own: cheap to
    read, they say when it is worth to count.
    """

    name: str
    pid: int
    target: Target
    stored: Count | None = None
    judged: Count | None = None
    disk: Callable[[], Mapping[str, int]] = field(default=dict)
    counters: Callable[[], Mapping[str, float]] = field(default=dict)


@contextmanager
def toolselect(suite: str | None = None, protocol: str = "grpc") -> Iterator[Server]:
    """`toolselect serve` on an embedded store in a folder of its own; with a suite it judges as spans arrive."""
    with tempfile.TemporaryDirectory(prefix="toolselect-bench-") as name:
        folder = Path(name)
        settings = folder / "toolselect.toml"
        settings.write_text(_settings(folder, suite))
        command = [sys.executable, "-m", "otel_toolselect.cli", "serve", "--format", "json", "--host", "127.0.0.1"]
        command += ["--store", f"chdb://{folder}/store", "--grpc-port", "0", "--http-port", "0"]
        with process(command, folder / "log", {"TOOLSELECT_CONFIG": str(settings)}) as running:
            assert running.stdout is not None
            line = running.stdout.readline()
            if not line:
                raise RuntimeError("toolselect serve did not start: " + (folder / "log").read_text())
            facts = json.loads(line)
            query = _asker(folder / "store")
            target = Target(facts["grpc"] if protocol == "grpc" else facts["http"].removeprefix("http://"), protocol)
            judged = "SELECT uniqExact(RunId) FROM verdicts"
            yield Server(
                "toolselect",
                running.pid,
                target,
                stored=lambda: int(query("SELECT count() FROM otel_traces FINAL")),
                judged=(lambda: int(query(judged))) if suite else None,
                disk=lambda: _disk(query),
                counters=lambda: _counters(facts["http"]),
            )


def _settings(folder: Path, suite: str | None) -> str:
    if suite is None:
        return ""
    (folder / "suite.yaml").write_text(suite)
    return f"[live]\nsuites = [{json.dumps(str(folder / 'suite.yaml'))}]\n"


def _asker(store: Path) -> Callable[[str], str]:
    """Asks the running server, the way other commands do: through the gateway that it lends its store by."""
    info = read_serve_info(store)
    if info is None:
        raise RuntimeError("toolselect serve lends no store")
    url = info.url + "/?" + urllib.parse.urlencode({"database": DEFAULT_DATABASE, "default_format": "TSV"})

    def query(sql: str) -> str:
        # the address is on loopback and comes from the server's own file
        request = urllib.request.Request(url, sql.encode(), {"authorization": f"Bearer {info.token}"})  # noqa: S310
        with urllib.request.urlopen(request, timeout=_QUERY_S) as answer:  # noqa: S310
            text: str = answer.read().decode().strip()
        return text

    return query


def _counters(http: str) -> dict[str, float]:
    """Spans stored and runs judged since the start, as /metrics has them."""
    with urllib.request.urlopen(http + "/metrics", timeout=_QUERY_S) as answer:  # noqa: S310 - our own server
        lines = [line.split() for line in answer.read().decode().splitlines()]
    told = {name: float(value) for name, value in (line for line in lines if len(line) == 2)}
    return {what: told.get(f"toolselect_{name}_total", 0.0) for what, name in _COUNTERS.items()}


_COUNTERS = {"stored": "delivered_spans", "judged": "live_runs"}


def _disk(query: Callable[[str], str]) -> dict[str, int]:
    """Of all tables, and of the raw spans among them, as it is; then of all after a merge of everything, which merges
    in the background approach over time.
    """
    asked = (
        "SELECT sum(bytes_on_disk), sumIf(bytes_on_disk, table = 'otel_traces'), count() FROM system.parts "
        "WHERE active AND database = currentDatabase()"
    )
    now, spans, parts = map(int, query(asked).split())
    tables = "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'"
    for table in query(tables).split():
        query(f"OPTIMIZE TABLE {table} FINAL")
    merged, _, _ = map(int, query(asked).split())
    return {"bytes": now, "bytes_spans": spans, "parts": parts, "bytes_merged": merged}


@contextmanager
def process(
    command: Sequence[str], log: Path, variables: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A server as a process, its standard output to be read, its errors in `log`; stopped at the end."""
    with log.open("w") as errors:
        running = subprocess.Popen(  # noqa: S603 - commands of this folder, no shell
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env={**os.environ, **(variables or {})}
        )
        try:
            yield running
        finally:
            running.terminate()
            try:
                running.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()
            if running.stdout is not None:
                running.stdout.close()
