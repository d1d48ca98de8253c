"""Who is nobody reaches nothing, on any port, path or method; who is somebody reaches what its scopes name."""

from __future__ import annotations

import json

import grpc
import httpx
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2
from receive_samples import proto_request, request, span
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from otel_toolselect.receive.grpc_server import SERVICES

SENDER, READER, BOTH = "sender-token-0123456789", "reader-token-0123456789", "single-token-0123456789"
FILE = f"""
[[token]]
name = "team-a"
token = "{SENDER}"
attributes = {{"toolselect.tenant" = "a"}}
[[token]]
name = "prometheus"
token = "{READER}"
scopes = ["read"]
[[token]]
name = "small"
token = "small-{SENDER}"
spans_per_second = 1
burst_seconds = 1
"""
EXPORT = f"/{SERVICES['traces']}/Export"
CALLS = (
    EXPORT,
    f"/{SERVICES['logs']}/Export",
    "/grpc.health.v1.Health/Watch",
    "/grpc.health.v1.Health/List",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    "/nobody.Knows/This",
)
PATHS = ("/v1/traces", "/v1/logs", "/metrics", "/page", "/", "/nowhere", "/v1/traces/", "//v1/traces", "/healthz/x")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "ANYTHING")


async def _page(_):
    return PlainTextResponse("a page")


@pytest.fixture
def guarded(running, tmp_path):
    file = tmp_path / "tokens.toml"
    file.write_text(FILE, "utf-8")
    file.chmod(0o600)
    return running(extra_routes=[Route("/page", _page)], bearer_token=BOTH, tokens=file)


@pytest.fixture
def call(guarded):
    with grpc.insecure_channel(f"127.0.0.1:{guarded.grpc_port}") as channel:

        def send(method: str, body: bytes = b"", token: str | None = None):
            metadata = (("authorization", f"Bearer {token}"),) if token else ()
            try:
                return channel.unary_unary(method)(body, metadata=metadata, timeout=10)
            except grpc.RpcError as error:
                return error

        yield send


@pytest.mark.parametrize("token", [None, "wrong"])
def test_a_stranger_reaches_no_path(guarded, token) -> None:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=f"http://127.0.0.1:{guarded.http_port}", headers=headers) as client:
        for path in PATHS:
            for method in METHODS:
                answer = client.request(method, path, content=b"{}" if method == "POST" else None)
                assert answer.status_code == 401, (method, path)
                assert answer.headers["www-authenticate"] == "Bearer"
                assert "a page" not in answer.text
        for path in ("/healthz", "/readyz"):
            for method in METHODS[2:]:
                assert client.request(method, path).status_code == 401, (method, path)


def test_health_says_one_word(guarded) -> None:
    base = f"http://127.0.0.1:{guarded.http_port}"
    assert httpx.get(f"{base}/healthz").json() == {"status": "ok"}
    assert httpx.get(f"{base}/readyz").json() == {"status": "ready"}
    assert httpx.head(f"{base}/healthz").status_code == 200


@pytest.mark.parametrize("method", CALLS)
def test_a_stranger_reaches_no_method(call, method) -> None:
    for token in (None, "wrong"):
        assert call(method, proto_request(1), token).code() is grpc.StatusCode.UNAUTHENTICATED


def test_grpc_health_is_open_and_says_one_word(call) -> None:
    answer = health_pb2.HealthCheckResponse.FromString(call("/grpc.health.v1.Health/Check"))
    assert answer == health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)


def test_what_is_not_there_is_told_to_those_who_may_know(call) -> None:
    for method in CALLS[4:]:
        assert call(method, b"", READER).code() is grpc.StatusCode.UNIMPLEMENTED
        assert call(method, b"", SENDER).code() is grpc.StatusCode.PERMISSION_DENIED


