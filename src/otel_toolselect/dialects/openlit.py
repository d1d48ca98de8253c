"""OpenLIT: the GenAI conventions on model spans, and traced functions (`@openlit.trace`) that may be tools.

A model span carries `gen_ai.tool.*` of the calls that it *requested*, joined by commas: no execution. A traced
function's span has its arguments as a Python literal and no sign of being a tool, a failed one has no attributes at
all.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._outcome import outcome
from otel_toolselect.dialects._parsing import parse_literal
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects.genai import CAPTURE, base_fields, kind_of, read_messages, read_tool
from otel_toolselect.model.observations import Observation, ToolUse


def _function(source: Source, dialect: str) -> Observation:
    kwargs, raw = coerce.arguments(source.get("function.kwargs"))
    positional = parse_literal(str(source.get("function.args") or "()"))
    if positional and isinstance(kwargs, dict):
        kwargs, raw = coerce.arguments({"args": positional, "kwargs": kwargs})
    value, said = coerce.result(source.get("gen_ai.output.messages"))
    ended = outcome(source, said)
    use = ToolUse(
        name=source.span.name,
        args=kwargs,
        raw_args=raw,
        result=value,
        ok=ended.ok,
        error_type=ended.error_type,
        error_text=ended.error_text,
        tentative=True,
    )
    return Observation(source.span, dialect, "tool", tool=use, **base_fields(source))


@dataclass(frozen=True)
class OpenLIT:
    name: str = "openlit"
    priority: int = 50
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": "decorate each tool function with @openlit.trace; " + CAPTURE,
            "results": "decorate each tool function with @openlit.trace",
            "catalog": "OpenLIT records no tool definitions: pin the case's tools in the suite",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return scope == "openlit" or scope.startswith("openlit.")

    def read(self, source: Source) -> Observation:
        kind = kind_of(source.span)
        if source.span.scope_name == "openlit" and "gen_ai.operation.name" not in source.span.attributes:
            return _function(source, self.name)
        return read_tool(source, self.name) if kind == "tool" else read_messages(source, kind, self.name)


PLUGIN = OpenLIT()
