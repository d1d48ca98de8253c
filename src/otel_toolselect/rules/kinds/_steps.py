"""The parts of a `reference`: its steps, and which observed calls are compared with them."""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.model.runs import Unknown
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, clip, kind_of
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds._arguments import mismatches
from otel_toolselect.rules.matching import Expected, Scope, parse_expected
from otel_toolselect.rules.selectors import Selector
from otel_toolselect.rules.view import CallView, RunView


@dataclass(frozen=True, slots=True)
class Step:
    """One expected call. `args` None: any arguments; `names` are the listed ones, where no other may be given.

    `defaults`: what is left out has its schema's default.
    """

    tool: str
    args: tuple[Expected, ...] | None
    names: frozenset[str] | None
    defaults: bool = True

    def wrong(self, call: CallView, view: RunView) -> list[tuple[str, str]]:
        """(argument, reason) for each argument that differs; unknown arguments are never wrong."""
        if self.args is None or isinstance(call.args, Unknown):
            return []
        found = mismatches(self.args, call.args, Scope(call, view), defaults=self.defaults)
        if self.names is not None:
            for name, value in call.args.items():
                if name not in self.names:
                    found.append((name, f"is not expected, got {brief(value)}"))
        return found


@dataclass(frozen=True, slots=True)
class Among:
    """Which observed calls are compared."""

    selectors: tuple[tuple[Selector, bool], ...]

    def holds(self, call: CallView) -> bool:
        if not self.selectors:
            return call.consequential
        return any(s.matches(call) and not (ok and call.ok is False) for s, ok in self.selectors)

    def unsure(self, call: CallView) -> bool:
        """The call is here only if it succeeded, and the trace does not say so."""
        if not self.selectors or call.ok is not None:
            return False
        return all(ok for s, ok in self.selectors if s.matches(call))


def parse_steps(node: Node, draft: Draft) -> list[Step]:
    items = draft.problems.items(node, "reference.calls", example="[TOOL, {tool: TOOL, args: {...}}]")
    return [step for step in (_step(item, draft) for item in items) if step is not None]


def _step(node: Node, draft: Draft) -> Step | None:
    if isinstance(node, Scalar):
        text = draft.problems.text(node, "an entry of reference.calls")
        name = draft.tool(text, node) if text is not None else None
        return Step(name, None, None) if name is not None else None
    found = draft.problems.fields(node, "an entry of reference.calls", ("tool", "args"), synonyms={"name": "tool"})
    if found is None:
        return None
    if "tool" not in found:
        draft.problems.add(node, "an entry of reference.calls names no tool", "write {tool: TOOL, args: {...}}")
        return None
    text = draft.problems.text(found["tool"][1], "tool")
    name = draft.tool(text, found["tool"][1]) if text is not None else None
    args = _args(found["args"][1], draft) if "args" in found else None
    if name is None:
        return None
    closed = args is not None and draft.profile.closed
    return Step(name, args, frozenset(e.name for e in args or ()) if closed else None, draft.profile.schema)


def _args(node: Node, draft: Draft) -> tuple[Expected, ...]:
    if not isinstance(node, Fields):
        draft.problems.add(node, f"args must be a mapping, not {kind_of(node)}", "write {ARGUMENT: VALUE}")
        return ()
    parsed = (parse_expected(k.text, v, draft) for k, v in node.entries)
    return tuple(e for e in parsed if e is not None)


def parse_among(node: Node, draft: Draft) -> Among:
    """`SELECTOR`, `SELECTOR ok`, or a list of them."""
    found: list[tuple[Selector, bool]] = []
    for item in node.items if isinstance(node, Items) else (node,):
        text = draft.problems.text(item, "among")
        words = (text or "").split()
        if text is None:
            continue
        if len(words) not in (1, 2) or words[1:] not in ([], ["ok"]):
            draft.problems.add(
                item, f"among cannot read {clip(text)!r}", 'write TOOL, effect:EFFECT or "effect:write ok"'
            )
            continue
        selector = draft.selector(words[0], item, outcomes=False)
        if selector is not None:
            found.append((selector, len(words) == 2))
    if isinstance(node, Items) and not node.items:
        draft.problems.add(node, "among is an empty list: nothing would be compared", "take it out")
    return Among(tuple(found))
