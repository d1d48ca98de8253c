"""`budget`: calls, reads, redundancy, tokens, time and cost within limits (R35)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

CALLS = (call("search_orders", {"n": 1}), call("search_orders", {"n": 1}), call("get_policy"), call("list_tools"))


@pytest.mark.parametrize(
    ("budget", "fields", "status", "said"),
    [
        ("{calls: 4}", {}, "pass", "4 of 4 calls"),
        ("{calls: 3}", {}, "fail", "4 calls, allowed 3"),
        ("{redundant: 0}", {}, "fail", "1 redundant, allowed 0"),
        ("{redundant: 1}", {}, "pass", ""),
        ("{extra_reads: 1}", {}, "pass", ""),
        ("{extra_reads: 0}", {}, "fail", "1 extra reads, allowed 0"),
        ("{tokens: 100}", {"input_tokens": 90, "output_tokens": 10}, "pass", ""),
        ("{tokens: 100}", {"input_tokens": 101}, "fail", "101 tokens"),
        ("{tokens: 100}", {}, "needs_review", "does not say tokens"),
        ("{seconds: 1.50}", {"duration_ns": 1_500_000_000}, "pass", ""),
        ("{seconds: 1.5}", {"duration_ns": 1_500_000_001}, "fail", "seconds"),
        ("{cost_usd: 0.05}", {"cost_usd": 0.06}, "fail", "0.06 cost usd"),
        ("{cost_usd: 0.05, calls: 3}", {}, "fail", "calls"),
    ],
)
def test_budget(budget: str, fields: dict[str, Any], status: str, said: str) -> None:
    found = verdict(f"{{first: [search_orders], budget: {budget}}}", run(*CALLS, **fields))
    layer = found.layers["efficiency"]
    assert (layer.status, said in layer.explanation) == (status, True), layer.explanation
    assert found.layers["selection"].status == "pass"


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{budget: {}}", "limits nothing"),
        ("{budget: {call: 3}}", "did you mean 'calls'?"),
        ("{budget: {calls: 1.5}}", "whole number"),
        ("{budget: {seconds: -1}}", "cannot be negative"),
        ("{budget: 5}", "must be a mapping"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)
