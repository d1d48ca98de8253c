"""`{judge: "..."}`: never a pass without an answer, never asked where the deterministic part decides (R26)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from otel_toolselect.judge import judge_run
from otel_toolselect.model.questions import Answer, Question
from otel_toolselect.model.verdicts import LayerVerdict
from tests.builders import call, run
from tests.rules.suites import problems_in, suite_of


class Scripted:
    """Answers as told, and keeps what it was asked."""

    def __init__(self, answer: Callable[[Question], bool | None]) -> None:
        self.answer = answer
        self.asked: list[Question] = []

    def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return Answer(self.answer(question), "as scripted", "prompt", "reply", "m-1")


def yes(question: Question) -> bool:
    return True


def no(question: Question) -> bool:
    return False


def silent(question: Question) -> None:
    return None


def arguments(written: str, value: Any, asker: Scripted | None) -> LayerVerdict:
    suite = suite_of(f"{{args: {{book: {{x: {written}}}}}}}")
    return judge_run(run(call("book", {"x": value})), suite.cases[0], suite, asker).layers["arguments"]


BROKEN = '{judge: "says that it is broken"}'


def test_without_a_judge_it_is_for_review_and_says_why() -> None:
    found = arguments(BROKEN, "kaputt", None)
    assert found.status == "needs_review"
    assert "no judge is configured" in found.explanation
    assert "says that it is broken" in found.explanation


@pytest.mark.parametrize(("answer", "status"), [(yes, "pass"), (no, "fail"), (silent, "needs_review")])
def test_the_answer_decides_and_is_recorded(answer: Callable[[Question], bool | None], status: str) -> None:
    asker = Scripted(answer)
    found = arguments(BROKEN, "kaputt", asker)
    assert found.status == status
    (record,) = found.evidence["judge"]
    assert (record["model"], record["prompt"], record["reply"]) == ("m-1", "prompt", "reply")
    assert asker.asked == [Question("Is it true that the text says that it is broken?", (("text", "kaputt"),))]


@pytest.mark.parametrize(
    ("written", "value", "status"),
    [
        (BROKEN, 5, "fail"),  # no text
        (BROKEN, " ", "fail"),
        (f"{{one_of: [kaputt, {BROKEN}]}}", "kaputt", "pass"),  # another option fits
        (f"{{text: {BROKEN}, n: 1}}", {"text": "kaputt", "n": 2}, "fail"),  # another member does not
        (f"{{contains: [{BROKEN}, z]}}", ["kaputt"], "fail"),
    ],
)
def test_nothing_is_asked_where_the_rest_decides(written: str, value: Any, status: str) -> None:
    asker = Scripted(silent)
    assert arguments(written, value, asker).status == status
    assert asker.asked == []


@pytest.mark.parametrize(
    ("written", "value", "status"),
    [
        (f"{{one_of: [whole, {BROKEN}]}}", "kaputt", "needs_review"),
        (f"{{one_of: [whole, {BROKEN}]}}", "whole", "pass"),
        (f"{{set: [{BROKEN}, a]}}", ["a", "kaputt"], "needs_review"),
        (f"{{note: {BROKEN}}}", {"note": "kaputt"}, "needs_review"),
        (f"[{BROKEN}, 1]", ["kaputt", 1], "needs_review"),
    ],
)
def test_what_is_undecided_inside_stays_undecided_outside(written: str, value: Any, status: str) -> None:
    assert arguments(written, value, Scripted(silent)).status == status


def test_one_question_is_asked_once_per_run() -> None:
    asker = Scripted(yes)
    suite = suite_of(f"{{args: {{book: {{x: {BROKEN}, y: {BROKEN}}}}}}}")
    calls = [call("book", {"x": "kaputt", "y": "kaputt"})] * 3
    assert judge_run(run(*calls), suite.cases[0], suite, asker).layers["arguments"].status == "pass"
    assert len(asker.asked) == 1


def test_calls_are_judged_one_by_one() -> None:
    suite = suite_of(f"{{args: {{book: {{x: {BROKEN}}}}}}}")
    given = run(call("book", {"x": "a"}), call("book", {"x": 1}), call("book", {"x": "b"}))
    found = judge_run(given, suite.cases[0], suite, Scripted(lambda q: True if q.about[0][1] == "a" else None))
    assert [f.status for f in found.findings if f.check == "args"] == ["pass", "fail", "needs_review"]


@pytest.mark.parametrize("written", ['{judge: "."}', "{judge: 5, x: 1}", f"{{judge: {'a ' * 400}}}", "{judge: []}"])
def test_mistakes(written: str) -> None:
    found = problems_in(f"{{args: {{book: {{x: {written}}}}}}}")
    assert found or written == "{judge: 5, x: 1}"  # the last is a nested object
