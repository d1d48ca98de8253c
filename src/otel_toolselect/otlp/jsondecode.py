"""OTLP/JSON to spans and log records (trace.proto, logs.proto in the OTLP JSON encoding). No protobuf import.

Lenient as the specification allows: unknown members ignored, omitted and null members are defaults, names
of the .proto file accepted beside camelCase. A record that cannot be read is rejected with the name of the
field, the others are kept; a body whose frame cannot be read is a DecodeError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.spans import Attributes, Batch, LogRecord, Span, SpanEvent, SpanLink
from otel_toolselect.otlp import scalars
from otel_toolselect.otlp.jsontext import as_text, loads
from otel_toolselect.otlp.jsonvalue import any_value, attributes, members, pick
from otel_toolselect.otlp.limits import DEFAULT, Limits
from otel_toolselect.otlp.notes import BadField, Notes

Signal: TypeAlias = Literal["traces", "logs"]

KINDS = {"UNSPECIFIED": 0, "INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
CODES = {"UNSET": 0, "OK": 1, "ERROR": 2}
_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
SEVERITIES = {"UNSPECIFIED": 0} | {
    f"{level}{n if n > 1 else ''}": 4 * i + n for i, level in enumerate(_LEVELS) for n in range(1, 5)
}


@dataclass(slots=True)
class _Reading:
    """One body being read: where notes go, what bounds hold, what was found so far."""

    notes: Notes
    limits: Limits
    places: list[str]
    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Scope:
    """What a record inherits from the lists that hold it."""

    resource: Attributes
    name: str
    version: str


def decode_json(
    body: bytes,
    *,
    where: str = "",
    signal: Signal | None = None,
    limits: Limits = DEFAULT,
    places: list[str] | None = None,
) -> Batch:
    """One OTLP/JSON request: an object with `resourceSpans` and/or `resourceLogs` (only that of `signal`,
    if given).

    `{}` is an empty request. An object with members but none of these is not OTLP: DecodeError, as is
    everything else that is not JSON or whose outer lists have the wrong type. `places` gets where in the document each
    record stood, in the order of the batch.
    """
    document = loads(as_text(body, where=where), where=where)
    return decode_document(document, where=where, signal=signal, limits=limits, places=places)


def counted(document: Any, signal: Signal) -> Iterator[tuple[str, int]]:
    """How much there is of what reading goes through, from the outside in, as names and numbers; what is no list counts
    as nothing here. For callers that mind: nothing of it is read for that.
    """
    kind = _KINDS[signal]
    groups = _lists([document], kind.tops)
    yield "resources", len(groups)
    scopes = _lists(groups, kind.middle)
    yield "scopes", len(scopes)
    yield ("spans" if signal == "traces" else "log records"), len(_lists(scopes, (kind.leaf, kind.snake)))


def _lists(holders: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """The members of all lists of any of the names."""
    found: list[Any] = []
    for holder in holders:
        if isinstance(holder, dict):
            for name in dict.fromkeys(names):
                items = holder.get(name)
                if isinstance(items, list):
                    found += items
    return found


def decode_document(
    document: Any,
    *,
    where: str = "",
    signal: Signal | None = None,
    limits: Limits = DEFAULT,
    places: list[str] | None = None,
) -> Batch:
    """Same as `decode_json`, for a document that is already parsed."""
    if not isinstance(document, dict):
        raise DecodeError(f"not OTLP: an object is expected, not {scalars.type_name(document)}", where=where)
    wanted = {s: pick(document, *kind.tops) for s, kind in _KINDS.items() if signal in (None, s)}
    if document and not any(name in document for s in wanted for name in _KINDS[s].tops):
        names = " or ".join(_KINDS[s].tops[0] for s in wanted)
        raise DecodeError(f"not OTLP: the object has no {names}", where=where)
    reading = _Reading(Notes(where), limits, [] if places is None else places)
    try:
        for each, kind in _KINDS.items():
            _groups(reading, wanted.get(each), kind)
    except BadField as bad:
        raise DecodeError(f"not OTLP: {bad.name} {bad.reason}", where=where) from None
    notes = reading.notes
    return Batch(
        tuple(reading.spans),
        tuple(reading.logs),
        tuple(notes.rejected_spans),
        tuple(notes.rejected_logs),
        notes.warnings,
    )


@dataclass(frozen=True, slots=True)
class _Kind:
    """How the lists of one signal are called, and what reads one record; older names of a level come last."""

    tops: tuple[str, ...]
    middle: tuple[str, ...]
    leaf: str
    snake: str
    read: Callable[[_Reading, dict[str, Any], _Scope], None]
    reject: Callable[[Notes, str, BadField], None]


def _groups(reading: _Reading, groups: Any, kind: _Kind) -> None:
    for i, group in enumerate(members(groups, kind.tops[0])):
        place = f"{kind.tops[0]}[{i}]"
        try:
            resource = _object(_object(group, "").get("resource"), "resource")
            inherited = attributes(resource.get("attributes"), reading.limits, field="resource.attributes")
            name = next((m for m in kind.middle if group.get(m) is not None), kind.middle[0])
            scopes = members(group.get(name), name)
        except BadField as bad:
            raise bad.under(place) from None
        for j, scoped in enumerate(scopes):
            _records(reading, scoped, inherited, f"{place}.{name}[{j}]", kind)


def _records(reading: _Reading, scoped: Any, resource: Attributes, place: str, kind: _Kind) -> None:
    try:
        holder = _object(scoped, "")
        about = _object(pick(holder, "scope", "instrumentationLibrary"), "scope")
        scope = _Scope(
            resource,
            scalars.text(about.get("name"), "scope.name"),
            scalars.text(about.get("version"), "scope.version"),
        )
        records = members(pick(holder, kind.leaf, kind.snake), kind.leaf)
    except BadField as bad:
        raise bad.under(place) from None
    for k, record in enumerate(records):
        at = f"{place}.{kind.leaf}[{k}]"
        try:
            kind.read(reading, _object(record, ""), scope)
        except BadField as bad:
            kind.reject(reading.notes, at, bad)
        else:
            reading.places.append(at)


def _object(value: Any, name: str) -> dict[str, Any]:
    if value is None and name:
        return {}
    if not isinstance(value, dict):
        raise BadField(name, f"must be an object, not {scalars.type_name(value)}")
    return value


def _span(reading: _Reading, raw: dict[str, Any], scope: _Scope) -> None:
    notes, limits = reading.notes, reading.limits
    status = _object(raw.get("status"), "status")
    reading.spans.append(
        Span(
            trace_id=_required_id(pick(raw, "traceId", "trace_id"), "traceId", 16, notes),
            span_id=_required_id(pick(raw, "spanId", "span_id"), "spanId", 8, notes),
            parent_span_id=scalars.identifier(pick(raw, "parentSpanId", "parent_span_id"), "parentSpanId", 8, notes),
            trace_state=scalars.text(pick(raw, "traceState", "trace_state"), "traceState"),
            name=scalars.text(raw.get("name"), "name"),
            kind=scalars.enum(raw.get("kind"), "kind", KINDS, "SPAN_KIND_", notes),
            start_ns=scalars.time_ns(pick(raw, "startTimeUnixNano", "start_time_unix_nano"), "startTimeUnixNano"),
            end_ns=scalars.time_ns(pick(raw, "endTimeUnixNano", "end_time_unix_nano"), "endTimeUnixNano"),
            attributes=attributes(raw.get("attributes"), limits),
            events=_each(raw.get("events"), "events", lambda item: _event(item, limits)),
            links=_links(raw.get("links"), reading),
            status_code=scalars.enum(status.get("code"), "status.code", CODES, "STATUS_CODE_", notes),
            status_message=scalars.text(status.get("message"), "status.message"),
            resource=scope.resource,
            scope_name=scope.name,
            scope_version=scope.version,
        )
    )


def _required_id(value: Any, name: str, nbytes: int, notes: Notes) -> str:
    found = scalars.identifier(value, name, nbytes, notes)
    if not found:
        raise BadField(name, f"must be {nbytes * 2} hex digits and not all zeros")
    return found


def _each(items: Any, name: str, read: Callable[[dict[str, Any]], Any]) -> tuple[Any, ...]:
    out = []
    for i, item in enumerate(members(items, name)):
        try:
            out.append(read(_object(item, "")))
        except BadField as bad:
            raise bad.under(f"{name}[{i}]") from None
    return tuple(out)


def _event(raw: dict[str, Any], limits: Limits) -> SpanEvent:
    return SpanEvent(
        scalars.text(raw.get("name"), "name"),
        scalars.time_ns(pick(raw, "timeUnixNano", "time_unix_nano"), "timeUnixNano"),
        attributes(raw.get("attributes"), limits),
    )


def _links(items: Any, reading: _Reading) -> tuple[SpanLink, ...]:
    """A link to nowhere is left out with a warning: it says nothing, and the span that holds it is sound."""

    def link(raw: dict[str, Any]) -> SpanLink | None:
        try:
            trace_id = _required_id(pick(raw, "traceId", "trace_id"), "traceId", 16, reading.notes)
            span_id = _required_id(pick(raw, "spanId", "span_id"), "spanId", 8, reading.notes)
        except BadField:
            reading.notes.warn("a span link without valid ids was left out")
            return None
        state = scalars.text(pick(raw, "traceState", "trace_state"), "traceState")
        return SpanLink(trace_id, span_id, attributes(raw.get("attributes"), reading.limits), state)

    return tuple(found for found in _each(items, "links", link) if found is not None)


def _log(reading: _Reading, raw: dict[str, Any], scope: _Scope) -> None:
    notes, limits = reading.notes, reading.limits
    try:
        body = any_value(raw.get("body"), limits)
    except BadField as bad:
        raise BadField("body" + bad.name.removeprefix("value"), bad.reason, bad.kind) from None
    reading.logs.append(
        LogRecord(
            trace_id=_loose_id(pick(raw, "traceId", "trace_id"), "traceId", 16, notes),
            span_id=_loose_id(pick(raw, "spanId", "span_id"), "spanId", 8, notes),
            time_ns=scalars.time_ns(pick(raw, "timeUnixNano", "time_unix_nano"), "timeUnixNano"),
            observed_ns=scalars.time_ns(
                pick(raw, "observedTimeUnixNano", "observed_time_unix_nano"), "observedTimeUnixNano"
            ),
            event_name=scalars.text(pick(raw, "eventName", "event_name"), "eventName"),
            severity_number=scalars.enum(
                pick(raw, "severityNumber", "severity_number"),
                "severityNumber",
                SEVERITIES,
                "SEVERITY_NUMBER_",
                notes,
            ),
            severity_text=scalars.text(pick(raw, "severityText", "severity_text"), "severityText"),
            body=body,
            attributes=attributes(raw.get("attributes"), limits),
            resource=scope.resource,
            scope_name=scope.name,
            scope_version=scope.version,
        )
    )


def _loose_id(value: Any, name: str, nbytes: int, notes: Notes) -> str:
    """logs.proto: a receiver treats a record with an invalid id as one that belongs to no trace."""
    try:
        return scalars.identifier(value, name, nbytes, notes)
    except BadField:
        notes.warn(f"{name} of a log record was invalid, read as none")
        return ""


_KINDS: dict[Signal, _Kind] = {
    "traces": _Kind(
        ("resourceSpans", "resource_spans"),
        ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"),
        "spans",
        "spans",
        _span,
        Notes.reject_span,
    ),
    "logs": _Kind(
        ("resourceLogs", "resource_logs"),
        ("scopeLogs", "scope_logs", "instrumentationLibraryLogs"),
        "logRecords",
        "log_records",
        _log,
        Notes.reject_log,
    ),
}
