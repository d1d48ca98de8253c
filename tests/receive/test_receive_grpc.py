"""OTLP/gRPC: the official exporters, compression, codes, health."""

from __future__ import annotations

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2, health_pb2_grpc
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogs
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpans
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter as HttpLogs
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpSpans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from receive_samples import away, proto_request

from otel_toolselect.model.spans import KIND_CLIENT, STATUS_ERROR
from otel_toolselect.receive.grpc_server import SERVICES

EXPORT = f"/{SERVICES['traces']}/Export"


@pytest.fixture
def call(running):
    """Sends raw bytes to Export of a receiver; gives raw bytes back."""
    channels = []

    def send(receiver, body, *, metadata=(), compression=None, method=EXPORT, wait=10):
        channels.append(grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}"))
        stub = channels[-1].unary_unary(method)
        return stub(body, metadata=metadata, compression=compression, timeout=wait)

    yield send
    for channel in channels:
        channel.close()


def exporters(protocol, receiver):
    if protocol.startswith("grpc"):
        packed = grpc.Compression.Gzip if protocol.endswith("gzip") else grpc.Compression.NoCompression
        options = {"endpoint": f"127.0.0.1:{receiver.grpc_port}", "insecure": True, "compression": packed}
        return GrpcSpans(**options), GrpcLogs(**options)
    packed = Compression.Gzip if protocol.endswith("gzip") else Compression.NoCompression
    base = f"http://127.0.0.1:{receiver.http_port}/v1"
    return HttpSpans(endpoint=f"{base}/traces", compression=packed), HttpLogs(
        endpoint=f"{base}/logs", compression=packed
    )


@pytest.mark.parametrize("protocol", ["grpc", "grpc gzip", "http", "http gzip"])
def test_the_official_exporters(running, sink, protocol) -> None:
    receiver = running()
    to_spans, to_logs = exporters(protocol, receiver)
    resource = Resource({"service.name": "shop"})
    traces, logs = (
        TracerProvider(resource=resource, shutdown_on_exit=False),
        LoggerProvider(resource=resource, shutdown_on_exit=False),
    )
    traces.add_span_processor(SimpleSpanProcessor(to_spans))
    logs.add_log_record_processor(SimpleLogRecordProcessor(to_logs))
    from opentelemetry.trace import SpanKind, StatusCode
    from opentelemetry.trace import Status as SpanStatus

    with traces.get_tracer("agent", "1.0").start_as_current_span("invoke_agent shop") as root:
        with traces.get_tracer("agent").start_as_current_span("execute_tool f", kind=SpanKind.CLIENT) as tool:
            tool.set_attribute("gen_ai.tool.name", "f")
            tool.set_attribute("parts", ["a", "b"])
            tool.set_attribute("big", 9007199254740993)
            tool.add_event("gen_ai.choice", {"index": 0})
            tool.set_status(SpanStatus(StatusCode.ERROR, "declined"))
        logs.get_logger("agent").emit(LogRecord(event_name="gen_ai.choice", body={"message": {"n": 1}}))
    traces.shutdown()
    logs.shutdown()
    receiver.flush()
    found = {s.name: s for s in sink.spans.values()}
    child, parent = found["execute_tool f"], found["invoke_agent shop"]
    assert (child.trace_id, child.parent_span_id) == (parent.trace_id, parent.span_id)
    assert child.trace_id == f"{root.get_span_context().trace_id:032x}"
    assert child.attributes == {"gen_ai.tool.name": "f", "parts": ["a", "b"], "big": 9007199254740993}
    assert (child.kind, child.status_code, child.status_message) == (KIND_CLIENT, STATUS_ERROR, "declined")
    assert (child.start_ns, child.end_ns) == (tool.start_time, tool.end_time)
    assert [(e.name, e.attributes) for e in child.events] == [("gen_ai.choice", {"index": 0})]
    assert (parent.service, parent.scope_name, parent.scope_version) == ("shop", "agent", "1.0")
    (record,) = sink.logs
    assert (record.event_name, record.body) == ("gen_ai.choice", {"message": {"n": 1}})
    assert (record.trace_id, record.span_id) == (parent.trace_id, parent.span_id)


def test_success_is_empty_and_partial_success_names_the_bad(running, sink, call) -> None:
    receiver = running()
    assert call(receiver, proto_request(1), compression=grpc.Compression.Gzip) == b""
    partial = ExportTraceServiceResponse.FromString(call(receiver, proto_request(0, 2))).partial_success
    assert partial.rejected_spans == 1
    assert "spanId" in partial.error_message
    receiver.flush()
    assert sink.ids == {1, 2}


def refusal(call, *args, **options) -> tuple[grpc.StatusCode, Status | None]:
    with pytest.raises(grpc.RpcError) as caught:
        call(*args, **options)
    trailers = dict(caught.value.trailing_metadata() or ())
    details = trailers.get("grpc-status-details-bin")
    return caught.value.code(), Status.FromString(details) if details else None


def test_what_is_not_otlp_is_final(running, call) -> None:
    code, status = refusal(call, running(), b"\xff\xff")
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert status is not None
    assert (status.code, list(status.details)) == (3, [])


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
def test_what_is_too_large_is_final(running, call, compression) -> None:
    receiver = running(max_request_bytes=100_000)
    code, status = refusal(call, receiver, proto_request(1, blob=5_000_000), compression=compression)
    # RESOURCE_EXHAUSTED without a RetryInfo: the specification says not to send it again
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert status is None or not status.details
    assert call(receiver, proto_request(1)) == b""


def test_a_full_spool_says_when_to_come_back(running, sink, call) -> None:
    sink.fail = away
    receiver = running(spool_bytes=3000, retry_after_s=2.5)
    answers = 0
    refused: grpc.RpcError | None = None
    while refused is None and answers < 100:
        try:
            call(receiver, proto_request(answers + 1, blob=500))
            answers += 1
        except grpc.RpcError as error:
            refused = error
    assert 2 <= answers <= 5
    assert refused is not None
    assert refused.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    details = dict(refused.trailing_metadata())["grpc-status-details-bin"]
    info = RetryInfo()
    assert Status.FromString(details).details[0].Unpack(info)
    assert info.retry_delay.ToMilliseconds() == 2500
    sink.fail = lambda spans: None
    receiver.flush()
    assert sink.ids == set(range(1, answers + 1))
    assert receiver.waiting_bytes == 0
    assert call(receiver, proto_request(99, blob=500)) == b""


def test_the_token(running, sink, call) -> None:
    receiver = running(bearer_token="s3cret")
    assert refusal(call, receiver, proto_request(1))[0] is grpc.StatusCode.UNAUTHENTICATED
    assert call(receiver, proto_request(2), metadata=(("authorization", "Bearer s3cret"),)) == b""
    receiver.flush()
    assert sink.ids == {2}


def test_health_of_each_service(running) -> None:
    receiver = running()
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        for name in ("", *SERVICES.values()):
            answer = stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=10)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
