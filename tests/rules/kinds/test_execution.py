"""The execution layer: known outcomes only, recovery by the same tool."""

from __future__ import annotations

import pytest

from tests.builders import Planned, call, run
from tests.rules.suites import verdict

GOOD, BAD, BAD_BOOK = call("search_orders", ok=True), call("search_orders", ok=False), call("book", ok=False)


@pytest.mark.parametrize(
    ("calls", "status", "counts"),
    [
        ([], "n/a", None),
        ([call("book")], "n/a", None),
        ([call("book"), GOOD], "pass", (1, 0, 0)),
        ([BAD, GOOD], "pass", (2, 1, 1)),
        ([GOOD, BAD], "fail", (2, 1, 0)),
        ([BAD, GOOD, GOOD, BAD_BOOK], "fail", (4, 2, 1)),
    ],
)
def test_execution(calls: list[Planned], status: str, counts: tuple[int, int, int] | None) -> None:
    layer = verdict("{class: multi_step}", run(*calls, final="Done.")).layers["execution"]
    assert layer.status == status
    if counts:
        assert tuple(layer.evidence[k] for k in ("calls", "failed", "recovered")) == counts
