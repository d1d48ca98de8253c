"""`never`: forbidden calls and outcomes, and what must wait."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Run
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

REFUND, SEARCH = call("issue_refund"), call("search_orders", ok=True)
PLAIN = "{never: [issue_refund, effect:metadata]}"
WAIT = '{never: ["effect:write before search_orders ok"]}'


@pytest.mark.parametrize(
    ("expect", "given", "selection", "sequencing", "said"),
    [
        (PLAIN, run(SEARCH), "pass", "n/a", "never called"),
        (PLAIN, run(SEARCH, REFUND), "fail", "n/a", "forbidden: issue_refund"),
        (PLAIN, run(call("list_tools")), "fail", "n/a", "forbidden: list_tools"),
        ("{never: [search_orders]}", run(call("find_orders")), "fail", "n/a", "search_orders"),
        ("{never: [refuse_no_tool]}", run(final="No.", reads="refuse_no_tool"), "fail", "n/a", "refuse_no_tool"),
        ("{never: [refuse_no_tool]}", run(final="Yes."), "pass", "n/a", ""),
        (WAIT, run(SEARCH), "pass", "n/a", ""),
        (WAIT, run(SEARCH, REFUND), "pass", "pass", ""),
        (WAIT, run(REFUND), "fail", "fail", "before any call of search_orders; search_orders was never called"),
        (WAIT, run(REFUND, SEARCH), "fail", "fail", "search_orders came later"),
        (WAIT, run(call("search_orders", ok=False), REFUND), "fail", "fail", "had failed"),
        (WAIT, run(call("search_orders", ok=False), SEARCH, REFUND), "pass", "pass", ""),
        (WAIT, run(call("search_orders", result=True), REFUND), "needs_review", "needs_review", "does not say"),
        (WAIT, run(call("search_orders"), REFUND), "needs_review", "needs_review", "does not say"),
        (
            WAIT,
            run(call("search_orders", ok=True, turn=1), call("cancel_order", turn=1)),
            "fail",
            "fail",
            "one message",
        ),
        ('{never: ["issue_refund before get_policy"]}', run(call("get_policy", ok=False), REFUND), "pass", "pass", ""),
    ],
)
def test_never(expect: str, given: Run, selection: str, sequencing: str, said: str) -> None:
    layers = verdict(expect, given).layers
    assert (layers["selection"].status, layers["sequencing"].status) == (selection, sequencing)
    assert said in layers["selection"].explanation


def test_the_evidence_names_what_was_forbidden() -> None:
    evidence = verdict(PLAIN, run(SEARCH, REFUND)).layers["selection"].evidence
    assert evidence["forbidden_observed"] == ["issue_refund"]


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ('{never: ["issue_refund befor search_orders"]}', "never cannot read"),
        ('{never: ["none before search_orders"]}', "outcome without a call"),
        ("{never: [effect:handof]}", "did you mean 'handoff'?"),
        ("{first: [search_orders], never: [search_orders]}", "never forbids 'search_orders', which first lists"),
        ("{first: [search_orders], never: [effect:read]}", "never forbids 'search_orders', which first lists"),
        ("{eventually: [search_orders], never: [find_orders]}", "which eventually lists"),
        ("{never: [update_usr]}", "the policy does not name the tool 'update_usr'"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)
