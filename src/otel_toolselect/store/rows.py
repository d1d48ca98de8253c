"""Spans and log records as rows of `otel_traces` and `otel_logs` (sql/0001, 0002); `records` is the way back.

What a table computes itself (ContentHash, RowBytes, ReceivedAt) is left out, and so is a column that would hold its
default in every row: most batches have no links, and ten columns of nothing cost as much as one of something.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import pyarrow as pa

from otel_toolselect.model.spans import LogRecord, Span, SpanEvent, SpanLink
from otel_toolselect.store import columns as c
from otel_toolselect.store.attributes import AttributeMaps, Shared
from otel_toolselect.store.values import Codes, encode, shape_text

# spelled as the exporter spells them
KINDS = ("Unspecified", "Internal", "Server", "Client", "Producer", "Consumer")
STATUSES = ("Unset", "Ok", "Error")
_MAX_SEVERITY = 255
_NOTHING: Codes = {}


class _Words(dict[int, str]):
    """The words of an enum; a number that the protocol does not know yet is kept as a number."""

    def __missing__(self, number: int) -> str:
        return str(number)


_KIND_WORDS, _STATUS_WORDS = _Words(enumerate(KINDS)), _Words(enumerate(STATUSES))


class _Shapes:
    """Shape texts; rows whose codes are the same objects share one text."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._plain: dict[tuple[int, int], tuple[str, Codes, Codes]] = {}

    def add(self, own: Codes, resource: Codes, **more: Codes | str | Sequence[Codes]) -> None:
        if any(more.values()):
            self.texts.append(shape_text({"s": own, "r": resource} | more))
            return
        key = id(own), id(resource)
        found = self._plain.get(key)
        if found is None:  # the codes are kept with the text, so that no other object gets their ids
            found = self._plain[key] = shape_text({"s": own, "r": resource}), own, resource
        self.texts.append(found[0])


class _Attached:
    """Events or links of spans: arrays of one length per row, each item with its attributes."""

    def __init__(self, lists: Iterable[Sequence[SpanEvent] | Sequence[SpanLink]]) -> None:
        self._maps = AttributeMaps()
        self._offsets = pa.array(list(accumulate(map(len, lists), initial=0)), pa.int32())

    def add(self, items: Sequence[SpanEvent] | Sequence[SpanLink]) -> list[Codes]:
        return [self._maps.add(item.attributes) for item in items]

    def of(self, values: Sequence[Any], kind: pa.DataType) -> pa.Array:
        return pa.ListArray.from_arrays(self._offsets, c.column(values, kind))

    def attributes(self) -> pa.Array:
        return pa.ListArray.from_arrays(self._offsets, self._maps.array())


def span_columns(spans: Sequence[Span]) -> dict[str, pa.Array]:
    """Columns for an insert."""
    attributes, resources, shapes = AttributeMaps(), Shared(), _Shapes()
    events, links = _Attached(s.events for s in spans), _Attached(s.links for s in spans)
    for span in spans:
        own, resource = attributes.add(span.attributes), resources.add(span.resource)
        if span.events or span.links:
            shapes.add(own, resource, e=events.add(span.events), l=links.add(span.links))
        else:
            shapes.add(own, resource)
    times = [s.order_ns for s in spans]
    return {
        "Timestamp": c.column(times, c.TIME),
        "TraceId": c.column([s.trace_id for s in spans], c.TEXT),
        "SpanId": c.column([s.span_id for s in spans], c.TEXT),
        "SpanName": c.column([s.name for s in spans], c.TEXT),
        "SpanKind": c.column([_KIND_WORDS[s.kind] for s in spans], c.TEXT),
        "StatusCode": c.column([_STATUS_WORDS[s.status_code] for s in spans], c.TEXT),
        **_optional_texts(
            {
                "ParentSpanId": [s.parent_span_id for s in spans],
                "TraceState": [s.trace_state for s in spans],
                "ServiceName": [s.service for s in spans],
                "ScopeName": [s.scope_name for s in spans],
                "ScopeVersion": [s.scope_version for s in spans],
                "StatusMessage": [s.status_message for s in spans],
                "Shape": shapes.texts,
            }
        ),
        "ResourceAttributes": resources.array(),
        "SpanAttributes": attributes.array(),
        "Duration": c.column([s.duration_ns or 0 for s in spans], c.UINT64),
        "StartNs": c.column([s.start_ns for s in spans], c.UINT64),
        "EndNs": c.column([s.end_ns for s in spans], c.UINT64),
        **_event_columns(events, [e for s in spans for e in s.events]),
        **_link_columns(links, [x for s in spans for x in s.links]),
    }


def _event_columns(attached: _Attached, events: Sequence[SpanEvent]) -> dict[str, pa.Array]:
    if not events:
        return {}
    times = [e.time_ns for e in events]
    return {
        "Events.Timestamp": attached.of(times, c.TIME),
        "Events.Name": attached.of([e.name for e in events], c.TEXT),
        "Events.Attributes": attached.attributes(),
        "EventNs": attached.of(times, c.UINT64),
    }


def _link_columns(attached: _Attached, links: Sequence[SpanLink]) -> dict[str, pa.Array]:
    if not links:
        return {}
    return {
        "Links.TraceId": attached.of([x.trace_id for x in links], c.TEXT),
        "Links.SpanId": attached.of([x.span_id for x in links], c.TEXT),
        "Links.TraceState": attached.of([x.trace_state for x in links], c.TEXT),
        "Links.Attributes": attached.attributes(),
    }


def log_columns(logs: Sequence[LogRecord]) -> dict[str, pa.Array]:
    """Columns for an insert, as for spans."""
    attributes, resources, shapes = AttributeMaps(), Shared(), _Shapes()
    bodies: list[str] = []
    for log in logs:
        body, code = (log.body, "") if isinstance(log.body, str) else encode(log.body)
        bodies.append(body)
        shapes.add(attributes.add(log.attributes), resources.add(log.resource), b=code)
    return {
        "Timestamp": c.column([x.time_ns or x.observed_ns for x in logs], c.TIME),
        "TraceId": c.column([x.trace_id for x in logs], c.TEXT),
        "SpanId": c.column([x.span_id for x in logs], c.TEXT),
        **_optional_texts(
            {
                "SeverityText": [x.severity_text for x in logs],
                "ServiceName": [str(x.resource.get("service.name") or "") for x in logs],
                "ScopeName": [x.scope_name for x in logs],
                "ScopeVersion": [x.scope_version for x in logs],
                "EventName": [x.event_name for x in logs],
                "Shape": shapes.texts,
            }
        ),
        "SeverityNumber": c.column([max(0, min(x.severity_number, _MAX_SEVERITY)) for x in logs], c.UINT8),
        "Body": c.column(bodies, c.TEXT),
        "ResourceAttributes": resources.array(),
        "LogAttributes": attributes.array(),
        "TimeNs": c.column([x.time_ns for x in logs], c.UINT64),
        "ObservedNs": c.column([x.observed_ns for x in logs], c.UINT64),
    }


def _optional_texts(texts: dict[str, list[str]]) -> dict[str, pa.Array]:
    return {name: c.column(values, c.TEXT) for name, values in texts.items() if any(values)}
