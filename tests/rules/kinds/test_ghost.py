"""Calls of tools that were not offered are a finding of their own and move no layer (R9)."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Run
from tests.builders import call, run
from tests.rules.suites import verdict

SEARCH = call("search_orders")


@pytest.mark.parametrize(
    ("given", "status", "ghosts"),
    [
        (run(SEARCH, call("delete_all"), tools=["search_orders"]), "fail", ["delete_all"]),
        (run(SEARCH, call("delete_all", ok=True), tools=["search_orders"]), "needs_review", ["delete_all"]),
        (run(SEARCH, call("delete_all")), None, []),
        (run(SEARCH, tools=["find_orders"]), None, []),
        (run(call("find_orders"), tools=["search_orders"]), None, []),
    ],
)
def test_ghost(given: Run, status: str | None, ghosts: list[str]) -> None:
    found = verdict("{first: [search_orders]}", given)
    seen = [f for f in found.findings if f.check == "ghost"]
    assert ([f.status for f in seen], found.layers["selection"].status) == ([status] if status else [], "pass")
    assert [g for f in seen for g in f.evidence["ghosts"]] == ghosts
