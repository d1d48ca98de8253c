"""`clarify`: a question must be asked, about the missing thing (R30), clarification layer.

Applies to class clarify, and to any case with `clarify: {about: [...]}`. Passes when the final text reads as a
question and, if `about` is given, holds one of its phrases (case, Unicode form and spacing aside, from the start of a
word). Fails when it reads as an answer, a lecture or a refusal, when it asks about something else, and for class
clarify when a call that may change something came first. needs_review when the reading is below `MIN_CONFIDENCE`.

`judge: "asks which order is meant"` has a yes/no judge say whether the question is to the point, once everything else
has passed: it can fail what phrases let through, and never the other way round. The sentence completes "the message";
without a judge the finding is needs_review (see `rules.asking`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from otel_toolselect.model.questions import Question
from otel_toolselect.model.verdicts import Finding, Layer, Status
from otel_toolselect.rules._nodes import Node, Scalar
from otel_toolselect.rules.asking import asking
from otel_toolselect.rules.check import Check
from otel_toolselect.rules.draft import Draft
from otel_toolselect.rules.kinds.first import OUTCOMES
from otel_toolselect.rules.match.judge import parse_claim
from otel_toolselect.rules.normal import has_phrase, normal
from otel_toolselect.rules.view import RunView

NAME = "clarify"
CLAIM = "clarify.judge"


@dataclass(frozen=True, slots=True)
class ClarifyCheck:
    about: tuple[str, ...]
    before_acting: bool
    claim: str | None = None
    name: str = NAME
    layer: Layer = "clarification"
    decides: bool = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        status, explanation = self._judge(view)
        if status == "pass" and self.claim is not None:
            question = Question(f"Is it true that the message {self.claim}?", (("message", view.final_text),))
            if not asking(view).holds(question):
                status, explanation = "fail", f"a question was asked, but not one that {self.claim}"
        evidence: dict[str, object] = {"outcome": view.label, "signal": view.run.no_call.signal}
        if self.about:
            evidence["about"] = list(self.about)
        if status == "fail" and not view.final_text:
            evidence["missing"] = ["a question"]
        return (Finding(NAME, "clarification", status, explanation, evidence),)

    def _judge(self, view: RunView) -> tuple[Status, str]:
        acted = next((c.name for c in view.consequential if c.mutating), None)
        if self.before_acting and acted is not None:
            return "fail", f"{acted} was called before anything was asked"
        if not view.sure:
            return "needs_review", f"the final text cannot be read surely: {view.run.no_call.signal}"
        if view.label != "ask_followup":
            return "fail", f"no question was asked: {OUTCOMES[view.label]} ({view.run.no_call.signal})"
        if not self.about:
            return "pass", f"a question was asked ({view.run.no_call.signal})"
        text = normal(view.final_text)
        found = next((phrase for phrase in self.about if has_phrase(text, phrase)), None)
        if found is None:
            return "fail", f"a question was asked, but none about {' or '.join(self.about)}"
        return "pass", f"a question was asked about {found}"


class _Kind:
    name = NAME
    implicit = False

    def parse(self, key: Scalar, node: Node, draft: Draft) -> None:
        draft.configs[NAME] = ()
        found = draft.problems.fields(node, NAME, ("about", "judge"))
        if found is not None and "judge" in found:
            draft.configs[CLAIM] = parse_claim(found["judge"][1], "message", draft)
        if found is None or "about" not in found:
            return
        texts = draft.problems.texts(found["about"][1], "clarify.about")
        phrases = [(normal(text), item) for text, item in texts]
        for phrase, item in phrases:
            if not phrase:
                draft.problems.add(item, "an entry of clarify.about holds no word")
        draft.configs[NAME] = tuple(p for p, _ in phrases if p)

    def finish(self, draft: Draft) -> Check | None:
        clarifies = draft.decision == "clarify"
        if not clarifies and NAME not in draft.configs:
            return None
        return ClarifyCheck(draft.configs.get(NAME, ()), clarifies, draft.configs.get(CLAIM))


PLUGIN = _Kind()
