"""`ended`: a run at the limit of turns was cut off."""

from __future__ import annotations

import pytest

from tests.builders import call, run
from tests.rules.suites import problems_in, verdict


@pytest.mark.parametrize(("calls", "status"), [(1, "pass"), (2, "fail"), (3, "fail")])
def test_ended(calls: int, status: str) -> None:
    found = verdict("{ended: {before_turn: 3}}", run(*[call("search_orders")] * calls, final="done"))
    assert found.layers["outcome"].status == status, found.layers["outcome"].explanation


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{ended: true}", "ended must be a mapping"),
        ("{ended: {}}", "ended says no turn"),
        ("{ended: {before_turn: 0}}", "a whole number from 1"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert said in problems_in(expect)[0]
