"""MLflow tracing: `mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`. Every string attribute is JSON-
encoded.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._parsing import parse_json
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects._tooluse import tool_use
from otel_toolselect.dialects.genai import base_fields
from otel_toolselect.model.observations import Kind, Observation

_KINDS: dict[str, Kind] = {"CHAT_MODEL": "model", "LLM": "model", "TOOL": "tool", "AGENT": "agent"}
_TRACE = "decorate tools with @mlflow.trace(span_type=SpanType.TOOL)"


def _plain(value: Any) -> Any:
    """An attribute without the quotes that MLflow puts around every text."""
    decoded = parse_json(value) if isinstance(value, str) else None
    return decoded if isinstance(decoded, str) else value


def _asked(value: Any) -> str | None:
    """The one text among a function's inputs."""
    decoded = coerce.structure(value)
    texts = [v for v in decoded.values() if isinstance(v, str) and v] if isinstance(decoded, dict) else []
    return texts[0] if len(texts) == 1 else None


@dataclass(frozen=True)
class MLflow:
    name: str = "mlflow"
    priority: int = 50
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": _TRACE,
            "results": _TRACE,
            "catalog": "turn on the autolog of your model library (mlflow.openai.autolog())",
            "ids": "MLflow records no call id on tool spans; calls are tied by name and arguments",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return "mlflow.spanType" in keys or "mlflow.traceRequestId" in keys

    def read(self, source: Source) -> Observation:
        kind = _KINDS.get(str(_plain(source.get("mlflow.spanType"))), "other")
        given, said = source.get("mlflow.spanInputs"), _plain(source.get("mlflow.spanOutputs"))
        fields = base_fields(source)
        fields["model"] = fields["model"] or coerce.string(_plain(source.first("mlflow.llm.model", "model")))
        fields["conversation_id"] = coerce.identifier(_plain(source.first("mlflow.trace.session", "session.id")))
        if kind == "tool":
            name = coerce.string(_plain(source.get("mlflow.spanFunctionName"))) or source.span.name
            use = tool_use(source, name=name, args=given, result=said)
            return Observation(source.span, self.name, kind, tool=use, **fields)
        if kind == "model":
            usage = coerce.structure(source.get("mlflow.chat.tokenUsage"))
            if isinstance(usage, dict):
                fields["input_tokens"] = coerce.integer(usage.get("input_tokens"))
                fields["output_tokens"] = coerce.integer(usage.get("output_tokens"))
            decoded = coerce.structure(given)
            inputs = decoded.get("tools") if isinstance(decoded, dict) else None
            return Observation(
                source.span,
                self.name,
                kind,
                input=messages(given),
                output=messages(said, default_role="assistant"),
                tools=coerce.tools(source.first("mlflow.chat.tools", "tools") or inputs),
                **fields,
            )
        if kind == "agent":
            fields["agent"] = source.span.name
        text = coerce.string(said) if coerce.structure(said) is None else None
        return Observation(source.span, self.name, kind, request=_asked(given), final_text=text, **fields)


PLUGIN = MLflow()
