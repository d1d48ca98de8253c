"""Spans of our own, as a Collector gets them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_toolselect.errors import UsageError
from otel_toolselect.telemetry import tracing
from otel_toolselect.telemetry.endpoints import address


class Collector(ThreadingHTTPServer):
    """Keeps what it is sent, by path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[str, bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        assert isinstance(self.server, Collector)
        self.server.got.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_spans_arrive_with_counts_and_without_the_text_of_errors(collector) -> None:
    stop = tracing.start(f"http://127.0.0.1:{collector.server_port}", own_ports=(4317, None))
    try:
        with tracing.span("insert", spans=3) as add:
            add("logs", 2)
        with pytest.raises(KeyError), tracing.span("judge"):
            raise KeyError("sk-live-51H")
    finally:
        stop()
    ((path, body),) = collector.got
    assert path == "/v1/traces"
    assert b"sk-live" not in body
    request = ExportTraceServiceRequest.FromString(body)
    (resource,) = request.resource_spans
    names = {a.key: a.value.string_value for a in resource.resource.attributes}
    assert names["service.name"] == "toolselect"
    insert, judge = resource.scope_spans[0].spans
    assert insert.name == "toolselect.insert"
    assert {a.key: a.value.int_value for a in insert.attributes} == {"toolselect.spans": 3, "toolselect.logs": 2}
    assert {a.key: a.value.string_value for a in judge.attributes} == {"error.type": "KeyError"}
    assert not judge.events
    assert judge.status.code == 2
    assert not judge.status.message
    with tracing.span("after") as add:
        add("nothing", 1)
    assert len(collector.got) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.2"])
def test_a_receiver_never_sends_to_itself(host: str) -> None:
    with pytest.raises(UsageError, match="this receiver itself"):
        tracing.start(f"http://{host}:4318/v1/traces", own_ports=(4317, 4318))


def test_the_same_port_of_another_machine_is_no_loop() -> None:
    stop = tracing.start("http://192.0.2.1:4318", own_ports=(4318,))  # RFC 5737: nobody's address
    stop()


def test_a_port_that_cannot_be_is_told() -> None:
    with pytest.raises(UsageError, match="no port"):
        tracing.start("http://127.0.0.1:99999", own_ports=(4318,))


def test_a_path_of_ones_own_is_kept() -> None:
    assert address("https://x.example/otlp/v1/traces", "/v1/traces") == "https://x.example/otlp/v1/traces"
    assert address("https://x.example/", "/v1/traces") == "https://x.example/v1/traces"
