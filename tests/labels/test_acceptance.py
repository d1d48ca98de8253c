"""What the yes/no judge is asked of a run, and what its answers come to (R37)."""

from __future__ import annotations

from collections.abc import Callable

from otel_toolselect.judge.acceptance import opinion
from otel_toolselect.model.questions import Answer, Question
from otel_toolselect.model.runs import ToolDefinition
from otel_toolselect.rules import Policy
from tests.builders import call, run

TOOLS = (ToolDefinition("search", "finds orders"), ToolDefinition("refund", "pays back"), ToolDefinition("mail"))
SUBJECT = run(call("search", ok=True, value="secret"), request="pay me back", tools=TOOLS, history=("hello",))


class Fake:
    def __init__(self, yes: Callable[[str], bool | None]) -> None:
        self.yes = yes
        self.seen: list[Question] = []

    def ask(self, question: Question) -> Answer:
        self.seen.append(question)
        return Answer(self.yes(dict(question.about)["first action"]), "because", "prompt", "reply", "m-1")

    @property
    def actions(self) -> list[str]:
        return [dict(q.about)["first action"] for q in self.seen]


def test_a_yes_is_one_question() -> None:
    asker = Fake(lambda action: True)
    found = opinion(SUBJECT, asker, Policy(), 8)
    assert found is not None
    assert (found.model, found.expected, len(asker.seen)) == ("m-1", ("search",), 1)
    assert found.record["asked"][0]["action"] == "search"
    assert found.record["asked"][0]["answer"] == "yes"


def test_it_sees_request_tools_and_action_and_no_outcome() -> None:
    asker = Fake(lambda action: True)
    opinion(SUBJECT, asker, Policy(), 0)
    (question,) = asker.seen
    about = dict(question.about)
    assert about == {
        "what the user said before": "hello",
        "request": "pay me back",
        "offered tools": "search: finds orders\nrefund: pays back\nmail: ",
        "first action": "calling the tool search",
    }
    assert "secret" not in str(question)


def test_a_no_looks_for_what_is_right_within_its_limit() -> None:
    asker = Fake(lambda action: "refund" in action)
    found = opinion(SUBJECT, asker, Policy(), 8)
    assert found is not None
    assert found.expected == ("refund",)
    assert [entry["action"] for entry in found.record["asked"]] == [
        "search",
        "ask_followup",
        "refuse_no_tool",
        "refund",
    ]
    asker = Fake(lambda action: False)
    found = opinion(SUBJECT, asker, Policy(), 2)
    assert found is not None
    assert (found.expected, len(asker.seen)) == ((), 3)


def test_no_answer_and_no_request_are_no_label() -> None:
    assert opinion(SUBJECT, Fake(lambda action: None), Policy(), 8) is None
    asker = Fake(lambda action: True)
    assert opinion(run(call("search")), asker, Policy(), 8) is None
    assert asker.seen == []
