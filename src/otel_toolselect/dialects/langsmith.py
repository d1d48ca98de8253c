"""LangSmith's OpenTelemetry exporter: `langsmith.span.kind`, with `gen_ai.prompt` / `gen_ai.completion` on every span
kind.

The two keys mean input and output of whatever the span is; values are LangChain serializations.
`langsmith.trace.session_name` is the project, not a session.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._content import final_text
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects._tooluse import tool_use
from otel_toolselect.dialects.genai import base_fields
from otel_toolselect.model.observations import Kind, Message, Observation

_KINDS: dict[str, Kind] = {"llm": "model", "tool": "tool"}
_HIDE = "unset LANGSMITH_HIDE_INPUTS / LANGSMITH_HIDE_OUTPUTS"


def _generated(value: Any) -> tuple[Message, ...] | None:
    """The message in `{"generations": [[{"message": ...}]]}`, else any messages."""
    decoded = coerce.structure(value)
    generations = decoded.get("generations") if isinstance(decoded, dict) else None
    while isinstance(generations, list) and generations and isinstance(generations[0], list):
        generations = generations[0]
    if isinstance(generations, list):
        return messages([g.get("message", g) for g in generations if isinstance(g, dict)], default_role="assistant")
    return messages(decoded, default_role="assistant") if decoded else None


def _listed(value: Any) -> tuple[Message, ...] | None:
    decoded = coerce.structure(value)
    listed = decoded.get("messages") if isinstance(decoded, dict) else None
    return messages(listed) if isinstance(listed, list) else None


@dataclass(frozen=True)
class LangSmith:
    name: str = "langsmith"
    priority: int = 50
    hints: dict[str, str] = field(
        default_factory=lambda: {"arguments": _HIDE, "results": _HIDE, "request": _HIDE, "catalog": _HIDE}
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return "langsmith.span.kind" in keys or scope == "langsmith"

    def read(self, source: Source) -> Observation:
        kind = _KINDS.get(str(source.get("langsmith.span.kind") or ""), "other")
        fields = base_fields(source)
        fields["agent"] = coerce.string(source.get("langsmith.metadata.lc_agent_name"))
        fields["conversation_id"] = coerce.identifier(
            source.first(
                "langsmith.metadata.session_id",
                "langsmith.metadata.thread_id",
                "langsmith.metadata.conversation_id",
            )
        )
        prompt, completion = source.get("gen_ai.prompt"), source.get("gen_ai.completion")
        if kind == "tool":
            use = tool_use(
                source,
                name=coerce.string(source.get("gen_ai.tool.name")) or source.span.name,
                args=prompt,
                result=None if completion == "{}" else completion,
                call_id=source.get("gen_ai.tool.call.id"),
            )
            return Observation(source.span, self.name, kind, tool=use, **fields)
        said = _generated(completion) if kind == "model" else _listed(completion)
        return Observation(
            source.span,
            self.name,
            kind,
            input=_listed(prompt),
            output=said,
            tools=coerce.tools(source.get("gen_ai.tool.definitions")),
            final_text=final_text(said) if kind != "model" else None,
            **fields,
        )


PLUGIN = LangSmith()
