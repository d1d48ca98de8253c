"""Spans and log records to OTLP protobuf: the way back of `protodecode`, so that what is kept has one form.

What protobuf cannot hold is put into what it can, the same each time: a surrogate without a partner becomes U+FFFD
(protobuf strings are UTF-8), an integer beyond 64 bits its decimal text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_toolselect.model.spans import AttrValue, LogRecord, Span
from otel_toolselect.otlp.scalars import INT64_MAX, INT64_MIN


def encode_traces(spans: Iterable[Span]) -> Any:
    """An ExportTraceServiceRequest with these spans in their order."""
    request = ExportTraceServiceRequest()
    for group in _groups(spans):
        holder = _resource(request.resource_spans.add(), group[0]).scope_spans.add()
        _scope(holder, group[0])
        for span in group:
            _span(holder.spans.add(), span)
    return request


def encode_logs(logs: Iterable[LogRecord]) -> Any:
    """An ExportLogsServiceRequest with these log records in their order."""
    request = ExportLogsServiceRequest()
    for group in _groups(logs):
        holder = _resource(request.resource_logs.add(), group[0]).scope_logs.add()
        _scope(holder, group[0])
        for log in group:
            _log(holder.log_records.add(), log)
    return request


def _groups(records: Iterable[Any]) -> list[list[Any]]:
    """Neighbours that inherit the same. Decoders share one resource object among all records of a group."""
    return [list(found) for _, found in groupby(records, lambda r: (id(r.resource), r.scope_name, r.scope_version))]


def _resource(holder: Any, record: Span | LogRecord) -> Any:
    put_attributes(holder.resource.attributes, record.resource)
    return holder


def _scope(holder: Any, record: Span | LogRecord) -> None:
    holder.scope.name = as_utf8(record.scope_name)
    holder.scope.version = as_utf8(record.scope_version)


def _span(raw: Any, span: Span) -> None:
    raw.trace_id = bytes.fromhex(span.trace_id)
    raw.span_id = bytes.fromhex(span.span_id)
    raw.parent_span_id = bytes.fromhex(span.parent_span_id)
    raw.trace_state = as_utf8(span.trace_state)
    raw.name = as_utf8(span.name)
    raw.kind = span.kind
    raw.start_time_unix_nano = span.start_ns
    raw.end_time_unix_nano = span.end_ns
    put_attributes(raw.attributes, span.attributes)
    for event in span.events:
        item = raw.events.add(name=as_utf8(event.name), time_unix_nano=event.time_ns)
        put_attributes(item.attributes, event.attributes)
    for link in span.links:
        item = raw.links.add(trace_id=bytes.fromhex(link.trace_id), span_id=bytes.fromhex(link.span_id))
        item.trace_state = as_utf8(link.trace_state)
        put_attributes(item.attributes, link.attributes)
    raw.status.code = span.status_code
    raw.status.message = as_utf8(span.status_message)


def _log(raw: Any, log: LogRecord) -> None:
    raw.trace_id = bytes.fromhex(log.trace_id)
    raw.span_id = bytes.fromhex(log.span_id)
    raw.time_unix_nano = log.time_ns
    raw.observed_time_unix_nano = log.observed_ns
    raw.event_name = as_utf8(log.event_name)
    raw.severity_number = log.severity_number
    raw.severity_text = as_utf8(log.severity_text)
    if log.body is not None:
        put_value(raw.body, log.body)
    put_attributes(raw.attributes, log.attributes)


def put_attributes(items: Any, attributes: Mapping[str, AttrValue]) -> None:
    """Appends attributes to a repeated KeyValue."""
    for key, value in attributes.items():
        put_value(items.add(key=as_utf8(key)).value, value)


def put_value(target: Any, value: Any) -> None:
    """Sets an AnyValue. None is an AnyValue without a member."""
    if isinstance(value, str):
        target.string_value = as_utf8(value)
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int):
        if INT64_MIN <= value <= INT64_MAX:
            target.int_value = value
        else:
            target.string_value = str(value)
    elif isinstance(value, float):
        target.double_value = value
    elif isinstance(value, bytes):
        target.bytes_value = value
    elif isinstance(value, dict):
        target.kvlist_value.SetInParent()
        put_attributes(target.kvlist_value.values, value)
    elif value is None:
        target.Clear()
    else:
        target.array_value.SetInParent()
        for item in value:
            put_value(target.array_value.values.add(), item)


def as_utf8(text: str) -> str:
    """The text with surrogates that have no partner replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
