"""`class`: the abstention layer, both ways (R29)."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Run
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

READ, WRITE, META = call("search_orders"), call("issue_refund"), call("list_tools")


@pytest.mark.parametrize(
    ("expect", "given", "status", "said"),
    [
        ("{class: none}", run(final="4."), "pass", ""),
        ("{class: none}", run(META, final="4."), "pass", ""),
        ("{class: none}", run(READ, final="4."), "fail", "unneeded read: search_orders"),
        ("{class: none}", run(WRITE, final="4."), "fail", "issue_refund was called, which may change something"),
        ("{class: none}", run(call("mystery"), final="4."), "fail", "the policy declares no effect"),
        ("{class: none, first: [none, effect:read]}", run(READ), "pass", ""),
        ("{class: refuse}", run(final="No.", reads="refuse_no_tool"), "pass", ""),
        ("{class: refuse}", run(READ, final="No.", reads="refuse_no_tool"), "fail", "unneeded read"),
        ("{class: clarify}", run(READ, final="Which?"), "pass", ""),
        ("{class: clarify}", run(WRITE, final="Which?"), "fail", "issue_refund"),
        ("{class: required, first: [search_orders]}", run(READ), "pass", ""),
        ("{class: required, first: [search_orders]}", run(META, final="Yes."), "fail", "no tool was called"),
        ("{class: multi_step}", run(final="Yes."), "fail", "no tool was called"),
        ("{class: optional}", run(final="Yes."), "n/a", ""),
        ("{never: [issue_refund]}", run(READ), "n/a", ""),
    ],
)
def test_abstention(expect: str, given: Run, status: str, said: str) -> None:
    layer = verdict(expect, given).layers["abstention"]
    assert (layer.status, said in layer.explanation) == (status, True), layer.explanation


@pytest.mark.parametrize(
    ("first", "decision"),
    [
        ("[none]", "none"),
        ("[ask_followup]", "clarify"),
        ("[refuse_no_tool]", "refuse"),
        ("[search_orders]", "required"),
        ("[search_orders, none]", "optional"),
    ],
)
def test_the_class_follows_from_the_first_actions(first: str, decision: str) -> None:
    from tests.rules.suites import suite_of

    assert suite_of(f"{{first: {first}}}").cases[0].expect.decision == decision


def test_mistakes() -> None:
    assert problems_in("{class: requird}") == ["class cannot be 'requird' (did you mean 'required'?)"]
