"""What a receiver answers: export responses with partial success, and google.rpc.Status bodies.

Sources: OTLP specification, "Full Success", "Partial Success", "Failures" (for HTTP a Status message in the
encoding of the request) and "OTLP/gRPC Throttling" (RetryInfo).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, TypeAlias

from otel_toolselect.errors import Problem
from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp.jsondecode import Signal

Encoding: TypeAlias = Literal["protobuf", "json"]

_SHOWN = 5
_LONGEST_PROBLEM = 500
_LONGEST = 2000
_REJECTED: dict[Signal, tuple[str, str]] = {
    "traces": ("rejectedSpans", "rejected_spans"),
    "logs": ("rejectedLogRecords", "rejected_log_records"),
}
_RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo"
_PROBLEM_BYTES = 2_000
"""Of mistakes in one answer: over gRPC it travels in a trailer, of which clients take 8 KiB."""


def rejected(batch: Batch) -> int:
    return len(batch.rejected_spans) + len(batch.rejected_logs)


def message(batch: Batch) -> str:
    """What the sender should know: the first rejections with their fields, then warnings; "" when all is
    well.
    """
    bad = [f"{r.where}: {r.reason}" for r in (*batch.rejected_spans, *batch.rejected_logs)]
    parts = bad[:_SHOWN]
    if len(bad) > _SHOWN:
        parts.append(f"and {len(bad) - _SHOWN} more")
    parts += [f"warning: {w}" for w in batch.warnings[:_SHOWN]]
    return "; ".join(parts)[:_LONGEST]


def encode_success(signal: Signal, encoding: Encoding, batch: Batch) -> bytes:
    """The Export...ServiceResponse for what was kept of a request.

    `partial_success` stays unset when all is well; with zero rejected and a message it is a warning, as the
    specification allows.
    """
    count, text = rejected(batch), message(batch)
    if encoding == "json":
        partial: dict[str, str] = {}
        if count:
            partial[_REJECTED[signal][0]] = str(count)  # int64: a string in proto3 JSON
        if text:
            partial["errorMessage"] = text
        return _json({"partialSuccess": partial} if partial else {})
    if not text:
        return b""
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    response = ExportTraceServiceResponse() if signal == "traces" else ExportLogsServiceResponse()
    setattr(response.partial_success, _REJECTED[signal][1], count)
    response.partial_success.error_message = text
    return bytes(response.SerializeToString())


def encode_status(
    code: int,
    text: str,
    encoding: Encoding,
    *,
    retry_after_s: float | None = None,
    problems: Sequence[Problem] = (),
) -> bytes:
    """A google.rpc.Status: a gRPC code number, a message, a RetryInfo when the sender may try again, and (protobuf
    only) a BadRequest with the first problems, each a violation of the field "file:line:column".
    """
    if encoding == "json":
        body: dict[str, object] = {"code": code, "message": text}
        if retry_after_s is not None:
            body["details"] = [{"@type": _RETRY_INFO, "retryDelay": f"{retry_after_s:g}s"}]
        return _json(body)
    from google.protobuf.any_pb2 import Any
    from google.protobuf.duration_pb2 import Duration
    from google.rpc.error_details_pb2 import RetryInfo
    from google.rpc.status_pb2 import Status

    status = Status(code=code, message=text)
    if retry_after_s is not None:
        delay = Duration()
        delay.FromNanoseconds(round(retry_after_s * 1e9))
        packed = Any()
        packed.Pack(RetryInfo(retry_delay=delay))
        status.details.append(packed)
    if problems:
        from google.rpc.error_details_pb2 import BadRequest

        bad, room = BadRequest(), _PROBLEM_BYTES
        for problem in problems:
            said = problem.message + (f" ({problem.suggestion})" if problem.suggestion else "")
            violation = bad.field_violations.add(
                field=f"{problem.path}:{problem.line}:{problem.column}", description=said[:_LONGEST_PROBLEM]
            )
            room -= violation.ByteSize()
            if room < 0:
                del bad.field_violations[-1]
                break
        packed = Any()
        packed.Pack(bad)
        status.details.append(packed)
    return bytes(status.SerializeToString())


def _json(body: object) -> bytes:
    return json.dumps(body, separators=(",", ":")).encode()
