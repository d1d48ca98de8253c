"""`answer`: phrases, citing what tools returned, contradicting none of it (R34)."""

from __future__ import annotations

import time
from typing import Any

import pytest

from otel_toolselect.judge import judge_run
from tests.builders import call, run
from tests.rules.suites import problems_in, suite_of, verdict

ORDER = {"id": "A-1001", "total": 79.9, "itemCount": 3, "status": "shipped", "eta": "2026-11-03"}


@pytest.mark.parametrize(
    ("expect", "final", "status", "said"),
    [
        ("{contains: [refund]}", "Your Refund is on its way.", "pass", ""),
        ("{contains: [refund]}", "We prefund it.", "fail", "does not say 'refund'"),
        ("{contains: ['79.90']}", "It was 79,90 EUR.", "pass", ""),
        ("{contains: ['79.90']}", "It was 79.95 EUR.", "fail", "does not say '79.90'"),
        ("{contains: [refund, order]}", "The refund.", "fail", "'order'"),
        ("{not_contains: [guarantee]}", "We guarantee it.", "fail", "says 'guarantee'"),
        ("{not_contains: [guarantee]}", "Fine.", "pass", ""),
        ("{cites_results: true}", "Order A-1001 has shipped.", "pass", ""),
        ("{cites_results: true}", "Its total is 79,90 €.", "pass", ""),
        ("{cites_results: true}", "All is well.", "fail", "cites nothing"),
        ("{consistent: true}", "All is well.", "pass", ""),
        (
            "{consistent: true}",
            "The total is 89.90 EUR.",
            "fail",
            "total 89.90 where search_orders.total returned 79.9",
        ),
        ("{consistent: true}", "The total is 79.90 EUR.", "pass", ""),
        ("{consistent: true}", "Order A-1002 has shipped.", "fail", "a-1002 where search_orders.id returned A-1001"),
        ("{consistent: true}", "You asked for A-9999; I found A-1001.", "pass", ""),
        ("{consistent: true}", "The item count is 4.", "fail", "item count 4"),
        ("{cites_results: true}", "Order A-1001, total 89.90.", "fail", "total 89.90"),
        ("{cites_results: true, consistent: false}", "Order A-1001, total 89.90.", "pass", ""),
        ("{contains: [x]}", None, "fail", "no final answer"),
    ],
)
def test_answer(expect: str, final: str | None, status: str, said: str) -> None:
    given = run(call("search_orders", {"q": "all"}, ok=True, value=[ORDER]), request="Where is A-9999?", final=final)
    layer = verdict(f"{{answer: {expect}}}", given).layers["outcome"]
    assert (layer.status, said in layer.explanation) == (status, True), layer.explanation


@pytest.mark.parametrize("value", [None, {}, {"ok": True}, {"n": 1}, {"n": float("nan")}])
def test_nothing_to_cite_is_no_citation(value: Any) -> None:
    layer = verdict("{answer: {cites_results: true}}", run(call("book", ok=True, value=value), final="1 ok")).layers
    assert "no tool returned a value" in layer["outcome"].explanation


def test_a_failed_call_returned_nothing() -> None:
    given = run(call("book", ok=False, value={"id": "B-77"}), final="B-77")
    assert verdict("{answer: {cites_results: true}}", given).layers["outcome"].status == "fail"


def test_an_incomplete_run_has_not_failed() -> None:
    assert verdict("{answer: {contains: [x]}}", run(call("book"), incomplete="no end")).excluded == "incomplete"


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{answer: {}}", "answer expects nothing"),
        ("{answer: [x]}", "answer must be a mapping"),
        ("{answer: {contain: [x]}}", "did you mean 'contains'?"),
        ("{answer: {contains: refund}}", "must be a list"),
        ("{answer: {contains: [a], not_contains: [A]}}", "wants and forbids 'a'"),
        ("{answer: {cites_results: yes}}", "must be true or false"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)


def test_a_hostile_run_costs_a_bounded_time() -> None:
    value = [{f"member{i}": f"X-{i:06d}"} for i in range(40_000)]
    final = "total X-99 member1 " * 20_000
    given = run(call("book", {"x": [f"v{i}" for i in range(5_000)]}, ok=True, value=value), final=final, request=final)
    started = time.process_time()
    suite = suite_of("{answer: {cites_results: true}, grounded: [book]}")
    judge_run(given, suite.cases[0], suite)
    assert time.process_time() - started < 10
