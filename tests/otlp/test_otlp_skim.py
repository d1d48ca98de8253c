"""A skim holds what a walk over every record finds."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_strategies import LOGS, SPANS

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.otlp.encode import encode_logs, encode_traces, put_value
from otel_toolselect.otlp.skim import skim


def walked(message: Any, found: dict[str, Counter[Any]], depth: int = 0) -> int:
    """Every scalar of a message by reflection; the depth of values."""
    deepest = depth
    for field, value in message.ListFields():
        for item in value if field.is_repeated else [value]:
            if field.message_type is not None:
                deepest = max(deepest, walked(item, found, depth + (field.name in ("array_value", "kvlist_value"))))
            elif field.name == "key":
                found["keys"][item.encode()] += 1
            elif field.name == "bytes_value":
                found["blobs"][item] += 1
            elif field.name in ("int_value", "double_value"):
                found["numbers"][repr(item)] += 1
            elif isinstance(item, str):
                found["texts"][item.encode()] += 1
    return deepest


def check(message: Any, signal: Any) -> None:
    found: dict[str, Counter[Any]] = {name: Counter() for name in ("keys", "texts", "blobs", "numbers")}
    depth = walked(message, found)
    skimmed = skim(message.SerializeToString(), signal)
    # empty texts and zeros: members of a oneof that are set go over the wire, plain fields do not
    assert Counter(skimmed.keys) + Counter() == found["keys"]
    assert Counter(skimmed.texts) == found["texts"]
    assert Counter(skimmed.blobs) == found["blobs"]
    assert Counter(map(repr, skimmed.numbers)) == found["numbers"]
    assert skimmed.depth == depth
    longest = skimmed.longest()
    assert not skimmed.has_longer_than(longest)
    assert longest == 0 or skimmed.has_longer_than(longest - 1)


@given(SPANS)
def test_of_spans(spans: tuple[Span, ...]) -> None:
    check(encode_traces(spans), "traces")


@given(LOGS)
def test_of_logs(logs: tuple[LogRecord, ...]) -> None:
    check(encode_logs(logs), "logs")


def test_longest() -> None:
    request = ExportTraceServiceRequest()
    attributes = request.resource_spans.add().scope_spans.add().spans.add(name="n").attributes
    put_value(attributes.add(key="long key").value, [{"k": b"12345678"}, "äöü"])
    found = skim(request.SerializeToString(), "traces")
    assert (found.longest(), found.longest_key(), found.depth) == (8, 8, 2)
    assert found.has_none_of([b"other"])
    assert not found.has_none_of([b"other", b"k"])
    empty = skim(b"", "logs")
    assert (empty.longest(), empty.longest_key(), empty.depth) == (0, 0, 0)


def test_what_is_no_request() -> None:
    with pytest.raises(DecodeError):
        skim(b"\xff\xff", "traces")
