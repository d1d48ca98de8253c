"""`turns`: later decisions, each with a cell of its own (R8)."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Run
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

EXPECT = "{first: [search_orders], turns: [{at: 2, first: [issue_refund]}]}"
SEARCH, REFUND = call("search_orders", turn=1), call("issue_refund", turn=2)
FIRST = ("search_orders", "search_orders")


@pytest.mark.parametrize(
    ("expect", "given", "status", "said", "cells"),
    [
        (EXPECT, run(SEARCH, REFUND), "pass", "", [FIRST, ("issue_refund", "issue_refund")]),
        (
            EXPECT,
            run(SEARCH, call("book", turn=2)),
            "fail",
            "turn 2: unexpected book",
            [FIRST, ("issue_refund", "book")],
        ),
        (EXPECT, run(SEARCH, call("issue_refund", turn=3)), "fail", "turn 2 was not observed", [FIRST]),
        (EXPECT, run(SEARCH, final="Done."), "fail", "turn 2: unexpected none", [FIRST, ("issue_refund", "none")]),
        (EXPECT, run(SEARCH), "fail", "turn 2: was not observed", [FIRST]),
        ("{turns: [{at: 2, first: [ask_followup]}]}", run(SEARCH, final="Hm?", confidence=0.1), "needs_review", "", []),
    ],
)
def test_turns(expect: str, given: Run, status: str, said: str, cells: list[tuple[str, str]]) -> None:
    found = verdict(expect, given)
    layer = found.layers["selection"]
    assert (layer.status, said.replace("2 was", "2: was") in layer.explanation) == (status, True), layer.explanation
    assert [(c.expected, c.observed) for c in found.cells] == cells


LATER = "{turns: [{at: 2, never: [book], eventually: [issue_refund], args: {issue_refund: {n: 1}}}]}"


@pytest.mark.parametrize(
    ("given", "selection", "arguments", "said"),
    [
        (run(SEARCH, call("issue_refund", {"n": 1}, turn=2)), "pass", "pass", "turn 2: as it must be"),
        (run(SEARCH, call("issue_refund", {"n": 2}, turn=2)), "pass", "fail", ""),
        (run(SEARCH, REFUND, call("book", turn=2)), "fail", "fail", "turn 2: forbidden: book"),
        (run(SEARCH, call("book", turn=3)), "fail", "n/a", "turn 2: was not observed"),
        (run(call("issue_refund", turn=1), call("search_orders", turn=2)), "fail", "n/a", "missing call issue_refund"),
    ],
)
def test_calls_of_a_turn(given: Run, selection: str, arguments: str, said: str) -> None:
    found = verdict(LATER, given)
    assert (found.layers["selection"].status, found.layers["arguments"].status) == (selection, arguments)
    assert said in found.layers["selection"].explanation
    assert found.cells == ()


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{turns: [{at: 0, first: [book]}]}", "at must be a whole number from 1"),
        ("{turns: [{first: [book]}]}", "has no 'at'"),
        ("{turns: [{at: 2, first: [book]}, {at: 2, first: [book]}]}", "turn 2 stands twice"),
        ("{turns: [{at: 2}]}", "nothing but 'at'"),
        ("{turns: [{at: 2, nevr: [book]}]}", "did you mean 'never'?"),
        ("{turns: [{at: 2, args: {bok: {n: 1}}}]}", "did you mean 'book'?"),
        ("{turns: [{at: 2, eventually: [none]}]}", "cannot stand here"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)
