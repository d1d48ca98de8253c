"""Whether content is recorded, and how a value becomes an attribute."""

from __future__ import annotations

import json
import os
from typing import Any

SWITCH = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ON = frozenset({"true", "1", "span_only", "span_and_event"})


def captures(explicit: bool | None) -> bool:
    """The caller's word, else the conventions' switch; off by default."""
    return os.environ.get(SWITCH, "").strip().lower() in _ON if explicit is None else explicit


def as_json(value: Any) -> str:
    """A value as JSON text; what JSON has no form for is written as its text, never refused."""
    return json.dumps(value, ensure_ascii=False, default=str)
