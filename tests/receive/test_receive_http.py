"""OTLP/HTTP: what is accepted, and which status and body each fault gets."""

from __future__ import annotations

import gzip
import json
import logging
import time
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest
import zstandard
from google.rpc.status_pb2 import Status
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from receive_samples import TRACE, proto_request, request, span
from starlette.responses import PlainTextResponse
from starlette.routing import Route

DATA = Path(__file__).parents[1] / "otlp" / "data"
GZIPPED = DATA / "08-gzip-members-and-bomb"
PORTS = {"grpc_port": None}
PROTO = "application/x-protobuf"


def test_json_and_protobuf_arrive(running, sink, post) -> None:
    receiver = running()
    answer = post(receiver, request(span(1)))
    assert (answer.status_code, answer.json()) == (200, {})
    answer = post(receiver, proto_request(2), content_type=PROTO)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == PROTO
    receiver.flush()
    assert sink.ids == {1, 2}


def test_logs_arrive(running, sink, post) -> None:
    receiver = running()
    body = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "hi"}}]}]}]}
    assert post(receiver, json.dumps(body), path="/v1/logs").status_code == 200
    receiver.flush()
    assert [log.body for log in sink.logs] == ["hi"]


@pytest.mark.parametrize(
    ("pack", "coding"),
    [
        (gzip.compress, "gzip"),
        (lambda b: gzip.compress(b[:9]) + gzip.compress(b[9:]), "gzip"),
        (zstandard.ZstdCompressor().compress, "zstd"),
        (bytes, "identity"),
    ],
)
def test_content_codings(running, sink, post, pack, coding) -> None:
    receiver = running()
    assert post(receiver, pack(request(span(1))), content_encoding=coding).status_code == 200
    receiver.flush()
    assert sink.ids == {1}


def test_two_members_and_a_chunked_body_are_the_same_two_spans(running, sink, post) -> None:  # bug 08
    receiver = running()
    packed = (GZIPPED / "two-members.json.gz").read_bytes()
    assert post(receiver, packed, content_encoding="gzip").status_code == 200
    plain = (GZIPPED / "plain.json").read_bytes()
    answer = post(receiver, (plain[i : i + 100] for i in range(0, len(plain), 100)))
    assert "content-length" not in answer.request.headers
    assert answer.status_code == 200
    receiver.flush()
    assert sorted(s.name for s in sink.spans.values()) == ["execute_tool get_fee", "execute_tool get_rate"]


def test_partial_success_counts_and_names_the_bad_ones(running, sink, post) -> None:
    receiver = running()
    answer = post(receiver, request(span(1), span(2, traceId="12"), span(3)))
    partial = answer.json()["partialSuccess"]
    assert (answer.status_code, partial["rejectedSpans"]) == (200, "1")
    assert "spans[1].traceId" in partial["errorMessage"]
    receiver.flush()
    assert sink.ids == {1, 3}


def test_ids_that_were_base64_are_told_as_a_warning(running, sink, post) -> None:  # bug 01
    receiver = running()
    answer = post(receiver, (DATA / "01-base64-ids/input.json").read_bytes())
    assert "traceId was base64" in answer.json()["partialSuccess"]["errorMessage"]
    assert "rejectedSpans" not in answer.json()["partialSuccess"]
    receiver.flush()
    assert {t for t, _ in sink.spans} == {"a1a6c02538ec7d2a1294149aa9ccc473"}
    assert receiver.counters.snapshot()["warnings"] == 3


FAULTS = {
    "not JSON": (b"hello", {}, 400, 3),
    "not OTLP": (b'{"resourceMetrics": []}', {}, 400, 3),
    "logs sent to traces": (b'{"resourceLogs": []}', {}, 400, 3),
    "labelled gzip": ((GZIPPED / "plain.json").read_bytes(), {"content_encoding": "gzip"}, 400, 3),
    "labelled zstd": ((GZIPPED / "plain.json").read_bytes(), {"content_encoding": "zstd"}, 400, 3),
    "bomb": ((GZIPPED / "bomb.json.gz").read_bytes(), {"content_encoding": "gzip"}, 413, 8),
    "too large": (b" " * 2_000_001, {}, 413, 8),
    "too large, chunked": ([b" " * 1_000_000] * 3, {}, 413, 8),
    "another coding": (b"{}", {"content_encoding": "br"}, 415, 3),
    "another type": (b"{}", {"content_type": "text/plain"}, 415, 3),
    "no type": (b"{}", {"content_type": ""}, 415, 3),
}


