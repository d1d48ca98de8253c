"""`{judge: "says that the headphones are broken"}`: free text that a yes/no judge reads (R26).

The sentence completes "the text ..."; it is asked about the argument's value alone. A value that is no text fails
without asking; without a judge, or without its answer, the finding is needs_review with the reason, never a pass (see
`rules.asking`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from otel_toolselect.model.questions import Question
from otel_toolselect.model.values import JSON
from otel_toolselect.rules._literal import brief
from otel_toolselect.rules._nodes import Node
from otel_toolselect.rules.asking import asking
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.matching import Matcher, Scope

MAX_LENGTH = 500


@dataclass(frozen=True, slots=True)
class Judge:
    claim: str
    describe: str
    absent_ok: bool = False

    def mismatch(self, value: JSON, scope: Scope) -> str | None:
        if not isinstance(value, str) or not value.strip():
            return f"expected {self.describe}, got {brief(value)}"
        question = Question(f"Is it true that the text {self.claim}?", (("text", value),))
        return None if asking(scope.view).holds(question) else f"expected {self.describe}, got {brief(value)}"


class _Kind:
    name = "judge"
    options: frozenset[str] = frozenset()

    def parse(self, node: Node, options: Mapping[str, Node], draft: Draft) -> Matcher | None:
        claim = parse_claim(node, "text", draft)
        return None if claim is None else Judge(claim, f"a text that {claim}")


def parse_claim(node: Node, subject: str, draft: Draft) -> str | None:
    """What a judge is to say yes to: a sentence without its subject. None after recording a problem."""
    text = draft.problems.text(node, "judge")
    if text is None:
        return None
    claim = " ".join(text.split()).rstrip("?. ")
    if claim and len(claim) <= MAX_LENGTH:
        return claim
    said = f"judge must be one sentence of up to {MAX_LENGTH} characters"
    draft.problems.add(node, said, f'complete "the {subject} ...": judge: "says that the order arrived broken"')
    return None


PLUGIN = _Kind()
