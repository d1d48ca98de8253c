"""Protobuf and JSON of one request are the same batch; and no bytes at all bring a decoder down."""

from __future__ import annotations

import base64
import math
import zlib
from contextlib import suppress
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from otlp_samples import encode, span, traces

from otel_toolselect import otlp
from otel_toolselect.errors import DecodeError, TooLargeError

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
IDS = {"traceId", "spanId", "parentSpanId"}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
times = st.integers(0, 2**63 - 1) | st.sampled_from([2**63 - 1, 2**63])
trace_ids = st.one_of(st.binary(min_size=16, max_size=16), st.sampled_from([b"", b"\1" * 15, bytes(16)]))
span_ids = st.one_of(st.binary(min_size=8, max_size=8), st.sampled_from([b"", b"\1" * 9, bytes(8)]))


def wrap(inner: Any) -> Any:
    lists = st.lists(inner, max_size=3).map(lambda v: AnyValue(array_value={"values": v}))
    pairs = st.lists(st.tuples(texts, inner), max_size=3).map(
        lambda kvs: AnyValue(kvlist_value={"values": [KeyValue(key=k, value=v) for k, v in kvs]})
    )
    return lists | pairs


any_values = st.recursive(
    st.one_of(
        st.just(AnyValue()),
        texts.map(lambda v: AnyValue(string_value=v)),
        st.booleans().map(lambda v: AnyValue(bool_value=v)),
        st.integers(-(2**63), 2**63 - 1).map(lambda v: AnyValue(int_value=v)),
        st.floats(allow_nan=False).map(lambda v: AnyValue(double_value=v)),
        st.binary(max_size=5).map(lambda v: AnyValue(bytes_value=v)),
    ),
    wrap,
    max_leaves=6,
)
attributes = st.lists(st.builds(KeyValue, key=texts, value=any_values), max_size=3)
spans = st.builds(
    Span,
    trace_id=trace_ids,
    span_id=span_ids,
    parent_span_id=span_ids,
    trace_state=texts,
    name=texts,
    kind=st.integers(0, 7),
    start_time_unix_nano=times,
    end_time_unix_nano=times,
    attributes=attributes,
    events=st.lists(st.builds(Span.Event, name=texts, time_unix_nano=times, attributes=attributes), max_size=2),
    links=st.lists(st.builds(Span.Link, trace_id=trace_ids, span_id=span_ids, attributes=attributes), max_size=2),
    status=st.builds(dict, code=st.integers(0, 3), message=texts),
)
records = st.builds(
    LogRecord,
    trace_id=trace_ids,
    span_id=span_ids,
    time_unix_nano=times,
    observed_time_unix_nano=times,
    severity_number=st.integers(0, 26),
    severity_text=texts,
    event_name=texts,
    body=any_values,
    attributes=attributes,
)


def request(kind: Any, top: str, middle: str, leaf: str, items: Any) -> Any:
    group = st.builds(
        lambda resource, name, version, found: {
            "resource": {"attributes": resource},
            middle: [{"scope": {"name": name, "version": version}, leaf: found}],
        },
        attributes,
        texts,
        texts,
        st.lists(items, max_size=3),
    )
    return st.lists(group, max_size=2).map(lambda groups: kind(**{top: groups}))


def as_otlp_json(message: Any) -> bytes:
    """protobuf's own JSON with the one difference that OTLP defines: ids in hex, not base64."""

    def hexed(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                k: base64.b64decode(v).hex() if k in IDS and isinstance(v, str) else hexed(v) for k, v in value.items()
            }
        return [hexed(v) for v in value] if isinstance(value, list) else value

    return encode(hexed(MessageToDict(message, use_integers_for_enums=True)))


def places(rejections: Any) -> list[str]:
    return [r.where for r in rejections]


@QUICK
@given(request(ExportTraceServiceRequest, "resource_spans", "scope_spans", "spans", spans))
def test_traces_are_the_same_in_both_encodings(message: ExportTraceServiceRequest) -> None:
    binary, text = otlp.decode_traces_proto(message.SerializeToString()), otlp.decode_json(as_otlp_json(message))
    assert binary.spans == text.spans
    assert repr(binary.spans) == repr(text.spans)  # 1, 1.0 and True are equal to Python, not to us
    assert places(binary.rejected_spans) == places(text.rejected_spans)
    assert sorted(binary.warnings) == sorted(text.warnings)


@QUICK
@given(request(ExportLogsServiceRequest, "resource_logs", "scope_logs", "log_records", records))
def test_logs_are_the_same_in_both_encodings(message: ExportLogsServiceRequest) -> None:
    binary, text = otlp.decode_logs_proto(message.SerializeToString()), otlp.decode_json(as_otlp_json(message))
    assert binary.logs == text.logs
    assert repr(binary.logs) == repr(text.logs)
    assert places(binary.rejected_logs) == places(text.rejected_logs)
    assert sorted(binary.warnings) == sorted(text.warnings)


def deep(levels: int, wrapper: str) -> AnyValue:
    value = AnyValue(string_value="deep")
    for _ in range(levels):
        if wrapper == "array":
            value = AnyValue(array_value={"values": [value]})
        else:
            value = AnyValue(kvlist_value={"values": [KeyValue(key="k", value=value)]})
    return value


