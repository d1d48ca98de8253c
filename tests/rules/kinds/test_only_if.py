"""`only_if`: steps that hang on what a tool returned (R28)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.model.runs import Run, Unknown
from tests.builders import Planned, call, run
from tests.rules.suites import problems_in, verdict


def stock(value: Any, **more: Any) -> Planned:
    return call("search_orders", ok=True, value={"in_stock": value}, **more)


BOOK, POLICY = call("book", ok=True), call("get_policy")
WHEN = "when: {tool: search_orders, path: $.in_stock, equals: false}"
NEVER = f"{{only_if: [{{{WHEN}, never: [book]}}]}}"
MUST = f"{{only_if: [{{{WHEN}, eventually: [get_policy]}}]}}"
NEXT = f"{{only_if: [{{{WHEN}, first: [get_policy, ask_followup]}}]}}"


@pytest.mark.parametrize(
    ("expect", "given", "status", "said"),
    [
        (NEVER, run(stock(True), BOOK), "n/a", ""),
        (NEVER, run(BOOK), "n/a", ""),
        (NEVER, run(stock(False)), "pass", "search_orders returned false at $.in_stock"),
        (NEVER, run(stock(False), BOOK), "fail", "book was called although search_orders returned false"),
        (NEVER, run(stock(False), stock(True), BOOK), "pass", ""),
        (NEVER, run(stock(True), stock(False), BOOK), "fail", ""),
        (NEVER, run(BOOK, stock(False)), "pass", ""),
        (NEVER, run(stock(False, turn=1), call("book", turn=1)), "pass", ""),
        (NEVER, run(stock(Unknown("off")), BOOK), "n/a", ""),
        (NEVER, run(call("search_orders", ok=True, value=Unknown("off")), BOOK), "needs_review", "not recorded"),
        (NEVER, run(call("search_orders", ok=False, value={"in_stock": False}), BOOK), "n/a", ""),
        (NEVER, run(call("search_orders", ok=True, value='{"in_stock": false}'), BOOK), "fail", ""),
        (NEVER, run(stock(0), BOOK), "n/a", ""),
        (MUST, run(stock(False), POLICY), "pass", ""),
        (MUST, run(stock(False), final="No."), "fail", "missing call get_policy"),
        (NEXT, run(stock(False), POLICY, BOOK), "pass", ""),
        (NEXT, run(stock(False), BOOK, POLICY), "fail", "book came next although"),
        (NEXT, run(stock(False), call("list_tools"), POLICY), "pass", ""),
        (NEXT, run(stock(False), final="Shall I wait?"), "pass", ""),
        (NEXT, run(stock(False), final="No."), "fail", "missing call get_policy or ask_followup"),
        ("{only_if: [{when: {tool: search_orders}, never: [book]}]}", run(stock(1), BOOK), "fail", "returned a value"),
        (
            f"{{only_if: [{{{WHEN.replace('false', '{range: [0, 3]}')}, never: [effect:write]}}]}}",
            run(stock(2), BOOK),
            "fail",
            "a number from 0 to 3",
        ),
    ],
)
def test_only_if(expect: str, given: Run, status: str, said: str) -> None:
    layers = verdict(expect, given).layers
    for layer in (layers["selection"], layers["sequencing"]):
        assert (layer.status, said in layer.explanation) == (status, True), layer.explanation


def test_what_stands_behind_a_failure() -> None:
    found = verdict(NEVER, run(stock(False), BOOK))
    assert found.layers["selection"].evidence["forbidden_observed"] == ["book"]
    assert found.failure == "premature_action"
    assert verdict(MUST, run(stock(False), final="No.", incomplete="no end")).excluded == "incomplete"


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{only_if: [{never: [book]}]}", "has no 'when'"),
        (f"{{only_if: [{{{WHEN}}}]}}", "has no consequence"),
        ("{only_if: [{when: {path: $.x}, never: [book]}]}", "when names no tool"),
        ("{only_if: [{when: {tool: search, path: x}, never: [book]}]}", "does not begin at the result"),
        (f"{{only_if: [{{{WHEN}, never: [none]}}]}}", "cannot stand here"),
        (f"{{only_if: [{{{WHEN}, newer: [book]}}]}}", "did you mean 'never'?"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)
