"""Spans and log records as OTLP/JSON text: what `encode` makes, in the spelling of the OTLP specification.

OTLP/JSON is proto3 JSON but for the ids, which are hex there (opentelemetry-proto, "JSON Protobuf Encoding").
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

from google.protobuf.json_format import MessageToDict

from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.otlp.encode import encode_logs, encode_traces

_IDS = frozenset({"traceId", "spanId", "parentSpanId"})


def traces_json(spans: Iterable[Span]) -> str:
    """One export request on one line, without its end."""
    return _text(encode_traces(spans))


def logs_json(logs: Iterable[LogRecord]) -> str:
    return _text(encode_logs(logs))


def _text(request: Any) -> str:
    return json.dumps(_hex_ids(MessageToDict(request, use_integers_for_enums=True)), ensure_ascii=False)


def _hex_ids(value: Any) -> Any:
    if isinstance(value, list):
        return [_hex_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {k: base64.b64decode(v).hex() if k in _IDS and isinstance(v, str) else _hex_ids(v) for k, v in value.items()}
