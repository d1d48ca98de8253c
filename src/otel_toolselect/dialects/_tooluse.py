"""The tool facts of a span whose dialect names its keys: one way to build them for all."""

from __future__ import annotations

from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._outcome import outcome
from otel_toolselect.dialects._source import Source
from otel_toolselect.model.observations import ToolUse


def tool_use(
    source: Source, *, name: str, args: Any, result: Any, call_id: Any = None, failed: bool = False
) -> ToolUse:
    """A tool's use from raw attribute values. `failed`: the dialect's own sign of an error."""
    known, raw = coerce.arguments(args)
    value, said = coerce.result(result)
    ended = outcome(source, True if failed else said)
    return ToolUse(
        name=name,
        args=known,
        raw_args=raw,
        call_id=coerce.string(call_id),
        result=value,
        ok=ended.ok,
        error_type=ended.error_type,
        error_text=ended.error_text,
    )
