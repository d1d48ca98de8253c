"""Jaeger's JSON (what its query API and "download" button give) to spans.

Sources: jaegertracing/jaeger `model/json`; OpenTelemetry's "OpenTelemetry to Jaeger Transformation" read
backwards: tags that the transformation made of span fields become those fields again and are no attributes.
"""

from __future__ import annotations

from typing import Any

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.spans import STATUS_ERROR, Attributes, AttrValue, Batch, Span, SpanEvent, SpanLink
from otel_toolselect.otlp import scalars
from otel_toolselect.otlp.jsondecode import CODES, KINDS
from otel_toolselect.otlp.jsonvalue import members
from otel_toolselect.otlp.limits import FILES, Limits
from otel_toolselect.otlp.notes import BadField, Notes

_MAX_MICROS = scalars.INT64_MAX // 1000
_SCOPE_NAMES = ("otel.scope.name", "otel.library.name")
_SCOPE_VERSIONS = ("otel.scope.version", "otel.library.version")


def is_jaeger(document: dict[str, Any]) -> bool:
    """`{"data": [trace...]}` or one bare trace."""
    data = document.get("data")
    if isinstance(data, list):
        return all(isinstance(trace, dict) and "spans" in trace for trace in data)
    return "spans" in document and ("traceID" in document or "processes" in document)


def decode_document(document: dict[str, Any], *, where: str = "", limits: Limits = FILES) -> Batch:
    """All spans of all traces in the document; spans that cannot be read are rejected by name, the others
    kept.
    """
    notes, spans = Notes(where), []
    bare = not isinstance(document.get("data"), list)
    for i, trace in enumerate([document] if bare else document["data"]):
        place = "trace" if bare else f"data[{i}]"
        try:
            processes = {k: _process(p, limits) for k, p in _object(trace.get("processes"), "processes").items()}
            records = members(trace.get("spans"), "spans")
        except BadField as bad:
            bad = bad.under(place)
            raise DecodeError(f"not Jaeger JSON: {bad.name} {bad.reason}", where=where) from None
        for j, raw in enumerate(records):
            try:
                spans.append(_span(_object(raw, ""), processes, notes, limits))
            except BadField as bad:
                notes.reject_span(f"{place}.spans[{j}]", bad)
    return Batch(spans=tuple(spans), rejected_spans=tuple(notes.rejected_spans), warnings=notes.warnings)


def _object(value: Any, name: str) -> dict[str, Any]:
    if value is None and name:
        return {}
    if not isinstance(value, dict):
        raise BadField(name, f"must be an object, not {scalars.type_name(value)}")
    return value


def _process(raw: Any, limits: Limits) -> Attributes:
    process = _object(raw, "processes")
    resource = _tags(process.get("tags"), "processes.tags", limits)
    name = scalars.text(process.get("serviceName"), "serviceName")
    return {"service.name": name, **resource} if name else resource


def _tags(items: Any, field: str, limits: Limits) -> dict[str, AttrValue]:
    out: dict[str, AttrValue] = {}
    for i, item in enumerate(members(items, field)):
        try:
            tag = _object(item, "")
            out[scalars.text(tag.get("key"), "key")] = _tag_value(tag)
        except BadField as bad:
            raise bad.under(f"{field}[{i}]") from None
    return out


def _tag_value(tag: dict[str, Any]) -> AttrValue:
    kind, value = tag.get("type"), tag.get("value")
    if value is None:
        return None
    if kind == "bool":
        return scalars.boolean(value, "value")
    if kind == "int64":
        return scalars.integer(value, "value")
    if kind == "float64":
        return scalars.double(value, "value")
    if kind == "binary":
        return scalars.blob(value, "value")
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return scalars.integer(value, "value")
    return scalars.text(value, "value") if isinstance(value, str) else scalars.double(value, "value")


