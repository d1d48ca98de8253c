"""`stale`: values of a subject that the user has left (R31)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.model.runs import Unknown
from tests.builders import Planned, call, run
from tests.rules.suites import problems_in, verdict

FRIDAY = 1_793_361_600 * 10**9  # 2026-10-30
FOUND = call("search_orders", ok=True, value={"id": "A-1001"})


@pytest.mark.parametrize(
    ("history", "request_", "calls", "status"),
    [
        (["Where is A-1001?"], "And A-1002?", [call("book", {"x": "A-1001"})], "fail"),
        (["Where is A-1001?"], "And A-1002?", [call("book", {"x": "A-1002"})], "pass"),
        (["Where is A-1001?"], "Cancel it.", [call("book", {"x": "A-1001"})], "pass"),
        (["Where is A-1001?"], "Swap A-1001 for A-1002.", [call("book", {"x": "A-1001"})], "pass"),
        (["A-1001 and A-1002?"], "Now A-1002.", [call("book", {"x": "A-1001"})], "pass"),
        (["Where is A-1001?"], "And A-1002?", [FOUND, call("book", {"x": "A-1001"})], "pass"),
        (["Flights to Oslo, please."], "And in Bergen?", [call("book", {"x": "Oslo"})], "fail"),
        (["Flights to Oslo, please."], "And hotels?", [call("book", {"x": "Oslo"})], "pass"),
        (["A table for 4."], "Make that 6.", [call("book", {"x": 4})], "fail"),
        (["On 2026-11-03."], "No, on 5 November.", [call("book", {"x": "2026-11-03"})], "fail"),
        (["On 2026-11-03."], "Book it.", [call("book", {"x": "2026-11-03"})], "pass"),
        (["Where is A-1001?"], "And A-1002?", [call("book", Unknown("off"))], "needs_review"),
        ([], "And A-1002?", [call("book", {"x": "A-1001"})], "n/a"),
        (["Where is A-1001?"], None, [call("book", {"x": "A-1001"})], "n/a"),
    ],
)
def test_stale(history: list[str], request_: str | None, calls: list[Planned], status: str) -> None:
    fields: dict[str, Any] = {"history": tuple(history), "request": request_, "start_ns": FRIDAY}
    layer = verdict("{stale: [book.x]}", run(*calls, **fields)).layers["arguments"]
    assert layer.status == status, layer.explanation


def test_mistakes() -> None:
    assert "did you mean 'book'?" in problems_in("{stale: [bok.x]}")[0]
