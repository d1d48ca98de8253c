"""Wire to spans: OTLP protobuf, OTLP/JSON, files. No network, no store, no dialect.

Importing this package, and reading JSON, loads no protobuf: the functions below import what they need when
called.
"""

from __future__ import annotations

from otel_toolselect.model.spans import Batch
from otel_toolselect.otlp.compress import CODINGS, decompress
from otel_toolselect.otlp.jsondecode import Signal, decode_json
from otel_toolselect.otlp.limits import DEFAULT, FILES, Limits

__all__ = [
    "CODINGS",
    "DEFAULT",
    "FILES",
    "Limits",
    "Signal",
    "decode_json",
    "decode_logs_proto",
    "decode_traces_proto",
    "decompress",
]


def decode_traces_proto(body: bytes, limits: Limits = DEFAULT, *, where: str = "") -> Batch:
    """One ExportTraceServiceRequest.

    Bad spans are rejected by name, the others kept; DecodeError if it is none.
    """
    from otel_toolselect.otlp import protodecode

    return protodecode.decode_traces(body, where=where, limits=limits)


def decode_logs_proto(body: bytes, limits: Limits = DEFAULT, *, where: str = "") -> Batch:
    """One ExportLogsServiceRequest.

    Bad records are rejected by name, the others kept; DecodeError if it is none.
    """
    from otel_toolselect.otlp import protodecode

    return protodecode.decode_logs(body, where=where, limits=limits)
