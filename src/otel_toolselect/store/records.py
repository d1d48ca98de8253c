"""Rows of `otel_traces` and `otel_logs` as spans and log records; `rows` is the way there."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any, TypeAlias

from otel_toolselect.model.spans import LogRecord, Span, SpanEvent, SpanLink
from otel_toolselect.store.rows import KINDS, STATUSES
from otel_toolselect.store.values import decode, decode_items, read_shape

Row: TypeAlias = tuple[Any, ...]

# older exporters used the names of the protocol
_KIND_NUMBERS = {name.lower(): i for i, name in enumerate(KINDS)}
_STATUS_NUMBERS = {name.lower(): i for i, name in enumerate(STATUSES)}


def _number(word: str, numbers: Mapping[str, int], prefix: str) -> int:
    known = numbers.get(word.lower().removeprefix(prefix))
    if known is not None:
        return known
    return int(word) if word.lstrip("-").isascii() and word.lstrip("-").isdigit() else 0


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
     attributes, resource, event_times, event_names, event_maps,
     link_traces, link_spans, link_states, link_maps) = row  # fmt: skip
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
        links=tuple(map(SpanLink, link_traces, link_spans, link_maps, link_states)),
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
