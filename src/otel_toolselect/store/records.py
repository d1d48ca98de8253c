"""Spans and log records as rows of `otel_traces` and `otel_logs`, and back (see sql/0001, 0002 and `values`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

import pyarrow as pa

from otel_toolselect.model.spans import Attributes, LogRecord, Span, SpanEvent, SpanLink
from otel_toolselect.store import columns as c
from otel_toolselect.store.values import (
    Codes,
    decode,
    decode_items,
    encode,
    encode_items,
    read_shape,
    shape_text,
)

Row: TypeAlias = tuple[Any, ...]

# spelled as the exporter spells them; older exporters used the names of the protocol
_KINDS = ("Unspecified", "Internal", "Server", "Client", "Producer", "Consumer")
_STATUSES = ("Unset", "Ok", "Error")
_KIND_NUMBERS = {name.lower(): i for i, name in enumerate(_KINDS)}
_STATUS_NUMBERS = {name.lower(): i for i, name in enumerate(_STATUSES)}
_MAX_SEVERITY = 255


def _word(number: int, words: Sequence[str]) -> str:
    # a number that the protocol does not know yet is kept as a number
    return words[number] if 0 <= number < len(words) else str(number)


def _number(word: str, numbers: Mapping[str, int], prefix: str) -> int:
    known = numbers.get(word.lower().removeprefix(prefix))
    if known is not None:
        return known
    return int(word) if word.lstrip("-").isascii() and word.lstrip("-").isdigit() else 0


class _Resources:
    """A column of resource attributes. Spans of one request share few resources: each is encoded once."""

    def __init__(self) -> None:
        self.maps = c.Maps()
        self._seen: dict[int, tuple[list[str], list[str], Codes]] = {}

    def add(self, resource: Attributes) -> Codes:
        known = self._seen.get(id(resource))
        if known is None:
            keys: list[str] = []
            texts: list[str] = []
            known = (keys, texts, encode_items(resource, keys, texts))
            self._seen[id(resource)] = known
        self.maps.keys += known[0]
        self.maps.texts += known[1]
        self.maps.end_row()
        return known[2]


class _Attached:
    """Events or links of spans: arrays of one length per row, each item with its attributes."""

    def __init__(self) -> None:
        self.lists, self.maps = c.Lists(), c.Maps()

    def add(self, items: Sequence[SpanEvent] | Sequence[SpanLink]) -> list[Codes]:
        self.lists.end_row(len(items))
        codes = []
        for item in items:
            codes.append(encode_items(item.attributes, self.maps.keys, self.maps.texts))
            self.maps.end_row()
        return codes

    def of(self, values: Sequence[Any], kind: pa.DataType) -> pa.Array:
        return self.lists.of(c.column(values, kind))

    def attributes(self) -> pa.Array:
        return self.lists.of(self.maps.array())


def span_columns(spans: Sequence[Span]) -> dict[str, pa.Array]:
    """Columns for an insert; those that are left out (ContentHash, RowBytes) are computed by the table."""
    attributes, resources, events, links = c.Maps(), _Resources(), _Attached(), _Attached()
    shapes: list[str] = []
    for span in spans:
        codes = encode_items(span.attributes, attributes.keys, attributes.texts)
        attributes.end_row()
        sections: dict[str, Codes | str] = {"s": codes, "r": resources.add(span.resource)}
        shapes.append(shape_text(sections, {"e": events.add(span.events), "l": links.add(span.links)}))
    flat_events = [e for s in spans for e in s.events]
    flat_links = [x for s in spans for x in s.links]
    return {
        "Timestamp": c.column([s.order_ns for s in spans], c.TIME),
        **_texts(spans, _SPAN_TEXTS),
        "ResourceAttributes": resources.maps.array(),
        "SpanAttributes": attributes.array(),
        "Duration": c.column([s.duration_ns or 0 for s in spans], c.UINT64),
        "Events.Timestamp": events.of([e.time_ns for e in flat_events], c.TIME),
        "Events.Name": events.of([e.name for e in flat_events], c.TEXT),
        "Events.Attributes": events.attributes(),
        "Links.TraceId": links.of([x.trace_id for x in flat_links], c.TEXT),
        "Links.SpanId": links.of([x.span_id for x in flat_links], c.TEXT),
        "Links.TraceState": links.of([""] * len(flat_links), c.TEXT),
        "Links.Attributes": links.attributes(),
        "StartNs": c.column([s.start_ns for s in spans], c.UINT64),
        "EndNs": c.column([s.end_ns for s in spans], c.UINT64),
        "EventNs": events.of([e.time_ns for e in flat_events], c.UINT64),
        "Shape": c.column(shapes, c.TEXT),
    }


_SPAN_TEXTS: dict[str, Callable[[Span], str]] = {
    "TraceId": lambda s: s.trace_id,
    "SpanId": lambda s: s.span_id,
    "ParentSpanId": lambda s: s.parent_span_id,
    "TraceState": lambda s: s.trace_state,
    "SpanName": lambda s: s.name,
    "SpanKind": lambda s: _word(s.kind, _KINDS),
    "ServiceName": lambda s: s.service,
    "ScopeName": lambda s: s.scope_name,
    "ScopeVersion": lambda s: s.scope_version,
    "StatusCode": lambda s: _word(s.status_code, _STATUSES),
    "StatusMessage": lambda s: s.status_message,
}


def log_columns(logs: Sequence[LogRecord]) -> dict[str, pa.Array]:
    """Columns for an insert, as for spans."""
    attributes, resources = c.Maps(), _Resources()
    shapes: list[str] = []
    bodies: list[str] = []
    for log in logs:
        body, code = (log.body, "") if isinstance(log.body, str) else encode(log.body)
        bodies.append(body)
        codes = encode_items(log.attributes, attributes.keys, attributes.texts)
        attributes.end_row()
        shapes.append(shape_text({"s": codes, "r": resources.add(log.resource), "b": code}, {}))
    return {
        "Timestamp": c.column([x.time_ns or x.observed_ns for x in logs], c.TIME),
        **_texts(logs, _LOG_TEXTS),
        "SeverityNumber": c.column([max(0, min(x.severity_number, _MAX_SEVERITY)) for x in logs], c.UINT8),
        "Body": c.column(bodies, c.TEXT),
        "ResourceAttributes": resources.maps.array(),
        "LogAttributes": attributes.array(),
        "TimeNs": c.column([x.time_ns for x in logs], c.UINT64),
        "ObservedNs": c.column([x.observed_ns for x in logs], c.UINT64),
        "Shape": c.column(shapes, c.TEXT),
    }


_LOG_TEXTS: dict[str, Callable[[LogRecord], str]] = {
    "TraceId": lambda x: x.trace_id,
    "SpanId": lambda x: x.span_id,
    "SeverityText": lambda x: x.severity_text,
    "ServiceName": lambda x: str(x.resource.get("service.name") or ""),
    "ScopeName": lambda x: x.scope_name,
    "ScopeVersion": lambda x: x.scope_version,
    "EventName": lambda x: x.event_name,
}


def _texts(records: Sequence[Any], getters: Mapping[str, Callable[[Any], str]]) -> dict[str, pa.Array]:
    return {name: c.column([get(record) for record in records], c.TEXT) for name, get in getters.items()}


def spans_by_trace(found: Mapping[str, list[Any]]) -> dict[str, tuple[Span, ...]]:
    """Columns of `queries.trace_records` as spans by trace id, duplicates removed, in the contract's order."""
    return {trace_id: tuple(map(_span, rows)) for trace_id, rows in _by_trace(found)}


