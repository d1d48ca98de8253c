"""OTLP protobuf to spans and log records (trace.proto, logs.proto, common.proto).

Same outcome as `jsondecode` for the same request: one property test holds both to it. The parse is upb's;
the walk is where the time goes, so it touches each field once and shares what records inherit.
"""

from __future__ import annotations

from collections.abc import Iterable
from sys import intern
from typing import Any

from google.protobuf.message import DecodeError as ProtobufError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.spans import AttrValue, Batch, LogRecord, Span, SpanEvent, SpanLink
from otel_toolselect.otlp.jsondecode import SEVERITIES, Signal
from otel_toolselect.otlp.limits import DEFAULT, Limits
from otel_toolselect.otlp.notes import BadField, Notes
from otel_toolselect.otlp.scalars import INT64_MAX

REQUESTS: dict[Signal, type[Any]] = {"traces": ExportTraceServiceRequest, "logs": ExportLogsServiceRequest}
_SEVERITY_MAX = max(SEVERITIES.values())


def decode_traces(body: bytes, *, where: str = "", limits: Limits = DEFAULT) -> Batch:
    """An ExportTraceServiceRequest. Raises DecodeError when the bytes are none."""
    return walk_traces(parse(ExportTraceServiceRequest(), body, where), where=where, limits=limits)


def decode_logs(body: bytes, *, where: str = "", limits: Limits = DEFAULT) -> Batch:
    """An ExportLogsServiceRequest. Raises DecodeError when the bytes are none."""
    return walk_logs(parse(ExportLogsServiceRequest(), body, where), where=where, limits=limits)


def parse(message: Any, body: bytes, where: str) -> Any:
    """The message filled from bytes. The parser's own text is not passed on: it says nothing of use."""
    try:
        message.ParseFromString(body)
    except ProtobufError:
        raise DecodeError("not an OTLP protobuf request, or cut short", where=where) from None
    return message


def walk_traces(request: Any, *, where: str = "", limits: Limits = DEFAULT) -> Batch:
    notes, spans = Notes(where), []
    for i, group in enumerate(request.resource_spans):
        resource = inherited(group.resource.attributes, limits, f"resourceSpans[{i}]", where)
        for j, scoped in enumerate(group.scope_spans):
            scope = resource, scoped.scope.name, scoped.scope.version
            for k, raw in enumerate(scoped.spans):
                try:
                    spans.append(read_span(raw, scope, notes, limits))
                except BadField as bad:
                    notes.reject_span(f"resourceSpans[{i}].scopeSpans[{j}].spans[{k}]", bad)
    return Batch(spans=tuple(spans), rejected_spans=tuple(notes.rejected_spans), warnings=notes.warnings)


def walk_logs(request: Any, *, where: str = "", limits: Limits = DEFAULT) -> Batch:
    notes, logs = Notes(where), []
    for i, group in enumerate(request.resource_logs):
        resource = inherited(group.resource.attributes, limits, f"resourceLogs[{i}]", where)
        for j, scoped in enumerate(group.scope_logs):
            scope = resource, scoped.scope.name, scoped.scope.version
            for k, raw in enumerate(scoped.log_records):
                try:
                    logs.append(read_log(raw, scope, notes, limits))
                except BadField as bad:
                    notes.reject_log(f"resourceLogs[{i}].scopeLogs[{j}].logRecords[{k}]", bad)
    return Batch(logs=tuple(logs), rejected_logs=tuple(notes.rejected_logs), warnings=notes.warnings)


def inherited(items: Iterable[Any], limits: Limits, place: str, where: str) -> dict[str, AttrValue]:
    """The attributes of a resource. A fault there concerns every record below it: DecodeError."""
    try:
        return _attributes(items, limits, 0, "resource.attributes")
    except BadField as bad:
        bad = bad.under(place)
        raise DecodeError(f"not OTLP: {bad.name} {bad.reason}", where=where) from None


def _attributes(
    items: Iterable[Any], limits: Limits, depth: int = 0, field: str = "attributes"
) -> dict[str, AttrValue]:
    out: dict[str, AttrValue] = {}
    for i, item in enumerate(items):
        value = item.value
        # keys repeat from span to span: one string each spares their hashing later, and memory.
        # a member that is not set reads as zero: to ask for the kind first costs as much as the text
        out[intern(item.key)] = (
            value.string_value or value.int_value or value.double_value or _other(value, i, limits, depth, field)
        )
    return out


def _other(value: Any, i: int, limits: Limits, depth: int, field: str) -> AttrValue:
    """A value that is zero of its kind, or structured, or none."""
    try:
        return read_value(value, value.WhichOneof("value"), limits, depth)
    except BadField as bad:
        raise bad.under(f"{field}[{i}].value") from None


def read_value(value: Any, kind: str | None, limits: Limits, depth: int) -> AttrValue:
    """An AnyValue whose member that is set is `kind`. Raises BadField when it is nested too deeply."""
    if kind == "array_value":
        _check_depth("arrayValue", limits, depth)
        return [v.string_value or _item(v, i, limits, depth + 1) for i, v in enumerate(value.array_value.values)]
    if kind == "kvlist_value":
        _check_depth("kvlistValue", limits, depth)
        return _attributes(value.kvlist_value.values, limits, depth + 1, "kvlistValue.values")
    if kind is None:
        return None
    found: bool | int | float | str | bytes = getattr(value, kind)
    return found


