"""`said`: what the agent must have said in some text of the run, not only in the last one (R34), outcome layer.

Conversations with a user give their answer on the way. A text is found when it occurs in one message that answers the
user, case and thousands separators (commas) aside: `said: ["1000"]` is in "that comes to 1,000 in total". What stands
beside tool calls is not counted: agents think aloud there, and most harnesses show it to nobody. The final answer
alone is `answer: {contains: [...]}`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules._nodes import Items, Node, Scalar
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.view import RunView

NAME = "said"


def _plain(text: str) -> str:
    return text.replace(",", "").lower()


@dataclass(frozen=True, slots=True)
class SaidCheck:
    texts: tuple[str, ...]
    name: str = NAME
    layer: Layer = "outcome"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        acting = {c.turn for c in view.calls}
        spoken = [_plain(t.text) for t in view.run.texts if t.turn not in acting]
        if view.final_text:
            spoken.append(_plain(view.final_text))
        lacking = [t for t in self.texts if not any(_plain(t) in s for s in spoken)]
        if not lacking:
            return (Finding(NAME, "outcome", "pass", "everything that had to be said was said", {"not_said": []}),)
        said = f"no text of the run says {' or '.join(repr(t) for t in lacking)}"
        return (Finding(NAME, "outcome", "fail", said, {"not_said": lacking, "missing": lacking}),)


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        texts = tuple(text for text, _ in draft.problems.texts(node, NAME))
        if isinstance(node, Items) and not node.items:
            draft.problems.add(node, "said lists nothing", "take it out")
        draft.configs[NAME] = texts

    def finish(self, draft: Draft) -> Check | None:
        texts = draft.configs.get(NAME)
        return SaidCheck(texts) if texts else None


PLUGIN = _Kind()
