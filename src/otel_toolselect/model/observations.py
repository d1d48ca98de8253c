"""Observations: what a dialect reads out of one span, in one vocabulary for all dialects.

A dialect turns a span (and the log records that belong to it) into an `Observation`; assembly works on nothing else.
None means "the span does not say"; `Unknown` means "the span had a value that cannot be known, and why".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_toolselect.model.quick import quick
from otel_toolselect.model.runs import ToolDefinition, Unknown
from otel_toolselect.model.spans import Span
from otel_toolselect.model.values import JSON

Kind: TypeAlias = Literal["agent", "model", "tool", "catalog", "other"]
"""`catalog` is a span that only lists tools (MCP `tools/list`)."""


@quick
@dataclass(frozen=True, slots=True)
class TextPart:
    text: str


@quick
@dataclass(frozen=True, slots=True)
class CallPart:
    """A tool call in a message. `raw` is the undecodable text when `args` is Unknown."""

    name: str
    args: dict[str, Any] | Unknown
    call_id: str | None = None
    raw: str | None = None


@quick
@dataclass(frozen=True, slots=True)
class ResultPart:
    """A tool's result in a message. `is_error` None: the message does not say."""

    call_id: str | None
    value: JSON | Unknown
    name: str | None = None
    is_error: bool | None = None


Part: TypeAlias = TextPart | CallPart | ResultPart


@quick
@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation; `role` is system, user, assistant or tool."""

    role: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "\n".join([p.text for p in self.parts if isinstance(p, TextPart) and p.text])

    @property
    def calls(self) -> tuple[CallPart, ...]:
        return tuple([p for p in self.parts if isinstance(p, CallPart)])

    @property
    def results(self) -> tuple[ResultPart, ...]:
        return tuple([p for p in self.parts if isinstance(p, ResultPart)])


@quick
@dataclass(frozen=True, slots=True)
class ToolUse:
    """What a tool span says of one execution. `ok` None: no sign either way.

    `side`: which end of a protocol wrote the span (MCP). `tentative`: the span is a traced function that may or may not
    be a tool; it counts only where the model emitted a call of that name.
    """

    name: str
    args: dict[str, Any] | Unknown | None = None
    raw_args: str | None = None
    call_id: str | None = None
    result: JSON | Unknown = field(default_factory=lambda: Unknown("not recorded"))
    ok: bool | None = None
    error_type: str | None = None
    error_text: str | None = None
    server: str | None = None
    side: Literal["client", "server"] | None = None
    tentative: bool = False


@quick
@dataclass(frozen=True, slots=True)
class Observation:
    """One span, read. `input`/`output` are whole message lists of a model or agent span, None when not recorded.

    `request`/`final_text` are set where a span states them directly instead of in messages.
    `fault`: why a span could not be read (a mistake of its dialect); it is then a parent and nothing more.
    `relayed`: a message on a bus; what it says of the model counts only in a run without model spans proper.
    """

    span: Span
    dialect: str
    kind: Kind
    agent: str | None = None
    conversation_id: str | None = None
    provider: str | None = None
    model: str | None = None
    system: str | None = None
    input: tuple[Message, ...] | None = None
    output: tuple[Message, ...] | None = None
    tools: tuple[ToolDefinition, ...] | None = None
    response_id: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    request: str | None = None
    final_text: str | None = None
    tool: ToolUse | None = None
    relayed: bool = False
    fault: str | None = None
