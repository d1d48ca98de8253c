"""Suites, cases, policies and expectations: frozen, typed, compiled; what a judge needs and nothing of YAML (R10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.rules.check import Check, Labelled
from otel_toolselect.rules.draft import DecisionClass
from otel_toolselect.rules.policy import Policy
from otel_toolselect.rules.selectors import CallSet, Selector
from otel_toolselect.rules.view import CallView


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a run of the case must look like.

    `decision` is the class, written or derived; `first` the allowed first actions, empty when the author sets none.
    `wanted` are the calls that the case wants somewhere, `forbidden` those that it forbids altogether: together they
    say which calls' tool was right, and only such calls' arguments are judged (R25).
    """

    decision: DecisionClass | None
    first: tuple[Selector, ...]
    wanted: tuple[Selector, ...]
    forbidden: tuple[Selector, ...]
    checks: tuple[Check, ...]
    labelled: tuple[Labelled, ...] = ()
    _wanted: CallSet = field(init=False, compare=False, repr=False)
    _forbidden: CallSet = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_wanted", CallSet(self.wanted))
        object.__setattr__(self, "_forbidden", CallSet(self.forbidden))

    def is_right(self, call: CallView) -> bool:
        return self._wanted.holds(call) and not self._forbidden.holds(call)


@dataclass(frozen=True, slots=True)
class Group:
    """A metamorphic group (R16): variants that must keep the route (`same`) or change it (`different`)."""

    id: str
    relation: str


@dataclass(frozen=True, slots=True)
class Case:
    """`tools` are the canonical names pinned for the case (R18), `catalog` a pinned `sha256:` id, None when not pinned.

    `agent` is the agent whose run the case is about, a sub-agent or the receiver of a hand-off included; the prompt is
    then that of the outermost run. `env` is the free environment note of the `{"id", "request", "expected", "env"}`
    form. `labels` keeps each labeller's own opinion (R14) as written.
    """

    id: str
    expect: Expectation
    prompt: str | None = None
    agent: str | None = None
    tools: tuple[str, ...] | None = None
    catalog: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    risk: str | None = None
    group: Group | None = None
    labels: tuple[Mapping[str, Any], ...] = ()
    rationale: str | None = None
    env: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class Suite:
    name: str
    cases: tuple[Case, ...]
    policy: Policy = field(default_factory=Policy)
    version: str = ""
    path: str = ""
