"""Spans to protobuf and back: nothing is lost, and what protobuf cannot hold becomes the same thing each time."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from otlp_samples import SPAN, TRACE
from otlp_strategies import LOGS, SPANS

from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.otlp import decode_logs_proto, decode_traces_proto
from otel_toolselect.otlp.encode import encode_logs, encode_traces


@given(SPANS)
def test_spans_come_back(spans: tuple[Span, ...]) -> None:
    batch = decode_traces_proto(encode_traces(spans).SerializeToString())
    assert repr(batch.spans) == repr(spans)  # repr: NaN is not equal to itself, and 1, 1.0 and True are
    assert not batch.rejected_spans
    assert not batch.warnings


@given(LOGS)
def test_logs_come_back(logs: tuple[LogRecord, ...]) -> None:
    batch = decode_logs_proto(encode_logs(logs).SerializeToString())
    assert repr(batch.logs) == repr(logs)


@pytest.mark.parametrize(
    ("given", "kept"),
    [("a\ud800b", "a�b"), ("\ud83d\ude00", "😀"), (2**63, "9223372036854775808"), (-(2**70), str(-(2**70)))],
)
def test_what_protobuf_cannot_hold(given: Any, kept: str) -> None:
    span = Span(TRACE, SPAN, name="x\udfff", attributes={"k\udc00": [given]}, resource={"r": given})
    (found,) = decode_traces_proto(encode_traces([span]).SerializeToString()).spans
    assert (found.name, found.attributes, found.resource) == ("x�", {"k�": [kept]}, {"r": kept})


def test_values_as_deep_as_is_read_come_back() -> None:
    value: Any = "end"
    for n in range(30):
        value = [value] if n % 2 else {"k": value}
    (found,) = decode_traces_proto(
        encode_traces([Span(TRACE, SPAN, attributes={"v": value})]).SerializeToString()
    ).spans
    assert found.attributes == {"v": value}
