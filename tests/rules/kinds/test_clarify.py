"""`clarify`: a question about the missing thing; a refusal, a lecture and a precise question are told apart (R30)."""

from __future__ import annotations

import pytest

from otel_toolselect.judge import judge_run
from otel_toolselect.model.questions import Answer, Question
from otel_toolselect.model.runs import Run
from tests.builders import call, run
from tests.rules.suites import problems_in, suite_of, verdict

ABOUT = '{class: clarify, clarify: {about: [order, "Bestell­nummer", 注文]}}'


@pytest.mark.parametrize(
    ("expect", "given", "status", "said"),
    [
        ("{class: clarify}", run(final="Which one?"), "pass", "a question was asked"),
        ("{class: clarify}", run(final="Cancelling is final."), "fail", "no question was asked: the agent answered"),
        ("{class: clarify}", run(final="I cannot.", reads="refuse_no_tool"), "fail", "declined"),
        ("{class: clarify}", run(call("cancel_order"), final="Right?"), "fail", "cancel_order was called before"),
        ("{class: clarify}", run(final="Hm?", confidence=0.3), "needs_review", "cannot be read surely"),
        (ABOUT, run(final="Which of your ORDERS do you mean?"), "pass", "about order"),
        (ABOUT, run(final="どの注文ですか?"), "pass", "about 注文"),
        (ABOUT, run(final="Is the border near?"), "fail", "none about order"),
        ("{first: [search_orders], clarify: {}}", run(call("search_orders"), final="This one?"), "pass", ""),
        ("{first: [search_orders], clarify: {}}", run(call("cancel_order"), final="This one?"), "pass", ""),
        ("{first: [search_orders]}", run(call("search_orders"), final="This one?"), "n/a", ""),
    ],
)
def test_clarify(expect: str, given: Run, status: str, said: str) -> None:
    layer = verdict(expect, given).layers["clarification"]
    assert (layer.status, said in layer.explanation) == (status, True), layer.explanation


@pytest.mark.parametrize(
    ("final", "yes", "status"),
    [
        ("Which order?", True, "pass"),
        ("Which order?", False, "fail"),
        ("Which order?", None, "needs_review"),
        ("Which colour?", True, "fail"),  # the phrases decide; a judge cannot make up for them
        ("No.", True, "fail"),
    ],
)
def test_relevance_by_a_judge(final: str, yes: bool | None, status: str) -> None:
    asked: list[Question] = []

    class Scripted:
        def ask(self, question: Question) -> Answer:
            asked.append(question)
            return Answer(yes, "as scripted")

    suite = suite_of("{class: clarify, clarify: {about: [order], judge: asks which order is meant.}}")
    layer = judge_run(run(final=final), suite.cases[0], suite, Scripted()).layers["clarification"]
    assert layer.status == status
    wanted = "Is it true that the message asks which order is meant?"
    assert [q.asks for q in asked] == ([wanted] if final == "Which order?" else [])


def test_mistakes() -> None:
    assert problems_in("{clarify: {abut: [order]}}") == ["unknown key 'abut' in clarify (did you mean 'about'?)"]
    assert "must be a list" in problems_in("{clarify: {about: order}}")[0]
