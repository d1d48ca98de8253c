"""OTLP/JSON: what is accepted, what it becomes, and what is refused under which name."""

from __future__ import annotations

import json
import math

import pytest
from otlp_samples import DATA, SPAN, TRACE, attribute, encode, logs, span, traces

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.spans import Span
from otel_toolselect.otlp import decode_json


def one(document: object) -> Span:
    batch = decode_json(encode(document))
    assert batch.rejected_spans == ()
    (found,) = batch.spans
    return found


def nested(levels: int) -> dict[str, object]:
    value: dict[str, object] = {"stringValue": "deep"}
    for _ in range(levels):
        value = {"arrayValue": {"values": [value]}}
    return value


ACCEPTED = {
    "int64 as string": ({"startTimeUnixNano": "1793613600051456789"}, "start_ns", 1793613600051456789, None),
    "int64 as number": ({"startTimeUnixNano": 1793613600051456789}, "start_ns", 1793613600051456789, None),
    "ids in upper case": ({"traceId": TRACE.upper(), "spanId": SPAN.upper()}, "trace_id", TRACE, None),
    "base64 trace id": ({"traceId": "CvdlGRbNQ92ESOshHIAxnA=="}, "trace_id", TRACE, "base64"),
    "base64 parent": ({"parentSpanId": "t61rcWkgMzE="}, "parent_span_id", SPAN, "base64"),
    "parent of zeros is none": ({"parentSpanId": "0" * 16}, "parent_span_id", "", None),
    "kind left out": ({"kind": None}, "kind", 0, None),
    "kind by name": ({"kind": "SPAN_KIND_CLIENT"}, "kind", 3, "enum name"),
    "kind as digits": ({"kind": "3"}, "kind", 3, None),
    "kind from the future": ({"kind": 17}, "kind", 0, "no known enum value"),
    "status by name": ({"status": {"code": "STATUS_CODE_ERROR"}}, "status_code", 2, "enum name"),
    "status left out": ({}, "status_code", 0, None),
    "status null": ({"status": None}, "status_code", 0, None),
    "unknown member": ({"brandNew": {"a": 1}, "flags": 257}, "name", "execute_tool search_orders", None),
    "attributes null": ({"attributes": None}, "attributes", {}, None),
    "doubled key, last wins": (
        {"attributes": attribute({"intValue": "1"}) + attribute({"intValue": "2"})},
        "attributes",
        {"a": 2},
        None,
    ),
    "link to nowhere": ({"links": [{"traceId": "", "spanId": SPAN}]}, "links", (), "span link"),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted_forms(case: str) -> None:
    members, name, expected, warning = ACCEPTED[case]
    batch = decode_json(encode(traces(span(**members))))
    assert batch.rejected_spans == ()
    assert getattr(batch.spans[0], name) == expected
    assert (warning is None) == (batch.warnings == ())
    assert warning is None or warning in batch.warnings[0]


VALUES = {
    "string": ({"stringValue": "x"}, "x"),
    "empty string": ({"stringValue": ""}, ""),
    "false": ({"boolValue": False}, False),
    "int as string": ({"intValue": "9007199254740993"}, 9007199254740993),
    "int as number": ({"intValue": 9007199254740993}, 9007199254740993),
    "smallest int": ({"intValue": str(-(2**63))}, -(2**63)),
    "double": ({"doubleValue": 0.1}, 0.1),
    "double written as integer": ({"doubleValue": 3}, 3.0),
    "infinity": ({"doubleValue": "-Infinity"}, -math.inf),
    "bytes": ({"bytesValue": "AP8="}, b"\x00\xff"),
    "bytes, URL-safe and bare": ({"bytesValue": "AP_-"}, b"\x00\xff\xfe"),
    "array": ({"arrayValue": {"values": [{"intValue": 1}, {}, {"stringValue": "b"}]}}, [1, None, "b"]),
    "empty array": ({"arrayValue": {}}, []),
    "kvlist": (
        {"kvlistValue": {"values": [{"key": "k", "value": {"kvlistValue": {"values": []}}}]}},
        {"k": {}},
    ),
    "no value": ({}, None),
    "null": (None, None),
    "snake case": ({"int_value": "7"}, 7),
    "nested to the limit": (nested(30), json.loads("[" * 30 + '"deep"' + "]" * 30)),
}


@pytest.mark.parametrize("case", VALUES)
def test_attribute_values_keep_their_type(case: str) -> None:
    wire, expected = VALUES[case]
    found = one(traces(span(attributes=attribute(wire)))).attributes["a"]
    assert found == expected
    assert type(found) is type(expected)


def test_not_a_number() -> None:
    found = one(traces(span(attributes=attribute({"doubleValue": "NaN"})))).attributes["a"]
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize("text", ["9007199254740993.0", "9007199254740993e0", '"9007199254740993.0"'])
def test_integers_never_pass_through_a_double(text: str) -> None:
    body = encode(traces(span(attributes=attribute({"intValue": "@"})))).replace(b'"@"', text.encode())
    assert decode_json(body).spans[0].attributes == {"a": 9007199254740993}


REJECTED = {
    "trace id too short": ({"traceId": TRACE[:-1]}, "traceId"),
    "trace id not hex": ({"traceId": "z" * 32}, "traceId"),
    "trace id of zeros": ({"traceId": "0" * 32}, "traceId"),
    "trace id missing": ({"traceId": None}, "traceId"),
    "trace id a number": ({"traceId": 12}, "traceId"),
    "base64 of another length": ({"traceId": "AAECAwQFBgc="}, "traceId"),
    "span id empty": ({"spanId": ""}, "spanId"),
    "parent too long": ({"parentSpanId": SPAN + "00"}, "parentSpanId"),
    "name a number": ({"name": 5}, "name"),
    "time a word": ({"startTimeUnixNano": "yesterday"}, "startTimeUnixNano"),
    "time negative": ({"endTimeUnixNano": "-1"}, "endTimeUnixNano"),
    "time a fraction": ({"endTimeUnixNano": 1.5}, "endTimeUnixNano"),
    "time beyond 2262": ({"endTimeUnixNano": str(2**63)}, "endTimeUnixNano"),
    "kind unknown name": ({"kind": "SPAN_KIND_AGENT"}, "kind"),
    "kind true": ({"kind": True}, "kind"),
    "status a word": ({"status": "ok"}, "status"),
    "status code unknown name": ({"status": {"code": "BROKEN"}}, "status.code"),
    "attributes an object": ({"attributes": {"a": 1}}, "attributes"),
    "attribute a word": ({"attributes": ["a"]}, "attributes[0]"),
    "value not wrapped": ({"attributes": attribute("x")}, "attributes[0].value"),
    "int too big": ({"attributes": attribute({"intValue": str(2**63)})}, "attributes[0].value.intValue"),
    "int huge exponent": (
        {"attributes": attribute({"intValue": "1e999999"})},
        "attributes[0].value.intValue",
    ),
    "double a word": ({"attributes": attribute({"doubleValue": "big"})}, "attributes[0].value.doubleValue"),
    "bool a word": ({"attributes": attribute({"boolValue": "yes"})}, "attributes[0].value.boolValue"),
    "bytes not base64": ({"attributes": attribute({"bytesValue": "?"})}, "attributes[0].value.bytesValue"),
    "array of bad": (
        {"attributes": attribute({"arrayValue": {"values": [{}, {"intValue": []}]}})},
        "attributes[0].value.arrayValue.values[1].value.intValue",
    ),
    "nested too deeply": ({"attributes": attribute(nested(31))}, "arrayValue"),
    "event time": ({"events": [{"name": "e", "timeUnixNano": {}}]}, "events[0].timeUnixNano"),
    "event a word": ({"events": ["e"]}, "events[0]"),
    "links a word": ({"links": "l"}, "links"),
}


@pytest.mark.parametrize("case", REJECTED)
def test_a_bad_span_is_rejected_by_field_and_the_good_ones_stay(case: str) -> None:
    members, field = REJECTED[case]
    good = span(spanId="00000000000000aa")
    batch = decode_json(encode(traces(good, span(**members), good)))
    assert [s.span_id for s in batch.spans] == ["00000000000000aa"] * 2
    (rejection,) = batch.rejected_spans
    assert rejection.where.startswith("resourceSpans[0].scopeSpans[0].spans[1]")
    assert field in rejection.where
    assert rejection.reason


NOT_OTLP = {
    "empty": b"",
    "not JSON": b"hello",
    "cut short": encode(traces(span()))[:-3],
    "two documents": b"{} {}",
    "a list": b"[]",
    "another object": b'{"resourceMetrics": []}',
    "groups not a list": b'{"resourceSpans": {}}',
    "group a word": b'{"resourceSpans": ["x"]}',
    "scopes a word": b'{"resourceSpans": [{"scopeSpans": "x"}]}',
    "spans an object": b'{"resourceSpans": [{"scopeSpans": [{"spans": {}}]}]}',
    "scope name a list": b'{"resourceSpans": [{"scopeSpans": [{"scope": {"name": []}}]}]}',
    "not UTF-8": b'{"resourceSpans": "\xff"}',
    "too deep": b"[" * 100_000,
    "a number of 5000 digits": b'{"resourceSpans": ' + b"9" * 5000 + b"}",
    "an exponent without end": b'{"resourceSpans": 1e99999999999999999999}',
    "resource attribute": encode(traces(span(), resource={"attributes": attribute({"intValue": "x"})})),
}


@pytest.mark.parametrize("case", NOT_OTLP)
def test_a_body_that_is_not_otlp_is_one_error(case: str) -> None:
    with pytest.raises(DecodeError, match=r"^here: "):
        decode_json(NOT_OTLP[case], where="here")


def test_errors_name_line_and_column_of_a_body() -> None:
    with pytest.raises(DecodeError, match=r"line 2, column 3"):
        decode_json(b'{"resourceSpans": [],\n  oops}')


def test_empty_requests_are_fine() -> None:
    for body in (b"{}", b' {"resourceSpans": null} ', b'\xef\xbb\xbf{"resourceLogs": []}'):
        assert decode_json(body).spans == ()


def test_only_the_signal_that_was_asked_for() -> None:
    with pytest.raises(DecodeError, match="no resourceLogs"):
        decode_json(encode(traces(span())), signal="logs")


def test_names_of_the_proto_file() -> None:
    body = {
        "resource_spans": [
            {
                "scope_spans": [
                    {"spans": [{"trace_id": TRACE, "span_id": SPAN, "start_time_unix_nano": 7}]},
                ]
            }
        ]
    }
    assert one(body) == Span(trace_id=TRACE, span_id=SPAN, start_ns=7)


def test_lone_surrogates_become_characters_that_can_be_stored() -> None:
    value = one(traces(span(attributes=attribute({"stringValue": "a\ud800b😀"})))).attributes["a"]
    assert value == "a�b😀"


def test_a_log_record_in_full() -> None:
    record = {
        "traceId": TRACE.upper(),
        "spanId": SPAN,
        "timeUnixNano": "5",
        "observedTimeUnixNano": 6,
        "eventName": "gen_ai.choice",
        "severityNumber": 9,
        "severityText": "INFO",
        "body": {"kvlistValue": {"values": [{"key": "index", "value": {"intValue": "0"}}]}},
        "attributes": attribute({"stringValue": "v"}),
    }
    (log,) = decode_json(encode(logs(record))).logs
    assert (log.trace_id, log.span_id, log.time_ns, log.observed_ns) == (TRACE, SPAN, 5, 6)
    assert (log.event_name, log.severity_number, log.severity_text) == ("gen_ai.choice", 9, "INFO")
    assert (log.body, log.attributes, log.scope_name) == ({"index": 0}, {"a": "v"}, "agent")


def test_a_log_record_with_a_bad_id_belongs_to_no_trace_but_stays() -> None:
    batch = decode_json(encode(logs({"traceId": "xyz", "body": {"stringValue": "t"}})))
    assert batch.logs[0].trace_id == ""
    assert batch.rejected_logs == ()
    assert "traceId" in batch.warnings[0]


def test_a_log_record_with_a_bad_body_is_rejected_by_field() -> None:
    batch = decode_json(encode(logs({"body": {"intValue": "x"}}, {})), where="f:1")
    assert len(batch.logs) == 1
    assert batch.rejected_logs[0].where == "f:1: resourceLogs[0].scopeLogs[0].logRecords[0].body.intValue"


def test_messages_hold_no_content() -> None:
    secret = "hunter2"
    bad = span(traceId=secret, name=[secret])
    batch = decode_json(encode(traces(bad, span(kind=secret), span(attributes=attribute(secret)))))
    assert len(batch.rejected_spans) == 3
    assert secret not in repr(batch.rejected_spans)


def test_warnings_are_counted_not_repeated() -> None:
    batch = decode_json(encode(traces(*[span(kind="CLIENT")] * 50)))
    assert batch.warnings == ("kind was an enum name, read as its number (50 times)",)


def test_base64_ids_join_their_trace() -> None:  # seen in opentelemetry-swift 537
    batch = decode_json((DATA / "01-base64-ids/input.json").read_bytes())
    assert {s.trace_id for s in batch.spans} == {"a1a6c02538ec7d2a1294149aa9ccc473"}
    assert batch.spans[2].parent_span_id == batch.spans[0].span_id == "b9a85c7d5eb5691c"
    assert any("traceId was base64" in w for w in batch.warnings)


def test_int64_and_enum_forms() -> None:  # seen in langfuse 14068, opentelemetry-rust 3328, langwatch 5898
    spans = decode_json((DATA / "02-int64-and-enum-forms/input.json").read_bytes()).spans
    assert [s.name.split()[1] for s in spans] == ["get_order", "get_stock", "get_price", "place_order"]
    assert (spans[1].start_ns, spans[1].duration_ns) == (1793613600051456789, 7)
    assert spans[1].attributes["gen_ai.usage.output_tokens"] == 9007199254740993
    assert (spans[2].kind, spans[2].status_code) == (0, 0)
    assert (spans[3].kind, spans[3].status_code, spans[3].status_message) == (1, 2, "card declined")


def test_times_are_never_subtracted_into_nonsense() -> None:  # seen in signoz-otel-collector 814
    spans = decode_json((DATA / "06-negative-duration/input.json").read_bytes()).spans
    assert [s.duration_ns for s in spans] == [None, None, None, 97_200_030_000_000, 12_000_000]
    assert all(s.order_ns > 0 for s in spans)
