"""The benchmark's own parts: a load that is what it says, a client that counts right, figures that reach the page."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.load import Load, Shape, warm_up
from benchmarks.sender import Target, closed_loop, open_loop

from benchmarks import report
from otel_toolselect import dialects
from otel_toolselect.assemble import assemble
from otel_toolselect.errors import StoreError
from otel_toolselect.judge import judge
from otel_toolselect.model.spans import Span
from otel_toolselect.otlp import decode_traces_proto
from otel_toolselect.receive import Receiver, Settings
from otel_toolselect.rules import parse_suite

SMALL = Shape(runs=30, cases=10, services=2, spans_per_request=64, start_ns=1_793_600_000 * 10**9)


def spans_of(shape: Shape) -> list[Span]:
    return [span for request in Load(shape).requests() for span in decode_traces_proto(request.body).spans]


def test_the_same_shape_gives_the_same_bytes_and_another_seed_others() -> None:
    first, second = (list(Load(SMALL).requests()) for _ in range(2))
    assert first == second
    assert first != list(Load(replace(SMALL, seed=2)).requests())


def test_figures_of_requests_are_those_of_their_spans() -> None:
    requests = list(Load(SMALL).requests())
    spans = [decode_traces_proto(request.body).spans for request in requests]
    assert [len(found) for found in spans] == [request.spans for request in requests]
    assert [sum(not s.parent_span_id for s in found) for found in spans] == [request.runs for request in requests]
    assert sum(request.runs for request in requests) == SMALL.runs
    assert max(request.spans for request in requests) == SMALL.spans_per_request


def test_no_run_of_the_warm_up_is_in_the_load() -> None:
    warming = {s.trace_id for r in warm_up(SMALL) for s in decode_traces_proto(r.body).spans}
    assert warming
    assert warming.isdisjoint(span.trace_id for span in spans_of(SMALL))


@pytest.mark.parametrize("count", [1, 12, 40])
def test_as_many_attributes_as_asked_for(count: int) -> None:
    assert {len(span.attributes) for span in spans_of(replace(SMALL, runs=2, attributes=count))} == {count}


def test_the_suite_fits_the_runs() -> None:
    """Every run is judged, and as many begin with a wrong tool as were made so."""
    shape = replace(SMALL, runs=200, wrong=0.25)
    load = Load(shape)
    suite = parse_suite(load.suite(), path="suite.yaml")
    runs = assemble(dialects.read(spans_of(shape)))
    assert len(runs) == shape.runs
    verdicts = judge(runs, suite).runs
    assert len(verdicts) == shape.runs
    assert {verdict.case_id for verdict in verdicts} == {f"case-{n:04d}" for n in range(shape.cases)}
    wrong = sum(verdict.layers["selection"].status == "fail" for verdict in verdicts)
    assert 0.1 * shape.runs < wrong < 0.4 * shape.runs


@pytest.mark.parametrize("address", ["10.0.0.1:4317", "example.com:4317", "0.0.0.0:4317"])
def test_a_load_is_sent_to_this_machine_only(address: str) -> None:
    with pytest.raises(ValueError, match="loopback"):
        Target(address)


class Store:
    """Refuses until told otherwise, so that the spool fills and senders are told to come back."""

    def __init__(self) -> None:
        self.spans: list[str] = []
        self.back = threading.Event()

    def insert(self, spans: object, logs: object, /) -> None:
        if not self.back.is_set():
            raise StoreError("away")
        self.spans += [span.span_id for span in spans]  # type: ignore[attr-defined]


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_the_client_tries_again_and_times_each_request_once(protocol: str, tmp_path: Path) -> None:
    store = Store()
    settings = Settings(
        tmp_path / "spool", grpc_port=0, http_port=0, spool_bytes=400_000, insert_delay_s=0.01, store_backoff_s=0.01
    )
    requests = list(Load(SMALL).requests())
    with Receiver(settings, store) as receiver:
        port = receiver.grpc_port if protocol == "grpc" else receiver.http_port
        target = Target(f"127.0.0.1:{port}", protocol)
        threading.Timer(0.3, store.back.set).start()
        sent = closed_loop(target, requests, 4)
        assert sent.retries > 0
        again = open_loop(target, requests, spans_per_s=5_000)
        receiver.flush()
    for found in (sent, again):
        assert not found.failures
        assert len(found.latencies) == len(requests)
    assert len(store.spans) == 2 * sum(request.spans for request in requests)


def test_a_request_that_is_refused_for_good_is_a_failure(tmp_path: Path) -> None:
    with Receiver(Settings(tmp_path / "spool", grpc_port=0, http_port=None), Store()) as receiver:
        broken = replace(next(iter(Load(SMALL).requests())), body=b"\xff")
        sent = closed_loop(Target(f"127.0.0.1:{receiver.grpc_port}"), [broken], 1)
    assert len(sent.failures) == 1
    assert not sent.latencies


def test_figures_are_shown_with_their_spread_and_ratios() -> None:
    rounds = [
        dict.fromkeys(("cpu_ms", "cpu_calm_ms", "queryable_per_s", "accepted_per_s", "p50_ms", "p99_ms", "peak_mb"), n)
        | {
            "spans": 1000,
            "bytes": 3_000_000,
            "judged_per_s": None,
            "disk_bytes": 300,
            "disk_spans_bytes": 250,
            "parts": 4,
        }
        for n in (90.0, 100.0, 120.0)
    ]
    assert "| x | 1,000 | 100 (90 to 120) |" in report.table({"x": rounds})
    grown = [found | {"cpu_ms": found["cpu_ms"] * 2} for found in rounds]
    text = report.growth_table({"load x1": rounds, "load x10": grown})
    assert "| load x10 | 1,000 | 3,000 | 200 (180 to 240) | 2.00 |" in text
