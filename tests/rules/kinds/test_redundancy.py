"""Redundancy: identical calls with nothing changed between (R32, design section 7)."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Unknown
from tests.builders import Planned, call, run
from tests.rules.suites import verdict

READ = call("search_orders", {"n": 1})
FAILED = call("search_orders", {"n": 1}, ok=False, error="busy")


@pytest.mark.parametrize(
    ("calls", "number"),
    [
        ([READ], 0),
        ([READ, READ], 1),
        ([READ, READ, READ], 2),
        ([READ, call("find_orders", {"n": 1.0})], 1),
        ([READ, call("search_orders", {"n": 2})], 0),
        ([READ, call("get_policy"), READ], 1),
        ([READ, call("book"), READ], 0),
        ([READ, call("mystery"), READ], 0),
        ([call("book"), call("book")], 1),
        ([FAILED, READ], 0),
        ([FAILED, READ, READ], 1),
        ([READ, FAILED, READ], 1),
        ([call("book", Unknown("off")), call("book", Unknown("off"))], 0),
        ([call("book", {"a": [1, {"b": 2}]}), call("book", {"a": [1.0, {"b": 2}]})], 1),
    ],
)
def test_redundancy(calls: list[Planned], number: int) -> None:
    found = verdict("{first: [search_orders]}", run(*calls))
    (finding,) = [f for f in found.findings if f.check == "redundancy"]
    assert (finding.evidence["redundant"], finding.evidence["calls"]) == (number, len(calls))
    assert found.layers["efficiency"].status == "n/a"
