"""Sinks and requests for the tests of this folder."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_toolselect.errors import StoreError
from otel_toolselect.model.spans import LogRecord, Span

TRACE = "0af7651916cd43dd8448eb211c80319c"


class RecordingSink:
    """Keeps what it gets, by identity as a store would; `fail` may raise, `calls` counts what succeeded."""

    def __init__(self) -> None:
        self.spans: dict[tuple[str, str], Span] = {}
        self.logs: list[LogRecord] = []
        self.calls = 0
        self.threads: set[int] = set()
        self.fail: Callable[[Sequence[Span]], None] = lambda spans: None
        self.tried = threading.Event()

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord], /) -> None:
        self.threads.add(threading.get_ident())
        self.tried.set()
        self.fail(spans)
        self.spans |= {(s.trace_id, s.span_id): s for s in spans}
        self.logs += logs
        self.calls += 1

    @property
    def ids(self) -> set[int]:
        return {int(span_id, 16) for _, span_id in self.spans}


def away(_: Sequence[Span]) -> None:
    raise StoreError("the store is away")


def span(n: int = 1, **members: Any) -> dict[str, Any]:
    return {"traceId": TRACE, "spanId": f"{n:016x}", "name": "execute_tool f"} | members


def request(*spans: Any) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}).encode()


def proto_request(*numbers: int, blob: int = 0) -> bytes:
    message = ExportTraceServiceRequest()
    scope = message.resource_spans.add().scope_spans.add()
    for n in numbers:
        found = scope.spans.add(trace_id=bytes.fromhex(TRACE), span_id=n.to_bytes(8, "big"), name="f")
        if blob:
            found.attributes.add(key="blob").value.string_value = "x" * blob
    return message.SerializeToString()
