"""A catalog that is not the pinned one is said, and moves no layer (R18)."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Run
from tests.builders import call, run
from tests.rules.suites import verdict

SEARCH = call("search_orders")
CATALOG = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("case", "given", "said"),
    [
        ("tools: [search_orders, book]", run(SEARCH, tools=["book", "find_orders"]), None),
        ("tools: [search_orders, book]", run(SEARCH, tools=["search_orders", "new"]), "(added: new; gone: book)"),
        ("tools: [search_orders, book]", run(SEARCH), None),
        (f"tools: {{catalog: '{CATALOG}'}}", run(SEARCH, catalog_id=CATALOG), None),
        (f"tools: {{catalog: '{CATALOG}'}}", run(SEARCH, catalog_id="sha256:1"), "another catalog"),
    ],
)
def test_pinned(case: str, given: Run, said: str | None) -> None:
    found = verdict("{first: [search_orders]}", given, case=case)
    seen = [f.explanation for f in found.findings if f.check == "pinned"]
    assert len(seen) == (said is not None)
    assert all(said in text for text in seen if said)
    assert found.layers["selection"].status == "pass"
