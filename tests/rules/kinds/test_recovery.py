"""`recovery`: failing calls and what was done about them (R33)."""

from __future__ import annotations

import pytest

from tests.builders import Planned, call, run
from tests.rules.suites import problems_in, verdict


def failed(n: int, name: str = "search_orders") -> Planned:
    return call(name, {"n": n}, ok=False, error="no such order")


GOOD = call("search_orders", {"n": 1}, ok=True)


@pytest.mark.parametrize(
    ("limits", "calls", "status", "then"),
    [
        ("{max_same_failure: 1}", [GOOD], "n/a", None),
        ("{max_same_failure: 1}", [failed(1), GOOD], "pass", ["the same call"]),
        ("{max_same_failure: 1}", [failed(1), failed(1)], "fail", ["the same call", "none"]),
        ("{max_same_failure: 2}", [failed(1), failed(1)], "pass", ["the same call", "none"]),
        (
            "{max_same_failure: 1}",
            [failed(1), failed(2), call("get_policy")],
            "pass",
            ["the same tool, other arguments", "get_policy"],
        ),
        ("{max_failures: 1}", [failed(1), failed(2)], "fail", ["the same tool, other arguments", "none"]),
        ("{max_failures: 0}", [failed(1)], "fail", ["none"]),
    ],
)
def test_recovery(limits: str, calls: list[Planned], status: str, then: list[str] | None) -> None:
    layer = verdict(f"{{recovery: {limits}}}", run(*calls, final="Done.")).layers["efficiency"]
    assert layer.status == status, layer.explanation
    if then is not None:
        assert [n["then"] for n in layer.evidence["next"]] == then


def test_a_loop_is_a_recovery_loop() -> None:
    found = verdict("{recovery: {max_same_failure: 1}}", run(failed(1), failed(1), GOOD, final="Done."))
    assert (found.failure, found.layers["efficiency"].evidence["recovered"]) == ("recovery_loop", 2)


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{recovery: {}}", "limits nothing"),
        ("{recovery: {max_same_failure: 0}}", "whole number from 1"),
        ("{recovery: {max_same_failures: 1}}", "did you mean 'max_same_failure'?"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)
