"""CrewAI, as OpenInference and OpenLLMetry record it: crews, tasks and agents instead of model calls.

Neither records a model span for CrewAI's own providers, so request, catalog and answer come from the crew's attributes;
OpenLLMetry records no tool spans either, so there the calls are unknown.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects import openinference, traceloop
from otel_toolselect.dialects._source import Source
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.runs import ToolDefinition


def _items(source: Source, *keys: str) -> list[dict[str, Any]]:
    for key in keys:
        decoded = coerce.structure(source.get(key))
        if isinstance(decoded, list):
            return [i for i in decoded if isinstance(i, dict)]
    return []


def _request(source: Source) -> str | None:
    described = coerce.string(source.get("crewai.task.description"))
    tasks = _items(source, "crew_tasks", "crewai.crew.tasks")
    return described or (coerce.string(tasks[0].get("description")) if tasks else None)


def _tools(source: Source) -> tuple[ToolDefinition, ...] | None:
    found: dict[str, ToolDefinition] = {}
    listed: list[Any] = [source.get("crewai.agent.tools"), source.get("crewai.task.tools")]
    for agent in _items(source, "crew_agents", "crewai.crew.agents"):
        listed += [agent.get("tools"), agent.get("tools_names")]
    for value in listed:
        for tool in coerce.tools(value) or ():
            found.setdefault(tool.name, tool)
    return tuple(found.values()) or None


def _answer(source: Source) -> str | None:
    text = coerce.string(source.first("crewai.crew.result"))
    output = source.first("output.value", "traceloop.entity.output")
    decoded = coerce.structure(output)
    if text is None and isinstance(decoded, dict):
        text = coerce.string(decoded.get("raw"))
    if text is None and decoded is None and source.get("traceloop.span.kind") == "task":
        text = coerce.string(output)
    return text


@dataclass(frozen=True)
class CrewAI:
    name: str = "crewai"
    priority: int = 60
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "calls": "use openinference-instrumentation-crewai: OpenLLMetry records no tool spans for CrewAI",
            "ids": "CrewAI records no call ids",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return scope.startswith(("openinference.instrumentation.crewai", "opentelemetry.instrumentation.crewai"))

    def read(self, source: Source) -> Observation:
        if source.span.scope_name.startswith("openinference"):
            read = openinference.read_span(source, self.name)
            kind = "agent" if source.span.name.endswith(".kickoff") else read.kind
        else:
            read = traceloop.read_span(source, self.name)
            kind = "agent" if source.get("gen_ai.operation.name") == "invoke_agent" else read.kind
        if kind == "tool":
            return read
        return replace(
            read,
            kind=kind,
            input=None,
            output=None,
            request=_request(source),
            tools=_tools(source),
            final_text=_answer(source),
        )


PLUGIN = CrewAI()