def _item(value: Any, i: int, limits: Limits, depth: int) -> AttrValue:
    try:
        return read_value(value, value.WhichOneof("value"), limits, depth)
    except BadField as bad:
        raise bad.under(f"arrayValue.values[{i}]") from None


def _check_depth(field: str, limits: Limits, depth: int) -> None:
    if depth >= limits.max_depth:
        raise BadField(field, f"is nested deeper than {limits.max_depth} levels", "too_deep")


def _id(raw: bytes, field: str, nbytes: int) -> str:
    """Lower-case hex; "" for none or all zeros (trace.proto: both mean invalid)."""
    if len(raw) == nbytes:
        return raw.hex() if raw.strip(b"\0") else ""
    if raw:
        raise BadField(field, f"must be {nbytes} bytes, got {len(raw)}")
    return ""


def _required_id(raw: bytes, field: str, nbytes: int) -> str:
    found = _id(raw, field, nbytes)
    if not found:
        raise BadField(field, f"must be {nbytes} bytes and not all zeros")
    return found


def _time(value: int, field: str) -> int:
    if value > INT64_MAX:
        raise BadField(field, "is out of range")
    return value


def _enum(value: int, highest: int, field: str, notes: Notes) -> int:
    if 0 <= value <= highest:
        return value
    notes.warn(f"{field} was no known enum value, read as unset")
    return 0


def read_span(raw: Any, scope: tuple[dict[str, AttrValue], str, str], notes: Notes, limits: Limits) -> Span:
    """One span. Raises BadField naming the first field that cannot be kept."""
    events, links, status = raw.events, raw.links, raw.status
    return Span(
        trace_id=_required_id(raw.trace_id, "traceId", 16),
        span_id=_required_id(raw.span_id, "spanId", 8),
        parent_span_id=_id(raw.parent_span_id, "parentSpanId", 8),
        trace_state=raw.trace_state,
        name=raw.name,
        kind=_enum(raw.kind, 5, "kind", notes),
        start_ns=_time(raw.start_time_unix_nano, "startTimeUnixNano"),
        end_ns=_time(raw.end_time_unix_nano, "endTimeUnixNano"),
        attributes=_attributes(raw.attributes, limits),
        events=tuple(_event(e, i, limits) for i, e in enumerate(events)) if events else (),
        links=_links(links, notes, limits) if links else (),
        status_code=_enum(status.code, 2, "status.code", notes),
        status_message=status.message,
        resource=scope[0],
        scope_name=scope[1],
        scope_version=scope[2],
    )


def _event(raw: Any, i: int, limits: Limits) -> SpanEvent:
    try:
        return SpanEvent(raw.name, _time(raw.time_unix_nano, "timeUnixNano"), _attributes(raw.attributes, limits))
    except BadField as bad:
        raise bad.under(f"events[{i}]") from None


def _links(items: Iterable[Any], notes: Notes, limits: Limits) -> tuple[SpanLink, ...]:
    """A link to nowhere is left out with a warning, as in `jsondecode`."""
    out = []
    for i, raw in enumerate(items):
        try:
            ids = _required_id(raw.trace_id, "traceId", 16), _required_id(raw.span_id, "spanId", 8)
        except BadField:
            notes.warn("a span link without valid ids was left out")
            continue
        try:
            out.append(SpanLink(*ids, _attributes(raw.attributes, limits), raw.trace_state))
        except BadField as bad:
            raise bad.under(f"links[{i}]") from None
    return tuple(out)


def read_log(raw: Any, scope: tuple[dict[str, AttrValue], str, str], notes: Notes, limits: Limits) -> LogRecord:
    """One log record. Raises BadField naming the first field that cannot be kept."""
    try:
        body = read_value(raw.body, raw.body.WhichOneof("value"), limits, 0)
    except BadField as bad:
        raise bad.under("body") from None
    return LogRecord(
        trace_id=_loose_id(raw.trace_id, "traceId", 16, notes),
        span_id=_loose_id(raw.span_id, "spanId", 8, notes),
        time_ns=_time(raw.time_unix_nano, "timeUnixNano"),
        observed_ns=_time(raw.observed_time_unix_nano, "observedTimeUnixNano"),
        event_name=raw.event_name,
        severity_number=_enum(raw.severity_number, _SEVERITY_MAX, "severityNumber", notes),
        severity_text=raw.severity_text,
        body=body,
        attributes=_attributes(raw.attributes, limits),
        resource=scope[0],
        scope_name=scope[1],
        scope_version=scope[2],
    )


def _loose_id(raw: bytes, field: str, nbytes: int, notes: Notes) -> str:
    """logs.proto: a record with an invalid id is one that belongs to no trace."""
    try:
        return _id(raw, field, nbytes)
    except BadField:
        notes.warn(f"{field} of a log record was invalid, read as none")
        return ""