@pytest.mark.parametrize("case", FAULTS)
def test_faults_have_a_status_that_ends_retries(running, sink, post, case) -> None:
    body, headers, status, code = FAULTS[case]
    receiver = running(max_request_bytes=2_000_000)
    answer = post(receiver, iter(body) if isinstance(body, list) else body, **headers)
    assert answer.status_code == status
    assert "retry-after" not in answer.headers
    assert answer.json()["code"] == code
    assert answer.json()["message"]
    # and the receiver goes on
    assert post(receiver, request(span(1))).status_code == 200
    receiver.flush()
    assert sink.ids == {1}


def test_the_status_body_speaks_the_encoding_of_the_request(running, post) -> None:
    answer = post(running(), b"\xff\xff", content_type=PROTO)
    assert answer.status_code == 400
    assert answer.headers["content-type"] == PROTO
    assert "not an OTLP protobuf request" in Status.FromString(answer.content).message


def test_partial_success_in_protobuf(running, post) -> None:
    answer = post(running(), proto_request(0, 1), content_type=PROTO)
    assert ExportTraceServiceResponse.FromString(answer.content).partial_success.rejected_spans == 1


def test_refused_bodies_are_kept_with_their_reason(running, settings, post) -> None:
    receiver = running(dead_letter_bytes=10)
    assert post(receiver, b"hello").status_code == 400
    assert post(receiver, b"hello again").status_code == 400
    folder = settings().spool / "dead-letter"
    (reason,) = folder.glob("*.reason.json")
    assert "not JSON" in json.loads(reason.read_text())["reason"]
    assert [f.read_bytes() for f in folder.glob("*.json") if f != reason] == [b"hello"]
    counts = receiver.counters.snapshot()
    assert (counts["dead_letters"], counts["dead_letters_not_kept"], counts["refused"]) == (1, 1, 2)


def test_methods_paths_and_health(running) -> None:
    base = f"http://127.0.0.1:{running().http_port}"
    assert httpx.get(f"{base}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{base}/v1/traces").status_code == 405
    assert httpx.post(f"{base}/v1/metrics").status_code == 404


def test_an_answer_does_not_wait_for_a_delayed_acknowledgement(running) -> None:
    connection = HTTPConnection("127.0.0.1", running().http_port, timeout=10)
    took = []
    for _ in range(25):
        began = time.perf_counter()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        took.append(time.perf_counter() - began)
    connection.close()
    assert min(took[5:]) < 0.03  # 0.04 each on Linux when the socket lacks TCP_NODELAY


def test_higher_layers_mount_beside(running) -> None:
    async def page(_):
        return PlainTextResponse("a page")

    receiver = running(extra_routes=[Route("/page", page)])
    assert httpx.get(f"http://127.0.0.1:{receiver.http_port}/page").text == "a page"


def test_the_token_guards_every_path_but_health(running, sink, post) -> None:
    receiver = running(bearer_token="s3cret")
    for header in ({}, {"authorization": "Bearer other"}, {"authorization": "Basic s3cret"}):
        answer = post(receiver, request(span(1)), **header)
        assert (answer.status_code, answer.json()["code"]) == (401, 16)
    assert httpx.get(f"http://127.0.0.1:{receiver.http_port}/nowhere").status_code == 401
    assert httpx.get(f"http://127.0.0.1:{receiver.http_port}/healthz").status_code == 200
    assert post(receiver, request(span(2)), authorization="Bearer s3cret").status_code == 200
    receiver.flush()
    assert sink.ids == {2}


def test_no_content_in_logs(running, sink, post, caplog) -> None:
    caplog.set_level(logging.DEBUG, logger="otel_toolselect")
    receiver = running()
    secret = "hunter2"
    post(receiver, request(span(1, name=secret), span(2, kind=secret), span(3, traceId=secret)))
    post(receiver, secret.encode())

    def refuse(spans):
        raise ValueError(secret)

    sink.fail = refuse
    post(receiver, request(span(4, name=secret)))
    receiver.flush()
    assert "dead letters" in caplog.text
    assert secret not in caplog.text


def test_an_error_of_our_own_is_500_without_its_text(running, post, monkeypatch) -> None:
    receiver = running()

    def broken(*_):
        raise KeyError("hunter2")

    monkeypatch.setattr("otel_toolselect.receive.door.decode_document", broken)
    answer = post(receiver, b"{}")
    assert (answer.status_code, answer.json()["code"]) == (500, 13)
    assert "hunter2" not in answer.text


@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary(max_size=60) | st.just(request(span(1, traceId=TRACE))),
    st.sampled_from(["application/json", PROTO]),
    st.sampled_from(["gzip", "zstd", "identity"]),
    st.sampled_from(["/v1/traces", "/v1/logs"]),
)
def test_random_bodies_are_the_senders_fault(fuzzed, post, body, kind, coding, path) -> None:
    answer = post(fuzzed, body, path=path, content_type=kind, content_encoding=coding)
    assert answer.status_code in (200, 400)


@pytest.fixture
def fuzzed(running):
    return running()
