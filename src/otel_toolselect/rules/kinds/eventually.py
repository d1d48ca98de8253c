"""`eventually`: what must happen somewhere in the run (R2), selection layer. A no-call label names how the run must
end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.selectors import NoCallOutcome, Selector, Tool, labels
from otel_toolselect.rules.view import RunView

NAME = "eventually"


@dataclass(frozen=True, slots=True)
class EventuallyCheck:
    required: tuple[Selector, ...]
    passed: Finding
    name: str = NAME
    layer: Layer = "selection"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        missing: list[str] = []
        unsure: list[str] = []
        for s in self.required:
            if isinstance(s, NoCallOutcome):
                if not view.sure:
                    unsure.append(s.label)
                elif not s.means(view.label):
                    missing.append(s.label)
            elif not (s.name in view.seen.names if isinstance(s, Tool) else any(s.matches(c) for c in view.calls)):
                missing.append(s.label)
        if missing:
            said = f"missing call {', '.join(missing)}"
            return (Finding(NAME, "selection", "fail", said, {"missing_required": missing, "missing": missing}),)
        if unsure:
            said = f"whether the run ends with {', '.join(unsure)} cannot be told from its final text"
            return (Finding(NAME, "selection", "needs_review", said, {"to_review": unsure}),)
        return (self.passed,)


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        found: list[Selector] = []
        for selector, item in draft.selectors(node, NAME, outcomes=True):
            if isinstance(selector, Tool) and draft.pinned is not None and selector.name not in draft.pinned:
                draft.problems.add(
                    item, f"{selector.label!r} can never be called: it is not among the case's tools", "add it to tools"
                )
            found.append(selector)
        draft.configs[NAME] = tuple(dict.fromkeys(found))
        draft.wants(*(s for s in found if not isinstance(s, NoCallOutcome)))

    def finish(self, draft: Draft) -> Check | None:
        required: tuple[Selector, ...] = draft.configs.get(NAME, ())
        if not required:
            return None
        evidence: dict[str, object] = {"missing_required": []}
        said = f"required and seen: {', '.join(labels(required))}"
        return EventuallyCheck(required, Finding(NAME, "selection", "pass", said, evidence))


PLUGIN = _Kind()