@pytest.mark.parametrize("wrapper", ["array", "kvlist"])
def test_both_encodings_refuse_at_the_same_depth(wrapper: str) -> None:
    for levels, kept in ((30, 1), (31, 0)):
        message = ExportTraceServiceRequest()
        found = message.resource_spans.add().scope_spans.add().spans.add(trace_id=b"\1" * 16, span_id=b"\2" * 8)
        found.attributes.add(key="a", value=deep(levels, wrapper))
        binary = otlp.decode_traces_proto(message.SerializeToString())
        text = otlp.decode_json(as_otlp_json(message))
        assert len(binary.spans) == len(text.spans) == kept
        assert len(binary.rejected_spans) == len(text.rejected_spans) == 1 - kept


@pytest.mark.parametrize(("time", "kept"), [(2**63 - 1, 1), (2**63, 0)])
def test_both_encodings_refuse_the_same_times(time: int, kept: int) -> None:
    message = ExportTraceServiceRequest()
    ids = {"trace_id": b"\1" * 16, "span_id": b"\2" * 8}
    message.resource_spans.add().scope_spans.add().spans.add(**ids, end_time_unix_nano=time)
    for batch in (otlp.decode_traces_proto(message.SerializeToString()), otlp.decode_json(as_otlp_json(message))):
        assert len(batch.spans) == kept
        assert [r.reason for r in batch.rejected_spans] == ["is out of range"] * (1 - kept)


def test_not_a_number_survives_protobuf() -> None:
    message = ExportTraceServiceRequest()
    found = message.resource_spans.add().scope_spans.add().spans.add(trace_id=b"\1" * 16, span_id=b"\2" * 8)
    found.attributes.add(key="a", value=AnyValue(double_value=math.nan))
    value = otlp.decode_traces_proto(message.SerializeToString()).spans[0].attributes["a"]
    assert isinstance(value, float)
    assert math.isnan(value)


DECODERS = [otlp.decode_traces_proto, otlp.decode_logs_proto, otlp.decode_json]
SEED = encode(traces(span(attributes=[{"key": "a", "value": {"intValue": "1"}}], events=[{"name": "e"}])))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def only_our_errors(decode: Any, body: bytes) -> None:
    try:
        batch = decode(body)
    except DecodeError:
        return
    assert all(len(s.trace_id) == 32 and len(s.span_id) == 16 for s in batch.spans)


@QUICK
@given(st.binary(max_size=200), st.sampled_from(DECODERS))
def test_random_bytes_raise_nothing_of_their_own(body: bytes, decode: Any) -> None:
    only_our_errors(decode, body)


@QUICK
@given(st.data())
def test_a_sound_document_with_one_part_replaced(data: st.DataObject) -> None:
    document: Any = traces(span(attributes=[{"key": "a", "value": {"intValue": "1"}}], events=[{"name": "e"}]))
    holder: Any = document
    while True:
        key = data.draw(st.sampled_from(sorted(holder) if isinstance(holder, dict) else range(len(holder))))
        inner = holder[key]
        if not isinstance(inner, (dict, list)) or not inner or data.draw(st.booleans()):
            holder[key] = data.draw(json_values)
            break
        holder = inner
    only_our_errors(otlp.decode_json, encode(document))


@QUICK
@given(st.integers(0, len(SEED)), st.binary(max_size=4))
def test_a_sound_body_with_bytes_replaced(at: int, patch: bytes) -> None:
    for decode in DECODERS:
        only_our_errors(decode, SEED[:at] + patch + SEED[at + len(patch) :])


@QUICK
@given(st.binary(max_size=100), st.sampled_from(["gzip", "zstd"]))
def test_random_bytes_do_not_inflate(body: bytes, coding: str) -> None:
    packed = zlib.compress(body, wbits=31) if coding == "gzip" else body
    for candidate in (body, packed[: len(packed) // 2], packed + body):
        with suppress(DecodeError, TooLargeError):
            assert len(otlp.decompress(candidate, coding, 1000)) <= 1000


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (AnyValue(string_value=""), ""),
        (AnyValue(bool_value=False), False),
        (AnyValue(bool_value=True), True),
        (AnyValue(int_value=0), 0),
        (AnyValue(double_value=0.0), 0.0),
        (AnyValue(double_value=-0.0), -0.0),
        (AnyValue(bytes_value=b""), b""),
        (AnyValue(array_value=ArrayValue(values=[AnyValue(string_value=""), AnyValue(int_value=0)])), ["", 0]),
        (AnyValue(array_value=ArrayValue()), []),
        (AnyValue(kvlist_value=KeyValueList()), {}),
        (AnyValue(), None),
    ],
)
def test_a_value_that_is_zero_of_its_kind_keeps_its_kind(sent: AnyValue, read: Any) -> None:
    request = ExportTraceServiceRequest()
    record = request.resource_spans.add().scope_spans.add().spans.add(trace_id=b"\1" * 16, span_id=b"\1" * 8)
    record.attributes.add(key="k", value=sent)
    found = otlp.decode_traces_proto(request.SerializeToString()).spans[0].attributes["k"]
    assert repr(found) == repr(read)  # 0, 0.0 and False are equal