def logs_by_trace(found: Mapping[str, list[Any]]) -> dict[str, tuple[LogRecord, ...]]:
    """The same for log records."""
    return {trace_id: tuple(map(_log, rows)) for trace_id, rows in _by_trace(found)}


def _by_trace(found: Mapping[str, list[Any]]) -> list[tuple[str, list[Row]]]:
    rows = zip(*found.values(), strict=True)  # in the order of the query's select list: TraceId, two times, SpanId, ...
    return [(trace_id, _ordered(list(group))) for trace_id, group in groupby(rows, key=lambda row: row[0])]


def _ordered(rows: list[Row]) -> list[Row]:
    """Rows of a trace by time, then id, then content; equal ones once, as the table may not have merged them yet."""

    def place(row: Row) -> tuple[int, str]:
        return (row[1] or row[2], row[3])

    rows.sort(key=place)
    ordered: list[Row] = []
    for _, group in groupby(rows, key=place):
        tied = list(group)
        if len(tied) > 1:
            by_content = {_content(row): row for row in tied}
            tied = [by_content[content] for content in sorted(by_content)]
        ordered += tied
    return ordered


def _content(row: Row) -> str:
    return repr([_sorted(value) for value in row])


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(value.items())
    return [_sorted(v) for v in value] if isinstance(value, list) else value


def _codes(shape: Mapping[str, Any], section: str, item: int | None = None) -> Mapping[str, str]:
    codes = shape.get(section, {})
    return (codes if item is None else codes.get(str(item), {})) or {}


def _span(row: Row) -> Span:
    (trace_id, start, end, span_id, parent, state, name, kind, scope, scope_version, status, message, shape_,
     attributes, resource, event_times, event_names, event_maps, link_traces, link_spans, link_maps) = row  # fmt: skip
    if shape_:
        shape = read_shape(shape_)
        decode_items(attributes, _codes(shape, "s"))
        decode_items(resource, _codes(shape, "r"))
        for i, found in enumerate(event_maps):
            decode_items(found, _codes(shape, "e", i))
        for i, found in enumerate(link_maps):
            decode_items(found, _codes(shape, "l", i))
    return Span(
        trace_id=trace_id,
        span_id=span_id,
        parent_span_id=parent,
        trace_state=state,
        name=name,
        kind=_number(kind, _KIND_NUMBERS, "span_kind_"),
        start_ns=start,
        end_ns=end,
        attributes=attributes,
        events=tuple(map(SpanEvent, event_names, event_times, event_maps)),
        links=tuple(map(SpanLink, link_traces, link_spans, link_maps)),
        status_code=_number(status, _STATUS_NUMBERS, "status_code_"),
        status_message=message,
        resource=resource,
        scope_name=scope,
        scope_version=scope_version,
    )


def _log(row: Row) -> LogRecord:
    (trace_id, time, observed, span_id, event, number, severity, body, shape_, attributes, resource, scope,
     scope_version) = row  # fmt: skip
    shape = read_shape(shape_) if shape_ else {}
    return LogRecord(
        trace_id=trace_id,
        span_id=span_id,
        time_ns=time,
        observed_ns=observed,
        event_name=event,
        severity_number=number,
        severity_text=severity,
        body=decode(body, shape["b"]) if "b" in shape else body,
        attributes=decode_items(attributes, _codes(shape, "s")),
        resource=decode_items(resource, _codes(shape, "r")),
        scope_name=scope,
        scope_version=scope_version,
    )
