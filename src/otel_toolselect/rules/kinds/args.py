"""`args`: what the arguments of a tool's calls must be (R25, R26), arguments layer, one finding per call.

Holds for every call of the tool. Listed arguments are compared (see `rules.matching`); arguments that are not listed
are the schema's business, and `{absent: true}` forbids one. An argument that is left out equals the default that the
offered schema states for it; null is a value and not absent. Arguments that the trace does not hold never count as
wrong: such a call is needs_review, with the reason, and leaves the denominator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._nodes import Fields, Node, Scalar, clip, kind_of
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds._arguments import judged, mismatches, unknown
from otel_toolselect.rules.matching import Expected, Scope, parse_expected
from otel_toolselect.rules.selectors import Tool
from otel_toolselect.rules.view import CallView, RunView

NAME = "args"


@dataclass(frozen=True, slots=True)
class ArgsCheck:
    by_tool: Mapping[str, tuple[Expected, ...]]
    defaults: bool = True
    name: str = NAME
    layer: Layer = "arguments"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        by_tool = self.by_tool
        if view.seen.names.isdisjoint(by_tool):
            return ()
        concerned = [c for c in view.calls if c.name in by_tool]
        return [judge_call(NAME, c, by_tool[c.name], view, defaults=self.defaults) for c in concerned]


def judge_call(
    check: str, call: CallView, expected: Sequence[Expected], view: RunView, *, defaults: bool = True
) -> Finding:
    if isinstance(call.args, Unknown):
        return unknown(check, call, call.args)
    wrong = mismatches(expected, call.args, Scope(call, view), defaults=defaults)
    return judged(check, call, wrong, "has the expected arguments")


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        draft.configs[NAME] = parse_by_tool(node, NAME, draft)

    def finish(self, draft: Draft) -> Check | None:
        by_tool = draft.configs.get(NAME)
        return ArgsCheck(by_tool, draft.profile.schema) if by_tool else None


def parse_by_tool(node: Node, what: str, draft: Draft) -> dict[str, tuple[Expected, ...]]:
    """`{TOOL: {ARGUMENT: VALUE}}`, by canonical name."""
    by_tool: dict[str, tuple[Expected, ...]] = {}
    if not isinstance(node, Fields):
        draft.problems.add(node, f"{what} must be a mapping, not {kind_of(node)}", "write TOOL: {ARGUMENT: VALUE}")
        return by_tool
    for tool, value in node.entries:
        name = draft.tool(tool.text, tool)
        if name is None:
            continue
        if name in by_tool:
            draft.problems.add(tool, f"{what} lists {clip(name)!r} twice, once under an alias")
        if not isinstance(value, Fields):
            said = f"{what} of {clip(name, 40)!r} must be a mapping, not {kind_of(value)}"
            draft.problems.add(value, said, "write {ARGUMENT: VALUE}")
            continue
        parsed = (parse_expected(k.text, v, draft) for k, v in value.entries)
        by_tool[name] = tuple(e for e in parsed if e is not None)
        draft.wants(Tool(name), may_start=what == NAME)
    return by_tool


PLUGIN = _Kind()
