"""`eventually`: what must happen somewhere."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Run
from tests.builders import call, run
from tests.rules.suites import problems_in, verdict

BOTH = "{eventually: [search_orders, effect:write]}"
SEARCH = call("search_orders")


@pytest.mark.parametrize(
    ("expect", "given", "status", "missing"),
    [
        (BOTH, run(call("book"), SEARCH), "pass", []),
        (BOTH, run(call("find_orders"), call("book")), "pass", []),
        (BOTH, run(SEARCH), "fail", ["effect:write"]),
        (BOTH, run(final="Hi."), "fail", ["search_orders", "effect:write"]),
        ("{eventually: [list_tools]}", run(call("list_tools")), "pass", []),
        ("{eventually: [search_orders, ask_followup]}", run(SEARCH, final="This one?"), "pass", []),
        ("{eventually: [search_orders, ask_followup]}", run(SEARCH, final="Done."), "fail", ["ask_followup"]),
        ("{eventually: [ask_followup]}", run(SEARCH, final="Hm?", confidence=0.2), "needs_review", []),
    ],
)
def test_eventually(expect: str, given: Run, status: str, missing: list[str]) -> None:
    layer = verdict(expect, given).layers["selection"]
    assert (layer.status, layer.evidence["missing_required"]) == (status, missing)


def test_mistakes() -> None:
    assert "not among the case's tools" in problems_in("{eventually: [book]}", case="tools: [search_orders]")[0]
