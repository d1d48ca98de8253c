"""The door: what is kept of a request, what is left out and how that is told, what is cut, marked and stamped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from receive_samples import TRACE, proto_request, request, span

from otel_toolselect.config import Limits, Retention
from otel_toolselect.errors import DecodeError
from otel_toolselect.otlp import decode_json, decode_logs_proto, decode_traces_proto
from otel_toolselect.otlp.encode import put_value
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.receive import Settings
from otel_toolselect.receive.access import ANYBODY, Sender
from otel_toolselect.receive.door import Admitted, Door
from otel_toolselect.receive.records import Request
from otel_toolselect.receive.status import TooManyError, failure_of

NOW = 1_800_000_000 * 10**9
DAY = 86_400 * 10**9
TENANT = Sender("a", {"toolselect.tenant": "acme"})


def door(**changes: Any) -> Door:
    return Door(Settings(spool=Path("unused"), **changes), lambda: NOW)


def admit(body: bytes, signal: Signal = "traces", sender: Sender = ANYBODY, **changes: Any) -> Admitted:
    return door(**changes).admit(Request(signal, "json" if body[:1] == b"{" else "protobuf", body), sender)


def one_span(fill: Callable[[Any], object], **changes: Any) -> tuple[Admitted, Any]:
    """A request with one span, and that span as it is kept (None if it is not)."""
    message = ExportTraceServiceRequest.FromString(proto_request(1))
    fill(message.resource_spans[0].scope_spans[0].spans[0])
    admitted = admit(message.SerializeToString(), **changes)
    kept = decode_traces_proto(admitted.request.body).spans
    return admitted, kept[0] if kept else None


def test_a_clean_request_is_kept_byte_for_byte() -> None:
    body = proto_request(1, 2, blob=2000) + b"\xfa\x3e\x02hi"  # a field that nobody knows
    admitted = admit(body)
    assert admitted == Admitted(Request("traces", "protobuf", body), 2, 0, admitted.notes)
    assert not admitted.notes.warnings


def test_json_is_kept_as_protobuf() -> None:
    body = request(span(1, attributes=[{"key": "a", "value": {"intValue": "7"}}]), span(2))
    admitted = admit(body)
    assert (admitted.request.encoding, admitted.spans) == ("protobuf", 2)
    assert decode_traces_proto(admitted.request.body).spans == decode_json(body).spans


BAD: dict[str, Callable[[Any], object]] = {
    "trace id": lambda s: setattr(s, "trace_id", b"\1"),
    "zero trace id": lambda s: setattr(s, "trace_id", bytes(16)),
    "span id": lambda s: setattr(s, "span_id", b"\1" * 9),
    "zero span id": lambda s: setattr(s, "span_id", bytes(8)),
    "parent": lambda s: setattr(s, "parent_span_id", b"\1"),
    "start": lambda s: setattr(s, "start_time_unix_nano", 2**63),
    "end": lambda s: setattr(s, "end_time_unix_nano", 2**63),
    "kind": lambda s: setattr(s, "kind", 77),
    "status": lambda s: setattr(s.status, "code", 5),
    "event": lambda s: s.events.add(time_unix_nano=2**64 - 1),
    "link": lambda s: s.links.add(trace_id=b"\1"),
    "sound link": lambda s: s.links.add(trace_id=b"\1" * 16, span_id=b"\1" * 8),
    "deep": lambda s: put_value(s.attributes.add(key="k").value, nested(31)),
    "deep in an event": lambda s: put_value(s.events.add().attributes.add(key="k").value, nested(31)),
    "deep enough": lambda s: put_value(s.attributes.add(key="k").value, nested(30)),
}


def nested(levels: int) -> Any:
    value: Any = 1
    for n in range(levels):
        value = [value] if n % 2 else {"k": value}
    return value


@pytest.mark.parametrize("bad", BAD)
def test_bad_spans_are_told_as_the_decoder_tells_them(bad: str) -> None:
    message = ExportTraceServiceRequest.FromString(proto_request(1, 2, 3))
    BAD[bad](message.resource_spans[0].scope_spans[0].spans[1])
    body = message.SerializeToString()
    decoded = decode_traces_proto(body, where="body")
    admitted = admit(body)
    assert admitted.notes.rejected_spans == decoded.rejected_spans
    assert admitted.notes.warnings == decoded.warnings
    kept = decode_traces_proto(admitted.request.body)
    assert kept.spans == decoded.spans
    assert not kept.rejected_spans
    assert admitted.spans == len(decoded.spans)
    if not decoded.rejected_spans:
        assert admitted.request.body == body


@given(st.binary(max_size=80), st.sampled_from(["traces", "logs"]))
def test_any_bytes_are_refused_or_kept_readable(body: bytes, signal: Signal) -> None:
    try:
        admitted = admit(b"\x0a" + body, signal)
    except DecodeError:
        return
    decode = decode_traces_proto if signal == "traces" else decode_logs_proto
    kept = decode(admitted.request.body)
    assert (len(kept.spans), len(kept.logs)) == (admitted.spans, admitted.logs)
    assert not kept.rejected_spans


def test_bad_log_records_are_told_as_the_decoder_tells_them() -> None:
    message = ExportLogsServiceRequest()
    records = message.resource_logs.add().scope_logs.add().log_records
    records.add(trace_id=b"\1", time_unix_nano=5)
    records.add(time_unix_nano=2**63)
    records.add(severity_number=99).body.string_value = "kept"
    put_value(records.add().body, nested(31))
    body = message.SerializeToString()
    decoded = decode_logs_proto(body, where="body")
    admitted = admit(body, "logs")
    assert admitted.notes.rejected_logs == decoded.rejected_logs
    assert sorted(admitted.notes.warnings) == sorted(decoded.warnings)
    assert decode_logs_proto(admitted.request.body).logs == decoded.logs
    assert [r.kind for r in admitted.notes.rejected_logs] == ["invalid", "too_deep"]


def test_a_resource_nested_too_deeply_refuses_the_request() -> None:
    message = ExportTraceServiceRequest.FromString(proto_request(1))
    put_value(message.resource_spans[0].resource.attributes.add(key="k").value, nested(31))
    with pytest.raises(DecodeError, match=r"resourceSpans\[0\]\.resource\.attributes\[0\].*nested deeper than 30"):
        admit(message.SerializeToString())


def test_the_depth_is_a_setting_for_both_encodings() -> None:
    admitted, kept = one_span(BAD["deep enough"], limits=Limits(depth=4))
    assert kept is None
    assert "nested deeper than 4 levels" in admitted.notes.rejected_spans[0].reason
    value = {"arrayValue": {"values": [{"arrayValue": {"values": []}}]}}
    admitted = admit(request(span(1, attributes=[{"key": "a", "value": value}])), limits=Limits(depth=1))
    assert admitted.notes.rejected_spans[0].kind == "too_deep"


def test_too_many_spans_refuse_the_request_for_good() -> None:
    with pytest.raises(
        TooManyError, match="3 spans, over the limit of 2 in one request: send smaller batches"
    ) as caught:
        admit(proto_request(1, 2, 3), limits=Limits(spans=2))
    failure = failure_of(caught.value)
    assert (failure.http_status, failure.retry_after_s, failure.reason) == (413, None, "too_many")
    with pytest.raises(TooManyError):
        admit(request(span(1), span(2), span(3, traceId="1")), limits=Limits(spans=2))


@pytest.mark.parametrize("attribute", [b"\x4a\x00", b"\x4a\x03\x0a\x01k"])
def test_a_request_of_too_many_small_messages_is_refused_before_it_is_parsed(attribute: bytes) -> None:
    message = ExportTraceServiceRequest.FromString(proto_request(1))
    raw = message.resource_spans[0].scope_spans[0].spans[0]
    raw.MergeFromString(attribute * 100)
    body = message.SerializeToString()
    assert admit(body, limits=Limits(messages=110)).spans == 1
    with pytest.raises(TooManyError, match="more messages than the limit of 100 in one request: send smaller batches"):
        admit(body, limits=Limits(messages=100))


def test_json_of_too_many_objects_is_refused_before_it_is_parsed() -> None:
    body = request(span(1, attributes=[{}] * 100))
    assert admit(body, limits=Limits(messages=120)).notes.rejected_spans == ()
    with pytest.raises(TooManyError, match="more objects and lists than the limit of 100 in one request"):
        admit(body, limits=Limits(messages=100))
    for other in (b'{"resourceSpans":[{},{},{}]}', b'{"resourceSpans":[{"scopeSpans":[{},{}]},{"scope_spans":[{}]}]}',
                  b'{"resourceSpans":[{"scopeSpans":[{"spans":[{},{},{}]}]}]}'):  # fmt: skip
        with pytest.raises(TooManyError, match=r"3 (resources|scopes|spans), over the limit of 2"):
            admit(other, limits=Limits(spans=2))


@pytest.mark.parametrize("signal", ["traces", "logs"])
def test_too_many_empty_resources_and_scopes_are_not_walked(signal: Signal) -> None:
    scope = b"\x12\x00"
    for body, what in (
        (b"\x0a\x00" * 3, "3 resources"),
        ((b"\x0a\x04" + scope * 2) * 2, "4 scopes"),
    ):
        with pytest.raises(TooManyError, match=f"{what}, over the limit of 2"):
            admit(body, signal, limits=Limits(spans=2))


def test_a_blob_is_cut_and_the_tool_call_stays() -> None:  # bug 37, point 2
    def fill(raw: Any) -> None:
        put_value(raw.attributes.add(key="gen_ai.tool.name").value, "f")
        put_value(raw.attributes.add(key="blob").value, "ä" * (5 * 2**19 - 1) + "xyz")
        put_value(raw.attributes.add(key="after").value, "whole")

    admitted, kept = one_span(fill)
    assert kept.attributes["gen_ai.tool.name"] == "f"
    assert kept.attributes["after"] == "whole"
    assert len(kept.attributes["blob"].encode()) == 2**20
    assert set(kept.attributes["blob"]) == {"ä"}
    assert kept.attributes["toolselect.truncated"] == ["blob"]
    assert admitted.notes.warnings == ("body: a value over 1048576 bytes was cut",)
    assert admitted.alterations == {"value": 1}


def test_every_place_is_cut() -> None:
    limits = Limits(value_bytes=4, key_bytes=3)

    def fill(raw: Any) -> None:
        raw.name = "a name"
        raw.status.message = "a message"
        put_value(raw.attributes.add(key="key").value, b"123456")
        put_value(raw.attributes.add(key="a long key").value, 1)
        put_value(raw.attributes.add(key="n").value, ["12", {"k": "345"}, "gone"])
        put_value(raw.events.add(name="an event").attributes.add(key="m").value, "12345")
        put_value(raw.links.add(trace_id=b"\1" * 16, span_id=b"\1" * 8).attributes.add(key="m").value, "12345")

    admitted, kept = one_span(fill, limits=limits)
    assert (kept.name, kept.status_message) == ("a na", "a me")
    assert kept.attributes["key"] == b"1234"
    assert kept.attributes["a l"] == 1
    assert kept.attributes["n"] == ["12", {"k": "3"}]
    assert (kept.events[0].name, kept.events[0].attributes) == ("an e", {"m": "1234"})
    assert kept.links[0].attributes == {"m": "1234"}
    cut = ["name", "status.message", "key", "a l", "n", "events[0].name", "events[0].m", "links[0].m"]
    assert kept.attributes["toolselect.truncated"] == cut
    assert admitted.alterations == {"value": 7, "key": 1}


def test_of_too_many_attributes_the_numbered_ones_go() -> None:
    def fill(raw: Any) -> None:
        for n in range(5):
            put_value(raw.attributes.add(key=f"llm.input_messages.{n}.content").value, n)
        put_value(raw.attributes.add(key="tool.name").value, "f")

    admitted, kept = one_span(fill, limits=Limits(attributes=3))
    names = ["llm.input_messages.0.content", "llm.input_messages.1.content", "tool.name", "toolselect.truncated"]
    assert list(kept.attributes) == names
    assert admitted.alterations == {"attributes": 1}
    raw = ExportTraceServiceRequest.FromString(admitted.request.body).resource_spans[0].scope_spans[0].spans[0]
    assert raw.dropped_attributes_count == 3


def test_of_too_many_events_the_last_stay_and_of_links_the_first() -> None:
    def fill(raw: Any) -> None:
        for n in range(1, 5):
            raw.events.add(name=str(n))
            raw.links.add(trace_id=b"\1" * 16, span_id=bytes([n]) * 8)

    admitted, kept = one_span(fill, limits=Limits(events=2, links=3))
    assert [e.name for e in kept.events] == ["3", "4"]
    assert [link.span_id[:2] for link in kept.links] == ["01", "02", "03"]
    assert kept.attributes["toolselect.truncated"] == ["events", "links"]
    assert admitted.alterations == {"events": 1, "links": 1}


def test_logs_resources_and_scopes_are_cut_too() -> None:
    message = ExportLogsServiceRequest()
    group = message.resource_logs.add()
    put_value(group.resource.attributes.add(key="r").value, "12345")
    scoped = group.scope_logs.add()
    scoped.scope.name = "a scope"
    put_value(scoped.log_records.add().body, {"k": "12345"})
    admitted = admit(message.SerializeToString(), "logs", limits=Limits(value_bytes=4))
    (kept,) = decode_logs_proto(admitted.request.body).logs
    assert kept.resource == {"r": "1234", "toolselect.truncated": ["r"]}
    assert kept.scope_name == "a sc"
    assert kept.body == {"k": "123"}
    assert kept.attributes == {"toolselect.truncated": ["body"]}


def test_older_than_the_retention_is_rejected_and_the_future_is_marked() -> None:  # bug 37, point 3
    times = {1: NOW - 400 * DAY, 2: NOW - 89 * DAY, 3: NOW + 3650 * DAY, 4: 0, 5: NOW + DAY // 2}
    spans = [span(n, startTimeUnixNano=str(t), endTimeUnixNano="0") for n, t in times.items()]
    admitted = admit(request(*spans), retention=Retention(days=90))
    (rejection,) = admitted.notes.rejected_spans
    assert rejection.where == "body: resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano"
    assert rejection.reason == "is older than the retention of 90 days"
    assert rejection.kind == "too_old"
    kept = {int(s.span_id): s.attributes for s in decode_traces_proto(admitted.request.body).spans}
    assert kept == {2: {}, 3: {"toolselect.clock_skew": True}, 4: {}, 5: {}}
    assert admitted.alterations == {"clock_skew": 1}
    assert admit(request(*spans)).spans == 5  # without a retention everything is kept


def test_the_age_of_a_span_without_start_is_that_of_its_end() -> None:
    body = request(span(1, endTimeUnixNano=str(NOW - 2 * DAY)), span(2, endTimeUnixNano=str(NOW)))
    admitted = admit(body, retention=Retention(days=1))
    assert [r.where.rsplit(".", 1)[1] for r in admitted.notes.rejected_spans] == ["endTimeUnixNano"]


def test_places_in_json_are_those_of_what_was_sent() -> None:
    old = {"startTimeUnixNano": "1"}
    scopes = [
        {"spans": [span(1, traceId="x"), span(2)]},
        {"spans": []},
        {"spans": [span(3, **old)]},
        {"scope": {"name": "s"}, "spans": [span(4), span(5, **old)]},
    ]
    body = json.dumps({"resourceSpans": [{}, {"scopeSpans": scopes}]}).encode()
    admitted = admit(body, retention=Retention(days=1))
    assert [
        r.where.removeprefix("body: resourceSpans[1].").rsplit(".", 1)[0] for r in admitted.notes.rejected_spans
    ] == [
        "scopeSpans[0].spans[0]",
        "scopeSpans[2].spans[0]",
        "scopeSpans[3].spans[1]",
    ]
    assert [int(s.span_id) for s in decode_traces_proto(admitted.request.body).spans] == [2, 4]


def stamped(claim: dict[str, str], sender: Sender, signal: Signal = "traces") -> dict[str, Any]:
    items = [{"key": k, "value": {"stringValue": v}} for k, v in claim.items()]
    record = span(1, attributes=items) if signal == "traces" else {"attributes": items}
    name, scope, leaf = ("resourceSpans", "scopeSpans", "spans")
    if signal == "logs":
        name, scope, leaf = ("resourceLogs", "scopeLogs", "logRecords")
    body = {name: [{"resource": {"attributes": items}, scope: [{leaf: [record]}]}]}
    kept = admit(json.dumps(body).encode(), signal, sender).request.body
    batch = decode_traces_proto(kept) if signal == "traces" else decode_logs_proto(kept)
    (found,) = (*batch.spans, *batch.logs)
    return {"resource": found.resource, "record": found.attributes}


@pytest.mark.parametrize("signal", ["traces", "logs"])
def test_a_tenant_is_never_taken_from_a_claim(signal: Signal) -> None:
    claim = {"toolselect.tenant": "other", "service.name": "shop"}
    plain = {"service.name": "shop"}
    assert stamped(claim, ANYBODY, signal) == {"resource": plain, "record": plain}
    assert stamped(claim, TENANT, signal) == {"resource": {**plain, "toolselect.tenant": "acme"}, "record": plain}
    assert stamped(claim, Sender("b", {"team": "x"}), signal)["resource"] == {**plain, "team": "x"}
    assert stamped({"team": "y"}, Sender("b", {"team": "x"}), signal) == {
        "resource": {"team": "x"},
        "record": {"team": "y"},
    }


def test_a_request_that_has_its_stamp_already_is_kept_as_it_is() -> None:
    message = ExportTraceServiceRequest.FromString(proto_request(1))
    put_value(message.resource_spans[0].resource.attributes.add(key="toolselect.tenant").value, "acme")
    body = message.SerializeToString()
    assert admit(body, sender=TENANT).request.body == body
    put_value(message.resource_spans[0].resource.attributes.add(key="toolselect.tenant").value, "other")
    kept = decode_traces_proto(admit(message.SerializeToString(), sender=TENANT).request.body)
    assert kept.spans[0].resource == {"toolselect.tenant": "acme"}


def test_every_resource_is_stamped_also_one_that_is_not_there() -> None:
    body = proto_request(1) + proto_request(2)  # messages of one kind, concatenated, are merged
    kept = decode_traces_proto(admit(body, sender=TENANT).request.body)
    assert [s.resource for s in kept.spans] == [{"toolselect.tenant": "acme"}] * 2
    assert {s.trace_id for s in kept.spans} == {TRACE}
