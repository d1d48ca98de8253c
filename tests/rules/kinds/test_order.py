"""`order`: which call must wait for which."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_toolselect.model.runs import Run, ToolCall, ToolResult
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

OK = "{order: [{first: search_orders, then: issue_refund, needs: ok}]}"
ANY = "{order: [{first: search_orders, then: issue_refund}]}"
REFUND = call("issue_refund")


@pytest.mark.parametrize(
    ("expect", "given", "status", "said"),
    [
        (OK, run(call("search_orders", ok=True), REFUND), "pass", "order kept"),
        (OK, run(call("find_orders", ok=True), REFUND), "pass", ""),
        (OK, run(call("search_orders", ok=False), REFUND), "fail", "although search_orders had failed"),
        (OK, run(REFUND, call("search_orders", ok=True), REFUND), "fail", "before any call of search_orders"),
        (OK, run(call("search_orders"), REFUND), "needs_review", "does not say"),
        (OK, run(call("search_orders", ok=True)), "n/a", ""),
        (OK, run(final="Hi."), "n/a", ""),
        (ANY, run(call("search_orders", ok=False), REFUND), "pass", ""),
        (ANY, run(call("search_orders", turn=1), call("issue_refund", turn=1)), "pass", ""),
        (ANY, run(REFUND), "fail", "search_orders was never called"),
    ],
)
def test_order(expect: str, given: Run, status: str, said: str) -> None:
    layers = verdict(expect, given).layers
    assert (layers["sequencing"].status, said in layers["sequencing"].explanation) == (status, True)
    assert layers["selection"].status == "n/a"


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{order: [{first: search_orders}]}", "has no 'then'"),
        ("{order: [{first: search_orders, then: find_orders}]}", "cannot wait for itself"),
        ("{order: [{first: search_orders, then: book, needs: okay}]}", "needs cannot be 'okay'"),
        ("{order: [{frist: search_orders, then: book}]}", "did you mean 'first'?"),
        ("{order: {first: search_orders, then: book}}", "order must be a list"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)


@pytest.mark.parametrize(
    ("emitted", "start", "status"), [(False, 150, "pass"), (False, 149, "fail"), (True, 150, "fail")]
)
def test_without_model_spans_the_clock_tells_what_was_known(emitted: bool, start: int, status: str) -> None:
    plain = run(call("search_orders", ok=True, turn=1), call("book", turn=1))
    first, second, result = plain.events
    assert isinstance(first, ToolCall)
    assert isinstance(second, ToolCall)
    assert isinstance(result, ToolResult)
    events = (
        replace(first, emitted=emitted, start_ns=100),
        replace(second, emitted=emitted, start_ns=start),
        replace(result, duration_ns=50),
    )
    found = verdict("{order: [{first: search_orders, then: book, needs: ok}]}", replace(plain, events=events))
    assert found.layers["sequencing"].status == status
