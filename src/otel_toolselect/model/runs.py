"""Runs and events: the small normalized model that everything after assembly works on (R20-R22, design section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_toolselect.model.quick import quick
from otel_toolselect.model.values import JSON

NO_CALL_LABELS = ("none", "ask_followup", "refuse_no_tool")
NoCallLabel: TypeAlias = Literal["none", "ask_followup", "refuse_no_tool"]
INFRA = "toolselect.infra"
"""Attribute of a run's resource or first span: who ran the agent says that the platform failed, and how (R36)."""
TENANT = "toolselect.tenant"
"""Attribute of the resource of spans and log records, and so of runs: whose they are. Only a receiver may set it."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that the trace does not hold; never the same as null or {}. `reason` says why it is not there."""

    reason: str


@quick
@dataclass(frozen=True, slots=True)
class AssistantText:
    """Text that the model said, reasoning parts dropped (R6)."""

    turn: int
    seq: int
    text: str
    dialect: str
    agent: str | None = None


@quick
@dataclass(frozen=True, slots=True)
class ToolCall:
    """One decision to call a tool.

    `args` is a JSON object, or Unknown; `args_raw` holds the text that could not be decoded. `emitted`: seen in
    the model's output; `executed`: seen as a tool span. `server` is the MCP server where the trace proves it.
    """

    turn: int
    seq: int
    name: str
    args: dict[str, Any] | Unknown
    call_id: str | None
    emitted: bool
    executed: bool
    dialect: str
    agent: str | None = None
    args_raw: str | None = None
    server: str | None = None
    start_ns: int = 0
    span_id: str = ""

    @property
    def known_args(self) -> dict[str, Any] | None:
        return None if isinstance(self.args, Unknown) else self.args


@quick
@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came back. `call_seq` is the `seq` of its call. `ok` None means that the trace does not say.

    `infra`: the failure is the platform's, not the agent's (R36). `duration_ns` None where no span shows it.
    """

    turn: int
    seq: int
    call_seq: int
    name: str
    call_id: str | None
    ok: bool | None
    value: JSON | Unknown
    dialect: str
    error_type: str | None = None
    infra: bool = False
    duration_ns: int | None = None
    agent: str | None = None


Event: TypeAlias = AssistantText | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One offered tool. `schema` is a JSON Schema object, None where the trace gives only a name."""

    name: str
    description: str = ""
    schema: dict[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class NoCall:
    """How a final text without a call reads: the label, the signal that decided, and how sure that is (0..1)."""

    label: NoCallLabel
    signal: str
    confidence: float


@quick
@dataclass(frozen=True, slots=True)
class Run:
    """One agent invocation answering one user request.

    `first_action` and `observed_class` are those without a policy (metadata tools count); a judge with a policy
    computes its own. `no_call` is always the reading of `final_text`. `incomplete` says why a run is not complete,
    None when it is. `history` is what the user said before `request` in the same conversation, oldest first, as far as
    the run's own spans show it. `expected`: first actions that the trace itself says are right
    (`toolselect.expected`). Times in nanoseconds UTC; `tools` is None when the trace holds no catalog (unknown, not
    empty). `attributes` are the short ones of resource and root span, for rules that match on them; they are not kept
    with a run, as the raw spans are, and are no part of its identity.
    """

    run_id: str
    trace_id: str
    trace_ids: tuple[str, ...]
    events: tuple[Event, ...]
    parent_run_id: str | None = None
    case_id: str | None = None
    suite: str | None = None
    label: str | None = None
    attempt: int | None = None
    service: str = ""
    agent: str | None = None
    provider: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    catalog_id: str | None = None
    tools: tuple[ToolDefinition, ...] | None = None
    conversation_id: str | None = None
    request: str | None = None
    history: tuple[str, ...] = ()
    final_text: str | None = None
    no_call: NoCall = NoCall("none", "no text", 0.0)
    start_ns: int = 0
    duration_ns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    expected: tuple[str, ...] = ()
    incomplete: str | None = None
    dialects: tuple[str, ...] = ()
    attributes: Mapping[str, bool | int | float | str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        return tuple([e for e in self.events if isinstance(e, ToolCall)])

    @property
    def results(self) -> tuple[ToolResult, ...]:
        return tuple([e for e in self.events if isinstance(e, ToolResult)])

    @property
    def texts(self) -> tuple[AssistantText, ...]:
        return tuple(e for e in self.events if isinstance(e, AssistantText))

    @property
    def tools_offered(self) -> tuple[str, ...] | None:
        return None if self.tools is None else tuple(t.name for t in self.tools)

    @property
    def first_action(self) -> str:
        calls = self.calls
        return calls[0].name if calls else self.no_call.label

    @property
    def observed_class(self) -> str:
        return "call" if self.calls else self.no_call.label

    def result_of(self, call: ToolCall) -> ToolResult | None:
        for event in self.events:
            if isinstance(event, ToolResult) and event.call_seq == call.seq:
                return event
        return None
