"""A case's expectation while it is read: what the kinds have found so far, and what follows from it.

Kinds read their keys one by one and leave their findings here; once all are read, each compiles its check from the
whole (the allowed first actions depend on the class, the class on the first actions).
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast

from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.rules._nodes import Node, Scalar, clip
from otel_toolselect.rules.policy import EFFECTS, Policy
from otel_toolselect.rules.problems import Problems, suggest
from otel_toolselect.rules.profile import JSON_VALUES, Profile
from otel_toolselect.rules.selectors import AnyCall, Effect, NoCallOutcome, Selector, Tool

DecisionClass: TypeAlias = Literal["required", "optional", "none", "clarify", "refuse", "multi_step"]
CLASSES: tuple[DecisionClass, ...] = ("required", "optional", "none", "clarify", "refuse", "multi_step")

_OUTCOME_OF: dict[str, NoCallOutcome] = {
    "none": NoCallOutcome("none"),
    "clarify": NoCallOutcome("ask_followup"),
    "refuse": NoCallOutcome("refuse_no_tool"),
}
_CLASS_OF: dict[str, DecisionClass] = {"none": "none", "ask_followup": "clarify", "refuse_no_tool": "refuse"}


class Draft:
    """`configs` and `keys`: what each kind read and where, by the kind's name."""

    def __init__(
        self,
        problems: Problems,
        policy: Policy,
        pinned: tuple[str, ...] | None = None,
        catalog: str | None = None,
        profile: Profile = JSON_VALUES,
    ) -> None:
        self.problems = problems
        self.policy = policy
        self.pinned = pinned
        self.catalog = catalog
        self.profile = profile
        self.configs: dict[str, Any] = {}
        self.keys: dict[str, Scalar] = {}
        self.wanted: list[Selector] = []
        self.forbidden: list[Selector] = []
        self.starts: list[Selector] = []

    def wants(self, *selectors: Selector, may_start: bool = True) -> None:
        """These calls have their place in the case; `may_start`: one of them may be the first action."""
        self.wanted += selectors
        self.starts += selectors if may_start else ()

    # --- names

    def tool(self, text: str, node: Node) -> str | None:
        """The canonical name of a tool; a name that neither policy nor pinned tools know is a problem."""
        known = self.policy.tools
        if not known or text in known or text in self.policy.aliases or text in (self.pinned or ()):
            return self.policy.canonical(text)
        names = {*known, *self.policy.aliases, *(self.pinned or ())}
        self.problems.add(node, f"the policy does not name the tool {clip(text)!r}", suggest(text, names))
        return None

    def selector(self, text: str, node: Node, *, outcomes: bool) -> Selector | None:
        """A tool, an effect, or (where `outcomes` may stand) a no-call label."""
        if text in NO_CALL_LABELS:
            if outcomes:
                return NoCallOutcome(text)
            self.problems.add(node, f"{text!r} is an outcome without a call and cannot stand here", "name a tool")
            return None
        if text.startswith("effect:"):
            return self._effect(text.removeprefix("effect:"), node)
        name = self.tool(text, node)
        return None if name is None else Tool(name)

    def selectors(self, node: Node, what: str, *, outcomes: bool) -> list[tuple[Selector, Node]]:
        found = [(self.selector(text, item, outcomes=outcomes), item) for text, item in self.problems.texts(node, what)]
        return [(s, item) for s, item in found if s is not None]

    def _effect(self, effect: str, node: Node) -> Selector | None:
        if effect not in EFFECTS:
            self.problems.add(node, f"unknown effect {clip(effect)!r}", suggest(effect, EFFECTS))
            return None
        if not any(tool.effect == effect for tool in self.policy.tools.values()):
            self.problems.add(
                node,
                f"effect:{effect} selects nothing: the policy gives no tool this effect",
                "declare it in policy.tools",
            )
            return None
        return Effect(effect)

    # --- what follows from what was read

    @property
    def decision(self) -> DecisionClass | None:
        """The class as written; else what the listed first actions imply; else None."""
        written = self.configs.get("class")
        if written is not None:
            return cast("DecisionClass", written)
        listed: tuple[Selector, ...] = self.configs.get("first", ())
        if not listed:
            return None
        outcomes = [s for s in listed if isinstance(s, NoCallOutcome)]
        if not outcomes:
            return "required"
        return _CLASS_OF[outcomes[0].label] if len(outcomes) == len(listed) else "optional"

    @property
    def first(self) -> tuple[Selector, ...]:
        """The allowed first actions: those listed, else those of the class; () when nothing constrains them.

        optional: a direct answer is allowed beside what is listed. required without a list: what must be called
        eventually, or before something else, or has expected arguments; else, as for multi_step, any call.
        """
        decision = self.decision
        listed: tuple[Selector, ...] = self.configs.get("first", ())
        if listed:
            answered = any(s.means("none") for s in listed)
            return listed if decision != "optional" or answered else (*listed, _OUTCOME_OF["none"])
        if decision is None:
            return ()
        if decision in _OUTCOME_OF:
            return (_OUTCOME_OF[decision],)
        if decision == "optional":
            return (AnyCall(), _OUTCOME_OF["none"])
        if decision == "required":
            return tuple(dict.fromkeys(self.starts)) or (AnyCall(),)
        return (AnyCall(),)
