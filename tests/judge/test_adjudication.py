"""Adjudication (R37): an opinion beside a failure, shown and recorded, that never changes a verdict."""

from __future__ import annotations

import pytest

from otel_toolselect.judge import adjudicate, judge
from otel_toolselect.model.questions import Answer, Question
from tests.builders import call, run
from tests.rules.suites import suite_of


class Opinion:
    def __init__(self, yes: bool | None) -> None:
        self.yes = yes
        self.asked: list[Question] = []

    def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return Answer(self.yes, "as scripted", "prompt", "reply", "m-1")


@pytest.mark.parametrize("yes", [True, False, None])
def test_the_verdict_stands_whatever_the_judge_says(yes: bool | None) -> None:
    suite = suite_of("{first: [search_orders]}")
    given = run(call("get_policy", {"q": "x" * 5000}), case_id="c", request="find my order")
    before = judge([given], suite)
    opinion = Opinion(yes)
    after = adjudicate(before, {given.run_id: given}, opinion).runs[0]
    was = before.runs[0]
    assert {k: v.status for k, v in after.layers.items()} == {k: v.status for k, v in was.layers.items()}
    assert (after.failure, after.cells, after.excluded) == (was.failure, was.cells, was.excluded)
    record = after.layers["selection"].evidence["adjudication"]
    assert (record["prompt"], record["model"]) == ("prompt", "m-1")
    assert record["answer"] == {True: "yes", False: "no", None: "undecided"}[yes]
    shown = after.layers["selection"].explanation
    assert shown.startswith(was.layers["selection"].explanation)
    assert ("legitimate alternative" in shown) == (yes is False)
    said = dict(opinion.asked[0].about)
    assert said["request"] == "find my order"
    assert "unexpected call get_policy" in said["the rule's complaint"]
    assert "calls get_policy with" in said["what the agent did"]
    assert len(said["what the agent did"]) < 1000


@pytest.mark.parametrize(
    ("expect", "given"),
    [
        ("{first: [search_orders]}", run(call("search_orders"), case_id="c")),  # passed
        ("{never: [issue_refund]}", run(call("issue_refund"), case_id="c")),  # nothing excuses it
        ("{first: [search_orders]}", run(incomplete="no end", case_id="c")),  # excluded
    ],
)
def test_what_is_not_asked_about(expect: str, given: object) -> None:
    opinion = Opinion(False)
    adjudicate(judge([given], suite_of(expect)), {"r1": given}, opinion)  # type: ignore[list-item, dict-item]
    assert opinion.asked == []
