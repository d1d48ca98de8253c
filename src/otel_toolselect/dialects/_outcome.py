"""Did a tool's execution succeed? Conflicting signs are settled in one documented order (R36).

1. A result envelope or a status attribute of the framework that says *error* wins over everything.
2. A span status ERROR, an `error.type` or an exception event means error.
3. An ended span without any of these succeeded; a span without an end leaves it open (None).

An envelope that says *success* does not hide an error of the span: both cannot be true, and the span saw the raise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._source import Source
from otel_toolselect.model.spans import STATUS_ERROR

_STATUS_KEYS = frozenset({"gen_ai.tool.status", "gen_ai.task.status", "gen_ai.tool.call.status", "tool.status"})
_BAD = frozenset({"error", "failure", "failed"})


class Outcome(NamedTuple):
    ok: bool | None
    error_type: str | None
    error_text: str | None


def outcome(source: Source, envelope: bool | None) -> Outcome:
    """Outcome of a tool span; `envelope` is what its result says of itself."""
    attributes = source.span.attributes
    exception = _exception(source) if source.signals else {}
    error_type = coerce.string(attributes.get("error.type")) or exception.get("exception.type")
    said = not _STATUS_KEYS.isdisjoint(attributes) and any(
        str(attributes.get(k) or "").lower() in _BAD for k in _STATUS_KEYS
    )
    if envelope is True or said or source.span.status_code == STATUS_ERROR or error_type or exception:
        text = exception.get("exception.message") or source.span.status_message or None
        return Outcome(False, error_type or ("tool_error" if envelope or said else None), text)
    return _ENDED if source.span.end_ns else _OPEN


_ENDED, _OPEN = Outcome(True, None, None), Outcome(None, None, None)


def _exception(source: Source) -> dict[str, Any]:
    for signal in source.named("exception"):
        found = {k: v for k, v in signal.attributes.items() if isinstance(v, str)}
        return found or {"exception.type": "exception"}
    return {}
