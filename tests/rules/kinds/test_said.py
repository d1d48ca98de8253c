"""`said`: any assistant text of the run, case and commas aside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_toolselect.model.runs import AssistantText
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict


@pytest.mark.parametrize(
    ("texts", "final", "status"),
    [
        ('["1000"]', "That is 1,000 in total.", "pass"),
        ("[Boston]", "flying to BOSTON", "pass"),
        ('["1000", "7"]', "That is 1,000 in total.", "fail"),
        ('["7"]', None, "fail"),
    ],
)
def test_said(texts: str, final: str | None, status: str) -> None:
    found = verdict(f"{{said: {texts}}}", run(call("search_orders"), final=final)).layers["outcome"]
    assert found.status == status, found.explanation


def test_thinking_aloud_beside_a_call_is_not_said() -> None:
    thinking = run(call("search_orders"))
    thinking = replace(thinking, events=(*thinking.events, AssistantText(1, 1, "it will be 1,000", "test")))
    assert verdict('{said: ["1000"]}', thinking).layers["outcome"].status == "fail"
    later = replace(thinking, events=(*thinking.events, AssistantText(2, 2, "it is 1,000", "test")))
    assert verdict('{said: ["1000"]}', later).layers["outcome"].status == "pass"


def test_mistakes() -> None:
    assert problems_in("{said: []}") == ["said lists nothing (take it out)"]
    assert "must be a list" in problems_in("{said: 7}")[0]
