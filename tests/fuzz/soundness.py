"""What must hold of everything that a decoder gives out, whatever it was given.

The store and the rules rely on it: ids are hex, times fit a signed 64-bit integer, text can be written as UTF-8.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.model.spans import Batch, LogRecord, Rejection, Span
from otel_toolselect.otlp.limits import Limits

_INT64 = range(-(2**63), 2**63)
_TIME = range(2**63)
_TRACE_ID = re.compile(r"[0-9a-f]{32}")
_SPAN_ID = re.compile(r"[0-9a-f]{16}")
_MESSAGE_BYTES = 2000


def check_error(error: InputError) -> None:
    """Says where, and stays short: a message goes into an answer and must not carry the body back."""
    assert error.where
    assert str(error).isprintable()
    assert len(str(error)) < _MESSAGE_BYTES, len(str(error))


def check_batch(batch: Batch, limits: Limits) -> None:
    for span in batch.spans:
        _check_span(span, limits)
    for log in batch.logs:
        _check_log(log, limits)
    for rejection in (*batch.rejected_spans, *batch.rejected_logs):
        assert isinstance(rejection, Rejection)
        assert rejection.where
        check_note(rejection.where + rejection.reason)
    for warning in batch.warnings:
        check_note(warning)


def check_note(text: str) -> None:
    _check_text(text)
    assert len(text) < _MESSAGE_BYTES, len(text)


def _check_span(span: Span, limits: Limits) -> None:
    _check_id(span.trace_id, _TRACE_ID)
    _check_id(span.span_id, _SPAN_ID)
    _check_id(span.parent_span_id or "f" * 16, _SPAN_ID)
    assert span.start_ns in _TIME
    assert span.end_ns in _TIME
    assert span.kind in range(6)
    assert span.status_code in range(3)
    for text in (span.name, span.trace_state, span.status_message, span.scope_name, span.scope_version):
        _check_text(text)
    _check_attributes(span.attributes, limits)
    _check_attributes(span.resource, limits)
    for event in span.events:
        _check_text(event.name)
        assert event.time_ns in _TIME
        _check_attributes(event.attributes, limits)
    for link in span.links:
        _check_id(link.trace_id, _TRACE_ID)
        _check_id(link.span_id, _SPAN_ID)
        _check_attributes(link.attributes, limits)


def _check_log(log: LogRecord, limits: Limits) -> None:
    _check_id(log.trace_id or "f" * 32, _TRACE_ID)
    _check_id(log.span_id or "f" * 16, _SPAN_ID)
    assert log.time_ns in _TIME
    assert log.observed_ns in _TIME
    assert log.severity_number in range(25)
    for text in (log.event_name, log.severity_text, log.scope_name, log.scope_version):
        _check_text(text)
    _check_value(log.body, limits.max_depth)
    _check_attributes(log.attributes, limits)
    _check_attributes(log.resource, limits)


def _check_id(found: str, form: re.Pattern[str]) -> None:
    assert form.fullmatch(found), found
    assert found.strip("0"), "all zeros"


def _check_text(text: Any) -> None:
    assert type(text) is str
    text.encode("utf-8")


def _check_attributes(attributes: Mapping[str, Any], limits: Limits) -> None:
    for key, value in attributes.items():
        _check_text(key)
        _check_value(value, limits.max_depth)


def _check_value(value: Any, depth: int) -> None:
    assert depth >= 0, "nested over the limit"
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key)
            _check_value(item, depth - 1)
    elif isinstance(value, list):
        for item in value:
            _check_value(item, depth - 1)
    elif type(value) is int:
        assert value in _INT64
    else:
        assert value is None or type(value) in (bool, float, bytes), type(value)
