"""/metrics, /healthz and /readyz of a running receiver."""

from __future__ import annotations

import errno
import gzip
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text
from receive_samples import away, proto_request, request, span

from otel_toolselect.receive import Receiver, segments
from otel_toolselect.receive.counters import OTHER, REFUSALS, REJECTIONS, SENDERS_SHOWN, Counters
from otel_toolselect.receive.metrics import _COUNTED

PORTS = {"grpc_port": None}
WAIT_S = 20.0


def get(receiver: Receiver, path: str, **headers: str) -> httpx.Response:
    return httpx.get(f"http://127.0.0.1:{receiver.http_port}{path}", headers=headers, timeout=WAIT_S)


def send(post: Callable[..., httpx.Response], receiver: Receiver, body: bytes) -> httpx.Response:
    """Sends protobuf, which is kept byte for byte."""
    return post(receiver, body, content_type="application/x-protobuf")


def figures(receiver: Receiver) -> dict[str, float]:
    """Samples as `name{label=value,...}`, without the prefix."""
    found = {}
    for family in parse_text(get(receiver, "/metrics").text):
        for sample in family.samples:
            labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
            found[sample.name.removeprefix("toolselect_") + (f"{{{labels}}}" if labels else "")] = sample.value
    return found


def until(condition: Callable[[], bool]) -> None:
    """Waits for something that another thread brings about."""
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, "it never came"
        threading.Event().wait(0.01)


def test_every_promise_has_a_figure(running, sink, post) -> None:
    receiver = running()
    assert post(receiver, request(span(1), span(2), span(3, spanId="bad"))).status_code == 200
    assert post(receiver, b"{").status_code == 400
    assert post(receiver, b"{}", content_type="text/plain").status_code == 415
    receiver.flush()
    got = figures(receiver)
    assert got["accepted_spans_total"] == got["delivered_spans_total"] == 2
    assert got["requests_total{outcome=accepted,protocol=http}"] == 1
    assert got["requests_total{outcome=refused,protocol=http}"] == 2
    assert got["requests_total{outcome=failed,protocol=grpc}"] == 0
    assert got["refused_requests_total{reason=not_otlp}"] == 1
    assert got["refused_requests_total{reason=unsupported_type}"] == 1
    assert got["rejected_records_total{reason=invalid}"] == 1
    assert got["inserts_total"] == sink.calls == 1
    assert got["dead_letters_total"] == 1
    assert got["spool_bytes"] == got["spool_oldest_seconds"] == 0
    assert got["spool_limit_bytes"] == 2**30
    assert got["ack_seconds_count"] == got["drain_lag_seconds_count"] == 1
    assert got["ack_seconds_bucket{le=+Inf}"] == 1
    assert "ack_seconds_bucket{le=0.05}" in got
    assert got["ready"] == 1
    assert got["process_resident_memory_bytes"] > 0
    assert any(name.startswith("build_info{") for name in got)


def test_what_waits_for_the_store_is_shown_with_its_age(running, sink, post) -> None:
    sink.fail = away
    receiver = running()
    body = proto_request(1)
    assert send(post, receiver, body).status_code == 200
    until(lambda: figures(receiver)["insert_failures_total"] > 0)
    got = figures(receiver)
    assert got["spool_bytes"] == len(body)
    assert got["spool_oldest_seconds"] > 0
    assert got["delivered_spans_total"] == 0
    sink.fail = lambda spans: None
    receiver.flush()
    after = figures(receiver)
    assert after["spool_bytes"] == after["spool_oldest_seconds"] == 0
    assert after["drain_lag_seconds_sum"] >= got["spool_oldest_seconds"]


def test_the_age_of_what_waits_survives_a_restart(running, sink, post, monkeypatch) -> None:
    sink.fail = away
    first = running(stop_s=0.1)
    with monkeypatch.context() as patch:
        patch.setattr("otel_toolselect.receive.spool.time.time_ns", lambda: int((time.time() - 1000) * 1e9))
        assert post(first, request(span(1))).status_code == 200
    assert first.stop() == 1
    second = running(stop_s=0.1)
    got = figures(second)
    assert got["replayed_requests_total"] == 1
    assert 1000 <= got["spool_oldest_seconds"] < 1000 + WAIT_S


@pytest.mark.parametrize(
    ("accept", "kind", "parse"),
    [
        ("", "text/plain", parse_text),
        (
            "application/openmetrics-text; version=1.0.0,text/plain;q=0.5",
            "application/openmetrics-text",
            parse_openmetrics,
        ),
        ("application/openmetrics-text; version=x.y", "text/plain", parse_text),
    ],
)
def test_formats_are_negotiated_and_follow_the_conventions(running, accept: str, kind: str, parse: Any) -> None:
    answer = get(running(), "/metrics", accept=accept)
    assert answer.headers["content-type"].startswith(kind)
    families = list(parse(answer.text))
    own = [f for f in families if f.name.startswith("toolselect_")]
    assert len(own) > 15
    for family in own:
        assert family.documentation.endswith("."), family.name
        assert not family.name.endswith(("_ms", "_milliseconds", "_kb", "_mb", "_count")), family.name
        assert family.samples or family.name.startswith("toolselect_quota_refusals"), family.name


