"""One measurement: warm a receiver, send, wait until all is there, read what it cost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.load import Request
from benchmarks.sender import Sent, closed_loop, open_loop
from benchmarks.server import Count, Server

from benchmarks import processes

_POLL_S = 0.25  # a look at the counters costs the server 2 ms, and must not weigh in its figures
_DONE_S = 600.0
_CALM_S = 60.0


@dataclass(frozen=True, slots=True)
class Figures:
    """`*_per_s`: spans per second since the first was sent, until all were in that state; None where the receiver has
    no such state. `cpu_ms`: of the server's process tree per 1,000 spans until the last state was reached, and
    `cpu_calm_ms` until it was idle again, merges in the background included. `disk_*`: bytes per span, of all tables or
    of the raw spans alone.
    """

    server: str
    spans: int
    bytes: int
    in_flight: int
    accepted_per_s: float
    queryable_per_s: float | None
    judged_per_s: float | None
    cpu_ms: float
    cpu_calm_ms: float
    p50_ms: float
    p99_ms: float
    retries: int
    peak_mb: float
    disk_bytes: float | None
    disk_spans_bytes: float | None
    disk_merged_bytes: float | None
    parts: int | None


@dataclass(frozen=True, slots=True)
class Latency:
    """Answers at a fixed rate, the server not being the bottleneck."""

    spans_per_s: float
    requests: int
    p50_ms: float
    p99_ms: float
    retries: int


def warm(server: Server, requests: Sequence[Request]) -> None:
    """Everything that a first request costs, and nothing of it left over for what follows."""
    before = _at(server.stored), _at(server.judged)
    _check(closed_loop(server.target, requests, 1))
    _wait(server, "stored", before[0] + sum(r.spans for r in requests))
    _wait(server, "judged", before[1] + sum(r.runs for r in requests))
    processes.wait_until_calm(server.pid, _CALM_S)


def measure(server: Server, requests: Sequence[Request], in_flight: int) -> Figures:
    """Closed loop. Raises RuntimeError when a request failed or spans did not arrive."""
    spans, runs = sum(r.spans for r in requests), sum(r.runs for r in requests)
    stored, judged = _at(server.stored), _at(server.judged)
    cpu, begin = processes.cpu_s(server.pid), time.perf_counter()
    sent = _check(closed_loop(server.target, requests, in_flight))
    queryable = _wait(server, "stored", stored + spans) - begin
    finished = _wait(server, "judged", judged + runs) - begin
    cpu_done = processes.cpu_s(server.pid) - cpu
    processes.wait_until_calm(server.pid, _CALM_S)
    cpu_calm = processes.cpu_s(server.pid) - cpu
    peak = processes.peak_mb(server.pid)
    total = stored + spans
    disk = server.disk()
    return Figures(
        server=server.name,
        spans=spans,
        bytes=sum(len(r.body) for r in requests),
        in_flight=in_flight,
        accepted_per_s=spans / sent.seconds,
        queryable_per_s=spans / queryable if server.stored else None,
        judged_per_s=spans / finished if server.judged else None,
        cpu_ms=cpu_done * 1e6 / spans,
        cpu_calm_ms=cpu_calm * 1e6 / spans,
        p50_ms=sent.latency_ms(0.5),
        p99_ms=sent.latency_ms(0.99),
        retries=sent.retries,
        peak_mb=peak,
        disk_bytes=disk["bytes"] / total if disk else None,
        disk_spans_bytes=disk["bytes_spans"] / total if disk else None,
        disk_merged_bytes=disk["bytes_merged"] / total if disk else None,
        parts=disk.get("parts"),
    )


def measure_latency(server: Server, requests: Sequence[Request], spans_per_s: float) -> Latency:
    """Open loop at a rate that somebody chose."""
    sent = _check(open_loop(server.target, requests, spans_per_s))
    return Latency(spans_per_s, len(requests), sent.latency_ms(0.5), sent.latency_ms(0.99), sent.retries)


def _at(count: Count | None) -> int:
    return count() if count else 0


def _wait(server: Server, what: Literal["stored", "judged"], wanted: int) -> float:
    """The moment when the count was reached (time.perf_counter). Where the server has counters they are watched, and
    what a reader sees is counted when they say that it is all there.
    """
    count: Count | None = getattr(server, what)
    end = time.monotonic() + _DONE_S
    while count is not None:
        if server.counters().get(what, wanted) >= wanted:
            now = count()
            if now == wanted:
                break
            if now > wanted:
                raise RuntimeError(f"{now} were {what}, {wanted} were sent")
        if time.monotonic() > end:
            raise RuntimeError(f"not all of {wanted} were {what}")
        time.sleep(_POLL_S)
    return time.perf_counter()


def _check(sent: Sent) -> Sent:
    if sent.failures:
        raise RuntimeError(f"{len(sent.failures)} requests failed, the first: {sent.failures[0]}")
    return sent
