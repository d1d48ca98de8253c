"""Redaction of whole requests: every place of a message, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from otlp_samples import SPAN, TRACE
from otlp_strategies import LOGS, SPANS

from otel_toolselect.config import Redact, RedactRule
from otel_toolselect.model.spans import Batch, LogRecord, Span, SpanEvent, SpanLink
from otel_toolselect.otlp import decode_traces_proto
from otel_toolselect.otlp.encode import encode_logs, encode_traces, put_value
from otel_toolselect.otlp.redact import redactor
from otel_toolselect.otlp.redact.walk import Redactor
from otel_toolselect.otlp.skim import skim

SECRET = "bob@example.com"


def made(*rules: RedactRule, **settings: Any) -> Redactor:
    found = redactor(Redact(rule=rules, **settings))
    assert found is not None
    return found


def one(redact: Redactor, attributes: dict[str, Any], **fields: Any) -> Span:
    return redact.batch(Batch((Span(TRACE, SPAN, attributes=attributes, **fields),))).spans[0]


def full_request(cls: Any) -> Any:
    """A request with one of everything: by reflection, so that a new field of OTLP is a failing test."""
    request = cls()
    _fill(request, 0)
    return request


def _fill(message: Any, depth: int) -> None:
    for field in message.DESCRIPTOR.fields:
        if field.message_type is not None:
            if depth < 9 and field.name not in ("array_value", "kvlist_value"):
                held = getattr(message, field.name)
                _fill(held.add() if field.is_repeated else held, depth + 1)
        elif field.type == field.TYPE_STRING and field.name != "string_value":
            if field.is_repeated:
                getattr(message, field.name).append(f"see {SECRET}")
            else:
                setattr(message, field.name, f"see {SECRET}")
        elif field.name == "string_value":
            message.string_value = json.dumps({SECRET: [SECRET]})
            return


@pytest.mark.parametrize(("cls", "signal"), [(ExportTraceServiceRequest, "traces"), (ExportLogsServiceRequest, "logs")])
def test_every_text_of_a_message_is_redacted(cls: Any, signal: Any) -> None:
    request = full_request(cls)
    before = request.SerializeToString()
    assert before.count(SECRET.encode()) > 15
    changed = made(patterns=("email",)).message(request, signal, skim(before, signal))
    after = request.SerializeToString()
    assert SECRET.encode() not in after
    assert changed >= 3
    again = made(patterns=("email",)).message(request, signal, skim(after, signal))
    assert (again, request.SerializeToString()) == (0, after)


def test_bytes_that_no_field_claims_are_left_out() -> None:
    body = encode_traces([Span(TRACE, SPAN)]).SerializeToString() + b"\xfa\x3e" + bytes([len(SECRET)]) + SECRET.encode()
    request = ExportTraceServiceRequest.FromString(body)
    made(patterns=("email",)).message(request, "traces", skim(body, "traces"))
    assert SECRET.encode() not in request.SerializeToString()


def test_a_field_that_is_there_twice_keeps_nothing_of_the_first() -> None:
    span = b"\x2a" + bytes([len(SECRET)]) + SECRET.encode() + b"\x2a\x02ok"
    body = span
    for tag in (b"\x12", b"\x12", b"\x0a"):
        body = tag + bytes([len(body)]) + body
    request = ExportTraceServiceRequest.FromString(body)
    assert request.resource_spans[0].scope_spans[0].spans[0].name == "ok"
    made(patterns=("email",)).message(request, "traces", skim(body, "traces"))
    assert SECRET.encode() not in request.SerializeToString()


def test_numbers_and_bytes() -> None:
    values = {
        "int": 4111111111111111,
        "bytes": b"to bob@example.com",
        "latin": b"\xe9 bob@example.com",
        "n": 7,
        "f": 0.5,
    }
    kept = one(made(patterns=("card", "email")), values).attributes
    assert kept == {"int": "***", "bytes": b"to ***", "latin": b"\xe9 ***", "n": 7, "f": 0.5}


def test_attributes_are_denied_and_allowed_by_key() -> None:
    given = {
        "user.name": "Bob",
        "USER.id": 1,
        "gen_ai.x": {"user.name": "x", "y": 1},
        "toolselect.suite": "s",
        "z": "1",
    }
    assert one(made(deny=("user.*",)), given).attributes == {"gen_ai.x": {"y": 1}, "toolselect.suite": "s", "z": "1"}
    kept = one(made(allow=("gen_ai.*",), deny=("/name/",)), given, resource={"host.name": "h", "gen_ai.r": 1})
    assert kept.attributes == {"gen_ai.x": {"y": 1}, "toolselect.suite": "s"}
    assert kept.resource == {"gen_ai.r": 1}


def test_whole_values_are_masked_and_hashed_by_key() -> None:
    rules = (RedactRule(keys=("user.id",), action="hash"), RedactRule(keys=("note",), action="mask"))
    redact = made(*rules, key="k" * 20)
    kept = one(redact, {"user.id": "Bob", "note": [1], "x": "Bob", "json": '{"user.id": "Bob"}'})
    again = redact.batch(Batch((kept,))).spans[0]
    assert again == kept
    digest = kept.attributes["user.id"]
    assert digest == made(*rules, key="k" * 20).fingerprint(b"Bob")
    assert kept.attributes == {"user.id": digest, "note": "***", "x": "Bob", "json": json.dumps({"user.id": digest})}


@given(SPANS, LOGS)
def test_what_does_not_match_is_unchanged(spans: tuple[Span, ...], logs: tuple[LogRecord, ...]) -> None:
    redact = made(RedactRule(pattern="no text that anything would make up"), deny=("neither this key",))
    for request, signal in ((encode_traces(spans), "traces"), (encode_logs(logs), "logs")):
        body = request.SerializeToString(deterministic=True)
        assert redact.message(request, signal, skim(body, signal)) == 0  # type: ignore[arg-type]
        assert request.SerializeToString(deterministic=True) == body


PLANTS = st.sampled_from([SECRET, f"x {SECRET}", json.dumps([{"a": SECRET}]), {"k": [SECRET]}, SECRET.encode()])


@given(SPANS, st.data())
def test_no_planted_secret_survives(spans: tuple[Span, ...], data: st.DataObject) -> None:
    planted = [
        Span(
            s.trace_id,
            s.span_id,
            name=s.name,
            attributes={**s.attributes, "p": data.draw(PLANTS)},
            events=(*s.events, SpanEvent("e", 1, {"p": data.draw(PLANTS)})),
            links=(*s.links, SpanLink(TRACE, SPAN, {"p": data.draw(PLANTS)})),
            resource=s.resource,
        )
        for s in spans
    ]
    request = encode_traces(planted)
    made(patterns=("email",)).message(request, "traces", skim(request.SerializeToString(), "traces"))
    body = request.SerializeToString()
    assert b"example.com" not in body
    kept = decode_traces_proto(body).spans
    assert [(s.trace_id, s.span_id, len(s.events), len(s.links)) for s in kept] == [
        (s.trace_id, s.span_id, len(s.events), len(s.links)) for s in planted
    ]


def test_fingerprints_tell_bodies_apart_and_nothing_else() -> None:
    redact = made(patterns=("email",))
    assert redact.fingerprint(b"a") == redact.fingerprint(b"a") != redact.fingerprint(b"b")
    assert redact.fingerprint(b"a") != made(patterns=("email",)).fingerprint(b"a")
    keyed = {made(patterns=("email",), key="k").fingerprint(b"a") for _ in range(2)}
    assert len(keyed) == 1


def test_content_of_logs_and_errors_is_dropped() -> None:
    redact = made(content="drop")
    span = one(
        redact,
        {"app.user": "bob", "app.doc": '[{"a": "bob"}]'},
        status_message="no bob",
        events=(SpanEvent("exception", 1, {"exception.type": "E", "exception.message": "bob"}),),
    )
    assert (span.status_message, span.attributes) == ("", {"app.user": "bob", "app.doc": "[REDACTED]"})
    assert span.events[0].attributes == {"exception.type": "E", "exception.message": ""}
    (plain, told) = redact.batch(
        Batch(logs=(LogRecord(body="bob"), LogRecord(body={"role": "user", "content": "bob"})))
    ).logs
    assert (plain.body, told.body) == ("", {"role": "user", "content": ""})


def test_content_is_dropped_wherever_attributes_are() -> None:
    said = {"gen_ai.input.messages": '[{"role": "user", "content": "bob"}]', "service.name": "shop"}
    request = encode_traces([Span(TRACE, SPAN, resource=said, links=(SpanLink(TRACE, SPAN, said),))])
    group = request.resource_spans[0]
    group.scope_spans[0].scope.attributes.add(key="input.value").value.string_value = "bob"
    changed = made(content="drop").message(request, "traces", skim(request.SerializeToString(), "traces"))
    assert changed == 3
    assert b"bob" not in request.SerializeToString()
    assert b"shop" in request.SerializeToString()


def test_values_set_again_do_not_pile_up() -> None:
    request = encode_traces([Span(TRACE, SPAN)])
    value = request.resource_spans[0].scope_spans[0].spans[0].attributes.add(key="gen_ai.input.messages").value
    put_value(value, [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    made(content="drop").message(request, "traces", skim(request.SerializeToString(), "traces"))
    assert decode_traces_proto(request.SerializeToString()).spans[0].attributes["gen_ai.input.messages"] == [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": ""},
    ]
