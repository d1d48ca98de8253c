"""Preflight: what tool servers offer, how tools answered a check, and what is wrong with either (R55)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.model.values import JSON

Severity: TypeAlias = Literal["error", "warning", "note"]
"""`error`: the agent would meet it. `warning`: it makes wrong choices or surprises likely. `note`: not looked at."""


@dataclass(frozen=True, slots=True)
class Hints:
    """Annotations of an MCP tool (specification 2025-06-18, ToolAnnotations); None: the server does not say."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as its server lists it. `hints` None: this kind of server has none."""

    definition: ToolDefinition
    hints: Hints | None = None
    output_schema: dict[str, Any] | None = field(default=None, hash=False)

    @property
    def name(self) -> str:
        return self.definition.name


@dataclass(frozen=True, slots=True)
class Offer:
    """What one server offers. `failure`: why it could not be asked, then it has no tools."""

    server: str
    tools: tuple[OfferedTool, ...] = ()
    failure: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back of one call. `failure`: there was no answer at all (time-out, protocol error); else `ok` says
    whether the tool reported an error, and `value` is its structured result, or its text.
    """

    ok: bool
    value: JSON
    seconds: float
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Concern:
    """Something that preflight found. `line` is that of the check in the file, 0 where none is behind it."""

    kind: str
    severity: Severity
    server: str
    tool: str
    message: str
    line: int = 0
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Preflight:
    """The outcome for one file. `checks`: contract checks that ran, `passed` of them without a concern."""

    name: str
    path: str
    offers: tuple[Offer, ...]
    concerns: tuple[Concern, ...]
    checks: int
    passed: int

    @property
    def unreachable(self) -> tuple[Offer, ...]:
        return tuple(offer for offer in self.offers if offer.failure is not None)

    @property
    def failed(self) -> bool:
        """An error that is not only a server out of reach."""
        return any(c.severity == "error" and c.kind != "unreachable" for c in self.concerns)
