"""Calls of retired tools (R9), always on: a finding of its own that moves no layer.

Only where the policy says `retired: true` of a tool. A case that used to want the tool stays in the suite and expects
`class: refuse`; to list a retired tool under `first` or `eventually`, or to give its arguments, is an error at load.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules.check import AlwaysOn, Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.selectors import Tool
from otel_toolselect.rules.view import RunView

NAME = "retired"


@dataclass(frozen=True, slots=True)
class RetiredCheck:
    tools: frozenset[str]
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = False

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        if self.tools.isdisjoint(view.seen.names):
            return ()
        names = list(dict.fromkeys(c.name for c in view.calls if c.name in self.tools))
        said = f"called {', '.join(names)}, which is retired"
        return (Finding(NAME, "selection", "fail", said, {"retired": names}),)


class _Kind(AlwaysOn):
    name = NAME

    def finish(self, draft: Draft) -> Check | None:
        tools = draft.policy.retired
        if not tools:
            return None
        for key in ("first", "eventually", "args"):
            if key in draft.keys:
                listed = draft.configs.get(key, ())
                names = [s.name if isinstance(s, Tool) else s for s in listed if isinstance(s, Tool | str)]
                for name in tools.intersection(names):
                    hint = "expect class: refuse, or take retired out of the policy"
                    draft.problems.add(draft.keys[key], f"{key} lists {name!r}, which is retired", hint)
        return RetiredCheck(tools)


PLUGIN = _Kind()
