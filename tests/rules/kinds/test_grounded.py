"""`grounded`: values from the conversation or from earlier results (R31)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.model.runs import Run, ToolDefinition, Unknown
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

REQUEST = "Refund order A-1001 of Zoë Müller, +49 30 1234567, 79,90 EUR; to New York next tuesday or 11 November"
FRIDAY = 1_793_361_600 * 10**9  # 2026-10-30


@pytest.mark.parametrize(
    ("value", "good"),
    [
        ("A-1001", True), ("a-1001", True), ("A-100", False), ("1001", True), ("00000", False), (79.9, True),
        ("79.90", True), (79, False), ("zoe muller", False), ("Zoë Müller", True), ("New York", True), ("York", True),
        ("Yor", False), ("+49301234567", True), (None, True), (True, True), ("", True), (["A-1001"], True),
        (["A-1001", "A-1002"], False), ({"id": "A-1002"}, False), ("2026-11-03", True), ("2026-11-11", True),
        ("2026-11-04", False), ("2026-11-03T10:00:00Z", True), ("C-42", False), ("refund for order", False),
        ("order Refund", True), ("express", True),
    ],
)  # fmt: skip
def test_values(value: Any, good: bool) -> None:
    tools = [ToolDefinition("book", schema={"properties": {"x": {"default": "express"}}})]
    given = run(call("book", {"x": value}), request=REQUEST, start_ns=FRIDAY, tools=tools)
    layer = verdict("{grounded: [book.x]}", given).layers["arguments"]
    assert layer.status == ("pass" if good else "fail"), layer.explanation


FOUND = call("search_orders", ok=True, value={"orders": [{"id": "C-42", "n": 7}], "note": "see Z-9 there"})


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (run(FOUND, call("book", {"x": "C-42"}), request="hi"), "pass"),
        (run(FOUND, call("book", {"x": 7}), request="hi"), "pass"),
        (run(FOUND, call("book", {"x": "Z-9"}), request="hi"), "pass"),
        (run(call("book", {"x": "C-42"}), FOUND, request="hi"), "fail"),
        (run(call("book", {"x": "C-42"}), request="hi", final="C-42"), "fail"),
        (run(call("book", {"x": "C-42"}), request="and that?", history=("show C-42",)), "pass"),
        (run(call("book", {"x": "C-42"})), "needs_review"),
        (run(call("search_orders", ok=True, value=Unknown("off")), call("book", {"x": 1}), request=""), "needs_review"),
        (run(call("book", Unknown("off")), request="hi"), "needs_review"),
        (run(FOUND, request="hi"), "n/a"),
    ],
)
def test_sources(given: Run, status: str) -> None:
    layer = verdict("{grounded: [book.x]}", given).layers["arguments"]
    assert layer.status == status, layer.explanation


def test_a_tool_alone_means_all_of_its_arguments() -> None:
    given = run(call("book", {"x": "A-1", "y": {"z": ["00000"]}}), request="order A-1")
    found = verdict("{grounded: [book]}", given)
    assert 'y "00000" stands neither' in found.layers["arguments"].explanation
    assert found.failure == "invalid_arguments"
    assert verdict("{grounded: [book.y.z]}", given).layers["arguments"].status == "fail"
    assert verdict("{grounded: [book.y.q]}", given).layers["arguments"].status == "pass"


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{grounded: [bok.x]}", "did you mean 'book'?"),
        ("{grounded: [book.]}", "names no place"),
        ("{grounded: [book.x, book.x]}", "stands twice"),
        ("{grounded: book.x}", "must be a list"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)
