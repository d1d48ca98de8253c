"""The official Python exporters through an outage of the store: what the SDK did not drop itself arrives, once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from otel_toolselect.receive import Receiver
from tests.senders.conftest import WAIT_S, Store

SPANS, SENDERS = 600, 2
"""Spans per sender; the queue of each holds all of them, so that no SDK has a reason to drop any."""


def grpc(receiver: Receiver) -> SpanExporter:
    return GrpcExporter(endpoint=f"127.0.0.1:{receiver.grpc_port}", insecure=True, timeout=WAIT_S)


def http(receiver: Receiver) -> SpanExporter:
    return HttpExporter(endpoint=f"http://127.0.0.1:{receiver.http_port}/v1/traces", timeout=WAIT_S)


def make_spans(exporter: SpanExporter, made: set[tuple[str, str]]) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    queue = {"max_queue_size": SPANS, "max_export_batch_size": 64, "schedule_delay_millis": 50}
    provider.add_span_processor(BatchSpanProcessor(exporter, export_timeout_millis=WAIT_S * 1000, **queue))
    tracer = provider.get_tracer("agent")
    for number in range(SPANS):
        with tracer.start_as_current_span("execute_tool search", attributes={"number": number}) as span:
            found = span.get_span_context()
        made.add((f"{found.trace_id:032x}", f"{found.span_id:016x}"))
    assert provider.force_flush(int(WAIT_S * 1000))
    provider.shutdown()


@pytest.mark.parametrize("exporter", [grpc, http])
def test_back_pressure_loses_nothing(
    exporter: Callable[[Receiver], SpanExporter],
    receiver: Receiver,
    store: Store,
    through_an_outage: Callable[[Callable[[], None]], None],
) -> None:
    made: list[set[tuple[str, str]]] = [set() for _ in range(SENDERS)]

    def send() -> None:
        threads = [threading.Thread(target=make_spans, args=(exporter(receiver), found)) for found in made]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    through_an_outage(send)
    wanted = set[tuple[str, str]]().union(*made)
    assert len(wanted) == SPANS * SENDERS
    assert store.spans.keys() == wanted
    assert set(store.spans.values()) == {1}