def _span(raw: dict[str, Any], processes: dict[str, Attributes], notes: Notes, limits: Limits) -> Span:
    trace_id = _id(raw.get("traceID"), "traceID", 16, notes)
    tags = _tags(raw.get("tags"), "tags", limits)
    start = _micros(raw.get("startTime"), "startTime")
    parent, links = _references(raw, trace_id, notes)
    code, message = _status(tags)
    process = processes.get(str(raw.get("processID")))
    if process is None:
        process = _process(raw.get("process"), limits)
    return Span(
        trace_id=trace_id,
        span_id=_id(raw.get("spanID"), "spanID", 8, notes),
        parent_span_id=parent,
        trace_state=_taken(tags, "w3c.tracestate"),
        name=scalars.text(raw.get("operationName"), "operationName"),
        kind=KINDS.get(_taken(tags, "span.kind").upper(), 0),
        start_ns=start,
        end_ns=_end(raw.get("duration"), start),
        scope_name=_taken(tags, *_SCOPE_NAMES),
        scope_version=_taken(tags, *_SCOPE_VERSIONS),
        attributes=tags,
        events=_events(raw.get("logs"), limits),
        links=links,
        status_code=code,
        status_message=message,
        resource=process,
    )


def _id(value: Any, field: str, nbytes: int, notes: Notes) -> str:
    """Jaeger drops leading zeros and knows 64-bit trace ids; both are padded as the transformation says."""
    if isinstance(value, str) and 0 < len(value) < nbytes * 2:
        value = value.rjust(nbytes * 2, "0")
    found = scalars.identifier(value, field, nbytes, notes)
    if not found:
        raise BadField(field, f"must be up to {nbytes * 2} hex digits and not all zeros")
    return found


def _micros(value: Any, field: str) -> int:
    return scalars.integer(value, field, 0, _MAX_MICROS) * 1000


def _end(duration: Any, start_ns: int) -> int:
    """Unset where the start is; each may be in range where their sum is not."""
    end = start_ns + _micros(duration, "duration")
    if end > scalars.INT64_MAX:
        raise BadField("duration", "is out of range")
    return end if start_ns else 0


def _taken(tags: dict[str, AttrValue], *names: str) -> str:
    """The first text among the named tags, which all leave the attributes."""
    found = [value for name in names if isinstance(value := tags.pop(name, None), str)]
    return found[0] if found else ""


def _status(tags: dict[str, AttrValue]) -> tuple[int, str]:
    # names are this format's own spelling: nothing to warn of
    code = scalars.enum(tags.pop("otel.status_code", None), "otel.status_code", CODES, "STATUS_CODE_", notes=Notes())
    message = _taken(tags, "otel.status_description")
    if tags.get("error") in (True, "true"):
        tags.pop("error")
        code = code or STATUS_ERROR
    return code, message


def _references(raw: dict[str, Any], trace_id: str, notes: Notes) -> tuple[str, tuple[SpanLink, ...]]:
    """The parent: the first CHILD_OF within the trace, else the first FOLLOWS_FROM; all others are links."""
    refs = []
    for i, item in enumerate(members(raw.get("references"), "references")):
        try:
            ref = _object(item, "")
            ids = _id(ref.get("traceID"), "traceID", 16, notes), _id(ref.get("spanID"), "spanID", 8, notes)
            refs.append((ref.get("refType") != "CHILD_OF", *ids))
        except BadField as bad:
            raise bad.under(f"references[{i}]") from None
    inside = sorted((r for r in refs if r[1] == trace_id), key=lambda r: r[0])
    parent = inside[0] if inside else None
    links = list(refs)
    if parent is not None:
        links.remove(parent)
    legacy = raw.get("parentSpanID")  # before references, and in some exports of today
    found = parent[2] if parent else (_id(legacy, "parentSpanID", 8, notes) if legacy else "")
    return found, tuple(SpanLink(t, s) for _, t, s in links)


def _events(items: Any, limits: Limits) -> tuple[SpanEvent, ...]:
    out = []
    for i, item in enumerate(members(items, "logs")):
        try:
            log = _object(item, "")
            fields = _tags(log.get("fields"), "fields", limits)
            out.append(SpanEvent(_taken(fields, "event"), _micros(log.get("timestamp"), "timestamp"), fields))
        except BadField as bad:
            raise bad.under(f"logs[{i}]") from None
    return tuple(out)
