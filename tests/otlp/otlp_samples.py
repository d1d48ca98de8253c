"""Small OTLP documents for the tests of this folder: every test changes only what it is about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"


def span(**members: Any) -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": SPAN,
        "name": "execute_tool search_orders",
        "kind": 1,
        "startTimeUnixNano": "1793613600000000001",
        "endTimeUnixNano": "1793613600040000002",
    } | members


def traces(*spans: Any, resource: Any = None) -> dict[str, Any]:
    attributes = [{"key": "service.name", "value": {"stringValue": "shop"}}]
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": attributes} if resource is None else resource,
                "scopeSpans": [{"scope": {"name": "agent", "version": "1.2"}, "spans": list(spans)}],
            }
        ]
    }


def logs(*records: Any) -> dict[str, Any]:
    return {"resourceLogs": [{"scopeLogs": [{"scope": {"name": "agent"}, "logRecords": list(records)}]}]}


def attribute(value: Any, key: str = "a") -> list[dict[str, Any]]:
    return [{"key": key, "value": value}]


def encode(document: Any, **options: Any) -> bytes:
    return json.dumps(document, **options).encode()
