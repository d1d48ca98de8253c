"""smolagents, as OpenInference records it.

Its final answer is a call of the pseudo tool `final_answer`: an answer, no decision for a tool. The task stands clean
on the agent span only; the model sees it behind a heading.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects import openinference
from otel_toolselect.dialects._source import Source
from otel_toolselect.model.observations import CallPart, Message, Observation, Part, TextPart

FINAL = "final_answer"


def _answered(part: Part) -> Part:
    if not isinstance(part, CallPart) or part.name != FINAL:
        return part
    answer = part.args.get("answer") if isinstance(part.args, dict) else None
    return TextPart(coerce.text_of(answer) or part.raw or "")


def _message(item: Message) -> Message:
    return replace(item, parts=tuple(_answered(p) for p in item.parts))


@dataclass(frozen=True)
class Smolagents:
    name: str = "smolagents"
    priority: int = 60
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "ids": "smolagents records no call id on tool spans; calls are tied by name and arguments"
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return scope.startswith("openinference.instrumentation.smolagents")

    def read(self, source: Source) -> Observation:
        read = openinference.read_span(source, self.name)
        if read.tool is not None and read.tool.name == FINAL:
            return replace(read, kind="other", tool=None)
        if read.kind == "agent":
            value = coerce.structure(source.get("input.value"))
            task = value.get("task") if isinstance(value, dict) else None
            return replace(read, request=coerce.string(task), final_text=coerce.string(source.get("output.value")))
        tools = tuple(t for t in read.tools or () if t.name != FINAL) or None
        output = tuple(_message(m) for m in read.output) if read.output is not None else None
        return replace(read, output=output, tools=tools)


PLUGIN = Smolagents()
