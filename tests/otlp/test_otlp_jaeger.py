"""Jaeger JSON: span fields that became tags become fields again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from otlp_samples import SPAN, TRACE, encode

from otel_toolselect.errors import DecodeError
from otel_toolselect.model.spans import Batch, Span, SpanEvent, SpanLink
from otel_toolselect.otlp import files


def tag(key: str, value: Any, kind: str = "string") -> dict[str, Any]:
    return {"key": key, "type": kind, "value": value}


def jaeger_span(**members: Any) -> dict[str, Any]:
    return {
        "traceID": TRACE,
        "spanID": SPAN,
        "operationName": "chat",
        "references": [],
        "startTime": 1771237534577907,
        "duration": 5510,
        "tags": [],
        "logs": [],
        "processID": "p1",
        "warnings": ["clock skew"],
    } | members


def trace(*spans: Any) -> dict[str, Any]:
    return {
        "traceID": TRACE,
        "spans": list(spans),
        "processes": {"p1": {"serviceName": "helm", "tags": [tag("k8s.pod", "x")]}},
    }


def read(tmp_path: Path, document: Any) -> Batch:
    path = tmp_path / "x.json"
    path.write_bytes(encode(document))
    (batch,) = files.read([str(path)])
    return batch


def one(tmp_path: Path, **members: Any) -> Span:
    (found,) = read(tmp_path, {"data": [trace(jaeger_span(**members))]}).spans
    return found


def test_a_whole_span(tmp_path: Path) -> None:
    found = one(
        tmp_path,
        references=[{"refType": "CHILD_OF", "traceID": TRACE, "spanID": "aa"}],
        tags=[
            tag("span.kind", "client"),
            tag("otel.scope.name", "httpx"),
            tag("otel.scope.version", "0.58"),
            tag("otel.status_code", "ERROR"),
            tag("otel.status_description", "boom"),
            tag("error", True, "bool"),
            tag("w3c.tracestate", "a=b"),
            tag("n", 9007199254740993, "int64"),
            tag("m", "9007199254740993", "int64"),
            tag("f", 0.25, "float64"),
            tag("b", False, "bool"),
            tag("raw", "AP8=", "binary"),
        ],
        logs=[{"timestamp": 1771237534577908, "fields": [tag("event", "exception"), tag("exception.type", "E")]}],
    )
    assert found == Span(
        trace_id=TRACE,
        span_id=SPAN,
        parent_span_id="00000000000000aa",
        trace_state="a=b",
        name="chat",
        kind=3,
        start_ns=1771237534577907000,
        end_ns=1771237534583417000,
        attributes={"n": 9007199254740993, "m": 9007199254740993, "f": 0.25, "b": False, "raw": b"\x00\xff"},
        events=(SpanEvent("exception", 1771237534577908000, {"exception.type": "E"}),),
        status_code=2,
        status_message="boom",
        resource={"service.name": "helm", "k8s.pod": "x"},
        scope_name="httpx",
        scope_version="0.58",
    )


def test_short_ids_get_their_zeros_back(tmp_path: Path) -> None:
    found = one(tmp_path, traceID="A1B2", spanID="1")
    assert (found.trace_id, found.span_id) == ("a1b2".rjust(32, "0"), "1".rjust(16, "0"))


def test_references_that_are_not_the_parent_are_links(tmp_path: Path) -> None:
    other = "f" * 32
    refs = [
        {"refType": "FOLLOWS_FROM", "traceID": TRACE, "spanID": "1"},
        {"refType": "CHILD_OF", "traceID": other, "spanID": "2"},
        {"refType": "CHILD_OF", "traceID": TRACE, "spanID": "3"},
    ]
    found = one(tmp_path, references=refs)
    assert found.parent_span_id == "3".rjust(16, "0")
    assert found.links == (SpanLink(TRACE, "1".rjust(16, "0")), SpanLink(other, "2".rjust(16, "0")))


def test_the_error_tag_alone_is_a_status(tmp_path: Path) -> None:
    assert one(tmp_path, tags=[tag("error", "true")]).status_code == 2
    assert one(tmp_path, tags=[tag("error", False, "bool")]).status_code == 0


def test_a_bad_span_is_rejected_by_field(tmp_path: Path) -> None:
    batch = read(tmp_path, {"data": [trace(jaeger_span(startTime="x"), jaeger_span())]})
    assert len(batch.spans) == 1
    assert batch.rejected_spans[0].where.endswith(":1: data[0].spans[0].startTime")


def test_a_bare_trace_and_a_damaged_one(tmp_path: Path) -> None:
    assert len(read(tmp_path, trace(jaeger_span())).spans) == 1
    with pytest.raises(DecodeError, match=r"data\[0\]\.processes"):
        read(tmp_path, {"data": [{"spans": [], "processes": 5}]})
