"""Catalogs as they were offered, what differs between two, and what is suspicious in one (R46)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_toolselect.model.runs import ToolDefinition

Severity: TypeAlias = Literal["warning", "note"]


@dataclass(frozen=True, slots=True)
class Catalog:
    """One set of tool definitions, and the runs that were offered it. Tools in order of name."""

    id: str
    tools: tuple[ToolDefinition, ...]
    runs: int
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    first_ns: int = 0
    last_ns: int = 0


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool that two catalogs define differently; `what` names the parts: description, schema."""

    name: str
    what: tuple[str, ...]
    before: ToolDefinition
    after: ToolDefinition


@dataclass(frozen=True, slots=True)
class CatalogDiff:
    before: Catalog
    after: Catalog
    added: tuple[ToolDefinition, ...]
    removed: tuple[ToolDefinition, ...]
    changed: tuple[ToolChange, ...]
    same: int


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Something in a catalog that makes wrong choices likely. `texts`: what to read, as (title, text), side by side."""

    kind: str
    severity: Severity
    tools: tuple[str, ...]
    message: str
    texts: tuple[tuple[str, str], ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    catalogs: tuple[str, ...] = ()