def test_the_figures_need_the_token_and_the_probes_do_not(running) -> None:
    receiver = running(bearer_token="s3cret")
    assert get(receiver, "/metrics").status_code == 401
    assert get(receiver, "/metrics", authorization="Bearer s3cret").status_code == 200
    assert get(receiver, "/healthz").json() == {"status": "ok"}
    assert get(receiver, "/readyz").json() == {"status": "ready"}


def test_a_full_spool_is_not_ready_until_there_is_room(running, sink, post) -> None:
    sink.fail = away
    body = proto_request(1)
    receiver = running(spool_bytes=len(body) + 10)
    assert send(post, receiver, body).status_code == 200
    assert get(receiver, "/readyz").status_code == 200, "it is not full before somebody was turned away"
    assert send(post, receiver, body).status_code == 429
    answer = get(receiver, "/readyz")
    assert (answer.status_code, answer.json()) == (503, {"status": "spool_full"})
    assert get(receiver, "/healthz").status_code == 200
    got = figures(receiver)
    assert got["ready"] == 0
    assert got["refused_requests_total{reason=spool_full}"] == 1
    assert got["requests_total{outcome=overloaded,protocol=http}"] == 1
    sink.fail = lambda spans: None
    receiver.flush()
    assert get(receiver, "/readyz").json() == {"status": "ready"}


def test_a_disk_that_cannot_be_written_is_not_ready_and_comes_back_without_traffic(
    running, post, monkeypatch, tmp_path: Path
) -> None:
    receiver = running()
    whole = {"sync": segments._sync, "fsync": os.fsync}

    def no_space(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(segments, "_sync", no_space)
    monkeypatch.setattr(os, "fsync", no_space)
    assert post(receiver, request(span(1))).status_code == 429
    assert get(receiver, "/readyz").json() == {"status": "spool_broken"}
    assert figures(receiver)["refused_requests_total{reason=spool_broken}"] == 1
    monkeypatch.setattr(segments, "_sync", whole["sync"])
    monkeypatch.setattr(os, "fsync", whole["fsync"])
    until(lambda: get(receiver, "/readyz").status_code == 200)
    assert post(receiver, request(span(1))).status_code == 200
    assert not (tmp_path / "spool" / "probe").exists()


def test_other_parts_show_figures_and_a_broken_one_costs_only_its_own(running) -> None:
    from prometheus_client.core import GaugeMetricFamily

    class Good:
        name = "good"

        def collect(self) -> list[Any]:
            return [GaugeMetricFamily("toolselect_good", "Good.", value=7)]

    class Bad:
        name = "bad"

        def collect(self) -> list[Any]:
            raise RuntimeError("no figures today")

    receiver = running(collectors=[Bad()])
    receiver.metrics.register(Good())
    got = figures(receiver)
    assert got["good"] == 7
    assert got["collector_errors_total{collector=bad}"] == 1
    assert got["collector_errors_total{collector=receiver}"] == 0


def test_reasons_and_names_are_bounded() -> None:
    counters = Counters()
    for n in range(3 * SENDERS_SHOWN):
        counters.refuse(f"made up {n}")
        counters.reject(f"made up {n}", 2)
        counters.over_quota(f"token {n}")
    counts = counters.by_label()
    assert set(counts.refusals) == set(REFUSALS)
    assert set(counts.rejections) == set(REJECTIONS)
    assert counts.refusals[OTHER] == 3 * SENDERS_SHOWN
    assert counts.rejections[OTHER] == counters.rejected == 6 * SENDERS_SHOWN
    assert len(counts.over_quota) == SENDERS_SHOWN + 1
    assert sum(counts.over_quota.values()) == 3 * SENDERS_SHOWN


def test_every_count_is_shown() -> None:
    by_label = {"requests", "refused", "overloaded", "failed", "rejected"}
    assert {counted for counted, _ in _COUNTED.values()} | by_label == set(Counters().snapshot())


def test_a_compressed_request_counts_once(running, post) -> None:
    receiver = running()
    post(receiver, gzip.compress(request(span(1))), content_encoding="gzip")
    assert figures(receiver)["accepted_spans_total"] == 1


def test_grpc_health_follows(running, sink, post) -> None:
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    sink.fail = away
    body = proto_request(1)
    receiver = running(grpc_port=0, spool_bytes=len(body) + 10)
    states = health_pb2.HealthCheckResponse
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=WAIT_S)
        assert next(watch).status == states.SERVING
        send(post, receiver, body)
        assert send(post, receiver, body).status_code == 429
        assert next(watch).status == states.NOT_SERVING
        sink.fail = lambda spans: None
        assert next(watch).status == states.SERVING
        watch.cancel()
