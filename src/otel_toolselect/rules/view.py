"""A run as checks see it: names canonical, effects known, results beside their calls, read once per run.

Aliases are merged before anything is compared. A call is *consequential* unless the policy says that its tool is
metadata or a hand-off (R4); the first action is the first consequential call, or the no-call label of the final text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from otel_toolselect.model.runs import Run, ToolCall, ToolResult, Unknown
from otel_toolselect.rules.infra import is_infra
from otel_toolselect.rules.policy import HARMLESS, Policy

if TYPE_CHECKING:
    from otel_toolselect.rules.asking import Asker, Asking

MIN_CONFIDENCE = 0.5  # below this the reading of a text without a call is for a person to check


class CallView:
    """One call. `ok` None: the trace does not say. `effect` None: the policy does not say. Treat as read-only."""

    __slots__ = ("ambiguous", "args", "call", "effect", "ghost", "infra", "name", "ok", "result", "seq", "turn")

    def __init__(self, call: ToolCall, name: str, effect: str | None) -> None:
        self.call = call
        self.seq = call.seq
        self.turn = call.turn
        self.name = name
        self.effect = effect
        self.args: dict[str, Any] | Unknown = call.args
        self.ambiguous: tuple[str, ...] = ()
        self.ghost = False
        self.ok: bool | None = None
        self.infra = False
        self.result: ToolResult | None = None

    @property
    def consequential(self) -> bool:
        return self.effect not in HARMLESS

    @property
    def mutating(self) -> bool:
        """A write, or a tool whose effect nobody declared: what may have changed something counts as changing."""
        return self.effect is None or self.effect == "write"


class RunView:
    """One run under one policy. Treat as read-only; it lives as long as the judgement of its run.

    `asker` answers questions about free text, None when nobody does; `asking` is made with the first question.
    """

    asker: Asker | None = None
    asking: Asking | None = None

    def __init__(self, run: Run, policy: Policy) -> None:
        self.run = run
        self.policy = policy
        by_seq: dict[int, CallView] = {}
        for event in run.events:
            if isinstance(event, ToolCall):
                name, ambiguous = policy.resolve(event.name, event.server)
                by_seq[event.seq] = view = CallView(event, name, policy.effect_of(name))
                view.ambiguous = ambiguous
            elif isinstance(event, ToolResult):
                answered = by_seq.get(event.call_seq)
                if answered is not None:
                    answered.result, answered.ok = event, event.ok
                    answered.infra = is_infra(event, policy.infra)
        self.calls = tuple(by_seq.values())
        self.consequential = tuple(c for c in self.calls if c.consequential)
        self.first = self.consequential[0] if self.consequential else None
        self.label = run.no_call.label
        self.sure = run.no_call.confidence >= MIN_CONFIDENCE
        self.first_action = self.first.name if self.first is not None else self.label
        if run.tools is not None:
            for view in self.calls:
                view.ghost = view.name not in self.offered and view.call.name not in self.offered

    @property
    def observed_class(self) -> str:
        return "call" if self.first is not None else self.label

    @cached_property
    def offered(self) -> Mapping[str, Any]:
        """Schemas (or None) of the offered tools by canonical name; empty when no catalog is known."""
        return {self.policy.resolve(t.name)[0]: t.schema for t in self.run.tools or ()}

    @property
    def final_text(self) -> str:
        return self.run.final_text or ""

    @property
    def conversation(self) -> tuple[str, ...]:
        """What the user said, oldest first; the last is the request that the run answers. () when not recorded."""
        return () if self.run.request is None else (*self.run.history, self.run.request)

    @cached_property
    def memo(self) -> dict[Any, Any]:
        """What several checks work out of this run, each under a key of its own."""
        return {}
