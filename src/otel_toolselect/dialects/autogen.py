"""AutoGen's native spans: agents and tools by the GenAI conventions, content only in the messages of its runtime.

One run is a dozen traces: each message on the bus is processed in its own. They belong together by the id of the team
in destination and agent names. Message spans copy what the model said; where a model span exists too, that one
counts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import re2

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._messages import call_part, result_part
from otel_toolselect.dialects._source import Source
from otel_toolselect.dialects.genai import kind_of, read_messages, read_tool
from otel_toolselect.model.observations import Message, Observation, TextPart

_TEAM = re2.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_RUNTIME = "autogen SingleThreadedAgentRuntime"
_OI = "add openinference-instrumentation-autogen-agentchat"


def _team(source: Source) -> str | None:
    for key in ("messaging.destination", "gen_ai.agent.id"):
        found = _TEAM.search(str(source.get(key) or ""))
        if found:
            return str(found.group(0))
    return None


def _message(item: dict[str, Any]) -> Message | None:
    content, kind = item.get("content"), item.get("type")
    if isinstance(content, str) and kind in ("TextMessage", "StopMessage", "HandoffMessage"):
        return Message("user" if item.get("source") == "user" else "assistant", (TextPart(content),))
    if isinstance(content, list) and kind == "ToolCallRequestEvent":
        calls = (call_part(c) for c in content)
        return Message("assistant", tuple(c for c in calls if c is not None))
    if isinstance(content, list) and kind == "ToolCallExecutionEvent":
        return Message("tool", tuple(result_part(c) for c in content if isinstance(c, dict)))
    return None


def _bus(source: Source, dialect: str) -> Observation:
    """A message on the bus: the task, a request for calls, their results, or an answer."""
    team = _team(source)
    body = coerce.structure(source.get("message"))
    if not isinstance(body, dict) or not source.span.name.startswith("autogen process"):
        return Observation(source.span, dialect, "other", conversation_id=team, relayed=True)
    listed = body.get("messages")
    if isinstance(listed, list):
        read = tuple(m for m in (_message(i) for i in listed if isinstance(i, dict)) if m is not None)
        return Observation(source.span, dialect, "other", conversation_id=team, input=read or None, relayed=True)
    one = body.get("message")
    found = _message(one) if isinstance(one, dict) else None
    if found is None:
        return Observation(source.span, dialect, "other", conversation_id=team, relayed=True)
    if found.role == "assistant":
        return Observation(source.span, dialect, "model", conversation_id=team, output=(found,), relayed=True)
    return Observation(source.span, dialect, "other", conversation_id=team, input=(found,), relayed=True)


@dataclass(frozen=True)
class AutoGen:
    name: str = "autogen"
    priority: int = 50
    hints: dict[str, str] = field(
        default_factory=lambda: {
            "arguments": _OI,
            "results": _OI,
            "request": _OI,
            "catalog": "AutoGen records no tool definitions",
        }
    )

    def claims(self, scope: str, keys: Collection[str]) -> bool:
        return scope in ("autogen-core", "autogen_core", _RUNTIME)

    def read(self, source: Source) -> Observation:
        if source.span.scope_name == _RUNTIME:
            return _bus(source, self.name)
        kind = kind_of(source.span)
        read = read_tool(source, self.name) if kind == "tool" else read_messages(source, kind, self.name)
        return replace(read, conversation_id=read.conversation_id or _team(source))


PLUGIN = AutoGen()
