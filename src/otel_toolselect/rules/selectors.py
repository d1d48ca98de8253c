"""Selectors: how an expectation points at calls and at no-call outcomes.

`search_orders` is a tool, `effect:write` every tool whose effect the policy says, and `none`, `ask_followup`,
`refuse_no_tool` the outcomes without a call (design section 5).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.rules.view import CallView


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool, under its canonical name."""

    name: str

    @property
    def label(self) -> str:
        return self.name

    def matches(self, call: CallView) -> bool:
        return call.name == self.name

    def means(self, label: str) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Effect:
    """Every tool that the policy gives this effect; a tool without a known effect is in none."""

    effect: str

    @property
    def label(self) -> str:
        return f"effect:{self.effect}"

    def matches(self, call: CallView) -> bool:
        return call.effect == self.effect

    def means(self, label: str) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class AnyCall:
    """Any offered tool: what `class: optional` or `required` allows when the author names none."""

    label: str = "any tool"

    def matches(self, call: CallView) -> bool:
        return not call.ghost

    def means(self, label: str) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class NoCallOutcome:
    """An outcome without a call. `any_label`: every one of them, as `none` means in the tiny form."""

    label: str
    any_label: bool = False

    def matches(self, call: CallView) -> bool:
        return False

    def means(self, label: str) -> bool:
        return self.any_label or label == self.label


Selector: TypeAlias = "Tool | Effect | AnyCall | NoCallOutcome"


class CallSet:
    """Selectors as sets, for what is asked of every call of every run."""

    __slots__ = ("any", "effects", "tools")

    def __init__(self, selectors: Iterable[Selector]) -> None:
        listed = tuple(selectors)
        self.tools = frozenset(s.name for s in listed if isinstance(s, Tool))
        self.effects = frozenset(s.effect for s in listed if isinstance(s, Effect))
        self.any = any(isinstance(s, AnyCall) for s in listed)

    def holds(self, call: CallView) -> bool:
        return call.name in self.tools or call.effect in self.effects or (self.any and not call.ghost)


def allows_call(selectors: Iterable[Selector], call: CallView) -> bool:
    return any(s.matches(call) for s in selectors)


def labels(selectors: Iterable[Selector]) -> list[str]:
    return [s.label for s in selectors]


def said(selectors: Iterable[Selector]) -> str:
    """Selectors in the words of a sentence."""
    return " or ".join(labels(selectors))


def allowed_outcomes(selectors: Iterable[Selector]) -> frozenset[str]:
    """The no-call labels that these selectors accept."""
    wanted = tuple(selectors)
    return frozenset(label for label in NO_CALL_LABELS if any(s.means(label) for s in wanted))
