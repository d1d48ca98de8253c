"""`cel`: expressions, compiled at load, bounded in time."""

from __future__ import annotations

import time
from typing import Any

import pytest

from otel_toolselect.model.runs import Unknown
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

CALLS = (
    call("find_orders", {"n": 1, "tags": ["a", "b"]}, ok=True, value={"orders": [{"id": "A-1"}]}),
    call("search_orders", {"n": 2}, ok=False, error="busy"),
    call("book", Unknown("off")),
)


@pytest.mark.parametrize(
    ("expr", "status"),
    [
        ("size(calls.filter(c, c.name == 'search_orders')) <= 2", "pass"),
        ("size(calls.filter(c, c.name == 'search_orders')) <= 1", "fail"),
        ("calls.exists(c, c.ok == false && c.error_type == 'busy')", "pass"),
        ("calls.filter(c, c.effect == 'read').all(c, c.args.n < 3)", "pass"),
        ("calls[0].result.orders[0].id == 'A-1'", "pass"),
        ("answer.contains('Done') && request == 'do it'", "pass"),
        ("first_action == 'search_orders' && outcome == 'none'", "pass"),
        ("duration_s < 2.0", "pass"),
        ("tokens == null", "pass"),
        ("calls[2].args == null", "pass"),
        ("calls.all(c, c.args.n > 0)", "needs_review"),
        ("size(calls)", "needs_review"),
        ("calls[9].name == 'x'", "needs_review"),
        ("answer.matches('(D+)+one')", "pass"),
        ("answer != '.map(x, y.map(z, w.map(q, q)))'", "pass"),
    ],
)
def test_expressions(expr: str, status: str) -> None:
    given = run(*CALLS, request="do it", final="Done.", duration_ns=10**9)
    layer = verdict(f'{{cel: ["{expr}"]}}', given).layers["selection"]
    assert layer.status == status, layer.explanation


def test_an_expression_may_say_what_it_means_and_where_it_counts() -> None:
    found = verdict('{cel: [{expr: "size(calls) < 3", says: two calls at most, layer: efficiency}]}', run(*CALLS))
    assert (found.layers["efficiency"].status, found.layers["selection"].status) == ("fail", "n/a")
    assert found.layers["efficiency"].explanation == "two calls at most: false"


def test_a_run_that_is_too_large_is_not_evaluated() -> None:
    started = time.process_time()
    given = run(*(call("book", turn=1) for _ in range(1000)))
    layer = verdict('{cel: ["calls.all(a, calls.all(b, a == b))"]}', given).layers["selection"]
    assert (layer.status, "not evaluated" in layer.explanation) == ("needs_review", True)
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("{cel: ['1 +']}", "cel cannot read '1 +'"),
        ("{cel: ['size(cals) < 3']}", "cel does not know 'cals' (did you mean 'calls'?)"),
        ("{cel: ['[1].all(a, [1].all(b, [1].all(c, true)))']}", "might not end"),
        ("{cel: ['[1].all/**/(a, true)']}", "cel cannot read"),
        ('{cel: ["[1].all // x\\n(a, [1].map//\\n(b, [1].all(c, true)))"]}', "might not end"),
        ("""{cel: ["r'\\\\' == '' || [1].all(a, [1].all(b, [1].all(c, c == 'x')))"]}""", "might not end"),
        (f"{{cel: ['{'a' * 2001}']}}", "the limit is 2,000"),
        (f"{{cel: ['{'(' * 50}1{')' * 50}']}}", "nested deeper"),
        ("{cel: size(calls) < 3}", "must be a list"),
        ("{cel: [{says: x}]}", "has no 'expr'"),
        ("{cel: [{expr: 'true', layer: cost}]}", "layer cannot be 'cost'"),
    ],
)
def test_mistakes(written: str, said: str) -> None:
    assert any(said in p for p in problems_in(written)), problems_in(written)


def test_without_the_library_the_key_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("otel_toolselect.rules.extras.find_spec", lambda name: None)
    assert "pip install otel-toolselect[cel]" in problems_in("{cel: ['true']}")[0]


def test_values_that_cel_cannot_take_are_told() -> None:
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    for value in (deep, 2**70, "\ud800", float("nan"), {"\udc00": 1}):
        layer = verdict("{cel: ['size(calls) == 1']}", run(call("book", ok=True, value=value))).layers["selection"]
        assert layer.status in ("pass", "needs_review"), layer.explanation
