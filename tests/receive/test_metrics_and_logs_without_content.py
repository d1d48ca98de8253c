"""Whatever is sent, neither logs nor metrics nor health hold a word of it (design section 10)."""

from __future__ import annotations

import contextlib
import io
import json
import socket
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import httpx
import pytest
from receive_samples import proto_request, request, span

from otel_toolselect.errors import StoreError
from otel_toolselect.receive import Receiver
from otel_toolselect.receive.grpc_server import SERVICES
from otel_toolselect.telemetry import logs

SECRET = "S3CRET-4111"
TOKEN = "T0KEN-9f8e7d"
EXPORT = f"/{SERVICES['traces']}/Export"


def hostile() -> Iterator[tuple[bytes, str, dict[str, str]]]:
    """Body, path, headers: each has the secret where a careless line would quote it."""
    value = {"key": SECRET, "value": {"stringValue": SECRET}}
    good = request(span(1, name=SECRET, attributes=[value]))
    yield good, "/v1/traces", {}
    yield request(span(2, spanId=SECRET)), "/v1/traces", {}
    yield request(span(3, startTimeUnixNano=SECRET)), "/v1/traces", {}
    yield request(span(4, attributes=[{"key": "k", "value": {"intValue": SECRET}}])), "/v1/traces", {}
    yield json.dumps({"resourceSpans": SECRET}).encode(), "/v1/traces", {}
    yield SECRET.encode(), "/v1/traces", {}
    yield SECRET.encode(), "/v1/logs", {"content-type": "application/x-protobuf"}
    yield proto_request(5) + SECRET.encode(), "/v1/traces", {"content-type": "application/x-protobuf"}
    yield good, "/v1/traces", {"content-encoding": "gzip"}
    yield good, "/v1/traces", {"content-encoding": SECRET}
    yield good, "/v1/traces", {"content-type": SECRET}
    yield good, f"/v1/{SECRET}?q={SECRET}", {"x-secret": SECRET}
    yield good, "/v1/traces", {"authorization": f"Bearer {SECRET}"}
    yield good, "/v1/traces", {"authorization": SECRET}


def quoting(_: Any) -> None:
    raise ValueError(f"cannot insert '{SECRET}'")


def quoting_for_good(_: Any) -> None:
    raise StoreError(f"Code: 27. DB::Exception: cannot parse '{SECRET}'", retryable=False)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("fault", [None, quoting, quoting_for_good])
def test_nothing_of_what_is_sent_is_told(
    running: Callable[..., Receiver], sink: Any, capfd: pytest.CaptureFixture[str], form: logs.Form, fault: Any
) -> None:
    if fault is not None:
        sink.fail = fault
    said = io.StringIO()
    undo = logs.configure(form, "debug", said)
    try:
        receiver = running(bearer_token=TOKEN)
        shown = _attack(receiver)
        receiver.stop()
    finally:
        undo()
    told = said.getvalue()
    for place, text in {"logs": told, "stderr": capfd.readouterr().err, "answers of probes": shown}.items():
        assert SECRET not in text, place
        assert TOKEN not in text, place
    if fault is not None:
        assert "dead letters" in told, "the test must have met the lines that it is about"
    if form == "json":
        assert all(json.loads(line)["time"] for line in told.splitlines())


def _attack(receiver: Receiver) -> str:
    """Sends everything; what /metrics and the health paths say afterwards."""
    base = f"http://127.0.0.1:{receiver.http_port}"
    allowed = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
    with httpx.Client(timeout=20) as client:
        for body, path, headers in hostile():
            client.post(base + path, content=body, headers=allowed | headers)
        _speak_no_http(receiver)
        _by_grpc(receiver)
        receiver.flush()
        return "".join(client.get(base + path, headers=allowed).text for path in ("/metrics", "/healthz", "/readyz"))


def _speak_no_http(receiver: Receiver) -> None:
    with socket.create_connection(("127.0.0.1", receiver.http_port or 0), timeout=20) as connection:
        connection.sendall(f"{SECRET} / HTTP/9.9\r\n{SECRET}\r\n\r\n".encode())
        while connection.recv(4096):
            pass


def _by_grpc(receiver: Receiver) -> None:
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        for method, body, token in (
            (EXPORT, proto_request(9), TOKEN),
            (EXPORT, SECRET.encode(), TOKEN),
            (EXPORT, proto_request(9), SECRET),
            (f"/{SECRET}/{SECRET}", b"", TOKEN),
        ):
            call = channel.unary_unary(method)
            with contextlib.suppress(grpc.RpcError):
                call(body, metadata=(("authorization", f"Bearer {token}"), ("x-secret", SECRET)), timeout=20)