def test_scopes_hold_on_both_ports(guarded, call, post, sink) -> None:
    base = f"http://127.0.0.1:{guarded.http_port}"
    for token, sends, reads in ((SENDER, 200, 403), (READER, 403, 200), (BOTH, 200, 200)):
        header = {"authorization": f"Bearer {token}"}
        assert post(guarded, request(span(1)), **header).status_code == sends
        for path in ("/metrics", "/page"):
            assert httpx.get(f"{base}{path}", headers=header).status_code == reads
        answer = call(EXPORT, proto_request(2), token)
        if sends == 200:
            assert answer == b""
        else:
            assert answer.code() is grpc.StatusCode.PERMISSION_DENIED
    guarded.flush()
    assert sink.ids == {1, 2}


def test_all_that_a_sender_sends_is_stamped(guarded, call, post, sink) -> None:
    claim = {"attributes": [{"key": "toolselect.tenant", "value": {"stringValue": "b"}}]}
    body = {"resourceSpans": [{"resource": claim, "scopeSpans": [{"spans": [span(1)]}]}]}
    assert post(guarded, json.dumps(body), authorization=f"Bearer {SENDER}").status_code == 200
    assert call(EXPORT, proto_request(2), SENDER) == b""
    assert call(EXPORT, proto_request(3), BOTH) == b""
    guarded.flush()
    tenants = {s.span_id[-1]: s.resource.get("toolselect.tenant") for s in sink.spans.values()}
    assert tenants == {"1": "a", "2": "a", "3": None}


def test_over_quota_both_ports_say_when_to_come_back(guarded, call, post) -> None:
    token = f"small-{SENDER}"
    assert call(EXPORT, proto_request(*range(1, 101)), token) == b""
    refused = call(EXPORT, proto_request(1), token)
    assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    info = RetryInfo()
    details = dict(refused.trailing_metadata())["grpc-status-details-bin"]
    assert Status.FromString(details).details[0].Unpack(info)
    assert 90 <= info.retry_delay.ToSeconds() <= 99
    answer = post(guarded, request(span(1)), authorization=f"Bearer {token}")
    assert answer.status_code == 429
    assert 90 <= int(answer.headers["retry-after"]) <= 99
    assert post(guarded, request(span(1)), authorization=f"Bearer {SENDER}").status_code == 200
    counts = guarded.counters.by_label()
    assert (counts.over_quota, counts.refusals["quota"]) == ({"small": 2}, 2)


def test_a_changed_file_counts_on_both_ports(guarded, call, post, tmp_path) -> None:
    assert call(EXPORT, proto_request(1), SENDER) == b""
    (tmp_path / "tokens.toml").write_text(FILE.replace(SENDER, "new-token-0123456789"), "utf-8")
    assert call(EXPORT, proto_request(1), SENDER).code() is grpc.StatusCode.UNAUTHENTICATED
    assert post(guarded, request(span(1)), authorization=f"Bearer {SENDER}").status_code == 401
    assert call(EXPORT, proto_request(1), "new-token-0123456789") == b""


def test_refusals_are_counted_by_reason(guarded, call, post) -> None:
    call(EXPORT, b"", None)
    post(guarded, b"{}")
    call(EXPORT, b"", READER)
    post(guarded, b"{}", authorization=f"Bearer {READER}")
    refusals = guarded.counters.by_label().refusals
    assert (refusals["unauthenticated"], refusals["forbidden"]) == (2, 2)


def test_nothing_of_a_body_is_read_for_a_stranger(guarded, call) -> None:
    """A body over the limit would be refused as too large if somebody looked at it."""
    big = b"x" * 21_000_000
    assert call(EXPORT, big, None).code() is grpc.StatusCode.UNAUTHENTICATED
    answer = httpx.post(
        f"http://127.0.0.1:{guarded.http_port}/v1/traces", content=big, headers={"content-type": "application/json"}
    )
    assert answer.status_code == 401


def test_a_broken_page_is_500_without_its_text(running, caplog) -> None:
    async def page(_):
        raise ValueError("hunter2")

    receiver = running(extra_routes=[Route("/page", page)])
    answer = httpx.get(f"http://127.0.0.1:{receiver.http_port}/page")
    assert answer.status_code == 500
    assert "hunter2" not in answer.text + caplog.text
    receiver.stop()  # the answer was on its way before it was counted
    assert receiver.counters.by_label().refusals["internal"] == 1
