"""Protobuf files: one request, or many behind their lengths.

A file does not say which signal it holds, and traces and logs use the same outer numbers: `decode_any`
tells them apart by what a span must have. Framings: the Collector's file exporter puts 4 bytes, big-endian,
before each message (also before JSON when it compresses, each message on its own); protobuf's own
"delimited" streams use a varint.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_toolselect.errors import DecodeError, TooLargeError
from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp import jsontext, protodecode, shapes
from otel_toolselect.otlp.compress import coding_of, decompress
from otel_toolselect.otlp.limits import Limits
from otel_toolselect.otlp.streams import Reader

# field numbers begin at 1, so that no message begins with a byte under 8: there it is a length
_FIRST_TAG = 8


def read(reader: Reader, limits: Limits) -> Iterator[Batch]:
    """The batches of a protobuf file. Raises DecodeError with "path:number of the message"."""
    if reader.peek(1)[0] < _FIRST_TAG:
        yield from _read_framed(reader, limits)
        return
    body = reader.all(limits.max_bytes)
    where = f"{reader.path}:1"
    try:
        yield decode_any(body, where=where, limits=limits)
    except DecodeError:
        messages = _delimited(body)
        if not messages:
            raise
        for n, message in enumerate(messages, 1):
            yield decode_any(message, where=f"{reader.path}:{n}", limits=limits)


def _read_framed(reader: Reader, limits: Limits) -> Iterator[Batch]:
    number = 0
    while prefix := reader.take(4):
        number += 1
        where = f"{reader.path}:{number}"
        size = int.from_bytes(prefix, "big")
        if size > limits.max_bytes:
            raise TooLargeError(
                f"message {number} claims {size} bytes, over the limit of {limits.max_bytes}", where=where
            )
        body = reader.take(size)
        if len(prefix) < 4 or len(body) < size:
            raise DecodeError(f"the file ends within message {number}: truncated", where=where)
        yield _message(body, where, limits)


def _message(body: bytes, where: str, limits: Limits) -> Batch:
    coding = coding_of(body)
    if coding:
        try:
            body = decompress(body, coding, limits.max_bytes)
        except (DecodeError, TooLargeError) as error:
            raise type(error)(error.bare, where=where) from None
    if body[:1] == b"{":
        document = jsontext.loads(jsontext.as_text(body, where=where), where=where)
        return shapes.to_batch(document, where=where, limits=limits)
    return decode_any(body, where=where, limits=limits)


def decode_any(body: bytes, *, where: str, limits: Limits) -> Batch:
    """A request of either signal. Raises DecodeError when it is neither."""
    # ids of log records stand where a span has attributes: for logs, often no parse as spans succeeds
    traces = _attempt(ExportTraceServiceRequest(), body)
    if traces is not None and _is_traces(traces):
        return protodecode.walk_traces(traces, where=where, limits=limits)
    logs = _attempt(ExportLogsServiceRequest(), body)
    if logs is not None and (traces is None or _is_logs(logs)):
        return protodecode.walk_logs(logs, where=where, limits=limits)
    if traces is None:
        raise DecodeError("not an OTLP protobuf request, or cut short", where=where)
    return protodecode.walk_traces(traces, where=where, limits=limits)


def _attempt(message: Any, body: bytes) -> Any | None:
    try:
        return protodecode.parse(message, body, "")
    except DecodeError:
        return None


def _is_traces(request: Any) -> bool:
    return any(s.trace_id or s.span_id for g in request.resource_spans for p in g.scope_spans for s in p.spans)


def _is_logs(request: Any) -> bool:
    """Fields that a span has not: its numbers 1, 11 (time) and 2 (severity) have other wire types."""
    records = (r for g in request.resource_logs for p in g.scope_logs for r in p.log_records)
    return any(r.time_unix_nano or r.observed_time_unix_nano or r.severity_number for r in records)


def _delimited(body: bytes) -> list[bytes]:
    """The messages of a varint-delimited stream; empty when the lengths do not add up."""
    out, at = [], 0
    while at < len(body):
        size = shift = 0
        while True:
            if at >= len(body) or shift > 28:
                return []
            byte = body[at]
            size |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                break
        if at + size > len(body):
            return []
        out.append(body[at : at + size])
        at += size
    return out
