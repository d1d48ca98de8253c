"""`first`: selection and the confusion cell of it."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Run
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

SEARCH, POLICY, REFUND, MYSTERY = call("search_orders"), call("get_policy"), call("issue_refund"), call("mystery")

TABLE = [
    # expect, run, status, part of the sentence, cell (None: no cell)
    ("{first: [search_orders]}", run(SEARCH), "pass", "search_orders is allowed", ("search_orders", "search_orders")),
    ("{first: [search_orders]}", run(call("find_orders")), "pass", "allowed", ("search_orders", "search_orders")),
    ("{first: [find_orders]}", run(SEARCH), "pass", "allowed", ("search_orders", "search_orders")),
    ("{first: [search_orders]}", run(call("list_tools"), SEARCH), "pass", "", ("search_orders", "search_orders")),
    ("{first: [search_orders]}", run(call("to_human"), SEARCH), "pass", "", ("search_orders", "search_orders")),
    ("{first: [search_orders]}", run(POLICY, SEARCH), "fail", "call get_policy", ("search_orders", "get_policy")),
    ("{first: [search_orders, get_policy]}", run(POLICY), "pass", "", ("get_policy", "get_policy")),
    ("{first: [search_orders, get_policy]}", run(REFUND), "fail", "", ("search_orders", "issue_refund")),
    ("{first: [search_orders]}", run(final="Hi."), "fail", "missing call search_orders", ("search_orders", "none")),
    ("{first: [search_orders]}", run(final="Hi.", confidence=0.1), "fail", "missing", ("search_orders", "none")),
    ("{first: [search_orders]}", run(final="Which?"), "fail", "asked", ("search_orders", "ask_followup")),
    ("{first: [effect:read]}", run(POLICY), "pass", "", ("get_policy", "get_policy")),
    ("{first: [effect:read]}", run(MYSTERY), "fail", "expected effect:read", ("effect:read", "mystery")),
    ("{first: [none]}", run(final="4."), "pass", "answered", ("none", "none")),
    ("{first: [none]}", run(final="Which?"), "fail", "expected none", ("none", "ask_followup")),
    ("{first: [none]}", run(final="Hm.", confidence=0.3), "needs_review", "confidence 0.30", None),
    ("{first: [none, ask_followup, refuse_no_tool]}", run(final="Hm.", confidence=0.1), "pass", "", ("none", "none")),
    ("{class: none}", run(SEARCH, final="4."), "fail", "unexpected call search_orders", ("none", "search_orders")),
    ("{class: none, first: [none, effect:read]}", run(SEARCH), "pass", "", ("search_orders", "search_orders")),
    ("{class: none, first: [none, effect:read]}", run(SEARCH, REFUND), "fail", "issue_refund", None),
    ("{class: refuse}", run(final="No.", reads="refuse_no_tool"), "pass", "", ("refuse_no_tool", "refuse_no_tool")),
    ("{class: refuse}", run(final="It is 4."), "fail", "answered", ("refuse_no_tool", "none")),
    ("{class: clarify}", run(final="Which order?"), "pass", "asked", ("ask_followup", "ask_followup")),
    ("{class: clarify}", run(final="A lecture."), "fail", "no question was asked", ("ask_followup", "none")),
    ("{class: clarify}", run(final="Hm?", confidence=0.4), "needs_review", "0.40", None),
    ("{class: clarify}", run(SEARCH, final="Which order?"), "pass", "after reads", ("ask_followup", "ask_followup")),
    ("{class: clarify}", run(SEARCH, final="Done."), "fail", "no question", ("ask_followup", "search_orders")),
    ("{class: clarify}", run(REFUND, final="Right?"), "fail", "issue_refund was", ("ask_followup", "issue_refund")),
    ("{class: clarify}", run(MYSTERY, final="Right?"), "fail", "mystery was called", ("ask_followup", "mystery")),
    ("{class: optional, first: [search_orders]}", run(final="Hi."), "pass", "", ("none", "none")),
    ("{class: optional, first: [search_orders]}", run(SEARCH), "pass", "", ("search_orders", "search_orders")),
    ("{class: optional, first: [search_orders]}", run(POLICY), "fail", "", ("search_orders", "get_policy")),
    ("{class: optional}", run(POLICY), "pass", "", None),
    ("{class: optional}", run(POLICY, tools=["search_orders"]), "fail", "not offered", None),
    ("{class: required, eventually: [get_policy]}", run(POLICY), "pass", "", ("get_policy", "get_policy")),
    ("{class: multi_step, eventually: [get_policy]}", run(SEARCH, POLICY), "pass", "", None),
]  # fmt: skip


@pytest.mark.parametrize(("expect", "given", "status", "said", "cell"), TABLE)
def test_first(expect: str, given: Run, status: str, said: str, cell: tuple[str, str] | None) -> None:
    found = verdict(expect, given)
    selection = found.layers["selection"]
    assert (selection.status, said in selection.explanation) == (status, True), selection.explanation
    if cell is not None or status == "needs_review":
        assert [(c.expected, c.observed) for c in found.cells] == ([cell] if cell else [])


def test_a_class_none_with_a_later_side_effect_keeps_its_first_action_on_the_diagonal() -> None:
    found = verdict("{class: none, first: [none, effect:read]}", run(SEARCH, REFUND))
    assert [(c.expected, c.observed) for c in found.cells] == [("search_orders", "search_orders")]


@pytest.mark.parametrize(
    ("expect", "case", "said"),
    [
        ("{first: []}", "", "first is an empty list"),
        ("{first: [serch_orders]}", "", "did you mean 'search_orders'?"),
        ("{first: [list_tools]}", "", "can never be the first consequential action"),
        ("{first: [effect:metadata]}", "", "can never be the first consequential action"),
        ("{first: [effect:wite]}", "", "unknown effect 'wite' (did you mean 'write'?)"),
        ("{first: [get_policy]}", "tools: [search_orders]", "not among the case's tools"),
        ("{first: search_orders}", "", "write a list: [search_orders]"),
        ("{first: [search_orders, search_orders]}", "", "listed twice"),
        ("{class: required, first: [none]}", "", "class required needs a call"),
        ("{class: none, first: [issue_refund]}", "", "class none must allow none"),
        ("{class: none, first: [none, issue_refund]}", "", "its effect is not read"),
    ],
)
def test_mistakes(expect: str, case: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect, case=case)), problems_in(expect, case=case)
