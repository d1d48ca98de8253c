"""Answers: full success is empty, partial success counts and names, a Status has code and delay."""

from __future__ import annotations

import json

import pytest
from google.protobuf.json_format import MessageToDict
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from otel_toolselect.model.spans import Batch, Rejection
from otel_toolselect.otlp import replies

BAD = Rejection("spans[0].traceId", "must be 32 hex digits")
CASES = {
    "all kept": ("traces", Batch(), {}),
    "one span": (
        "traces",
        Batch(rejected_spans=(BAD,)),
        {"rejectedSpans": "1", "errorMessage": "spans[0].traceId: must be 32 hex digits"},
    ),
    "one log": (
        "logs",
        Batch(rejected_logs=(BAD,)),
        {"rejectedLogRecords": "1", "errorMessage": "spans[0].traceId: must be 32 hex digits"},
    ),
    "warning": ("traces", Batch(warnings=("ids were base64",)), {"errorMessage": "warning: ids were base64"}),
}


@pytest.mark.parametrize("case", CASES)
def test_success_in_both_encodings(case: str) -> None:
    signal, batch, partial = CASES[case]
    expected = {"partialSuccess": partial} if partial else {}
    assert json.loads(replies.encode_success(signal, "json", batch)) == expected
    response = ExportTraceServiceResponse() if signal == "traces" else ExportLogsServiceResponse()
    response.ParseFromString(replies.encode_success(signal, "protobuf", batch))
    assert MessageToDict(response) == expected


def test_many_rejections_make_a_short_message() -> None:
    text = replies.message(Batch(rejected_spans=(BAD,) * 1000))
    assert text.endswith("and 995 more")
    assert len(text) < 500


def test_status_with_and_without_retry() -> None:
    status = Status.FromString(replies.encode_status(8, "full", "protobuf", retry_after_s=1.5))
    info = RetryInfo()
    assert status.details[0].Unpack(info)
    assert (status.code, status.message, info.retry_delay.ToMilliseconds()) == (8, "full", 1500)
    assert json.loads(replies.encode_status(8, "full", "json", retry_after_s=1.5))["details"] == [
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"}
    ]
    assert not Status.FromString(replies.encode_status(3, "bad", "protobuf")).details
    assert json.loads(replies.encode_status(3, "bad", "json")) == {"code": 3, "message": "bad"}
