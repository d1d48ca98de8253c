"""Query texts of lists, frozen as files. `TOOLSELECT_GOLDEN=write` writes them again."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from otel_toolselect.store import browse_queries
from otel_toolselect.store.browse_api import RunFilter
from otel_toolselect.store.browse_conditions import Slice
from otel_toolselect.store.browse_queries import Order, Place

GOLDEN = Path(__file__).parent / "golden"
WEEK, EVER = Slice(1, 2), Slice()
EVERYTHING = RunFilter(
    suite=("shop", "guard/a"), status=("fail",), expected=("x",), observed=("y",), agent=("shop",), case=("shop",),
    called=("shop",), has=("ghost", "forbidden"), text="shop 100%",
)  # fmt: skip
CASES = {
    "first_page": browse_queries.page(RunFilter(), None, EVER, Order(), None, 51),
    "filtered_page": browse_queries.page(
        EVERYTHING, "shop", WEEK, Order("duration", backwards=True), Place(0, "5", "shop"), 51
    ),
    "count_by_id": browse_queries.count(RunFilter(text="cafe", called=("shop",)), None, WEEK),
    "facts": browse_queries.facts(["shop"], [3_600], "shop"),
    "facets": browse_queries.facets(["agent", "model"], WEEK, "shop", 50, said=False),
    "cases": browse_queries.cases("shop", WEEK, "shop", case_id=None, after="shop", most=10),
    "case_runs": browse_queries.case_runs("shop", ["shop"], WEEK, None, 5, failed=True),
}


@pytest.mark.parametrize("name", CASES)
def test_queries_are_as_they_were(name: str) -> None:
    path = GOLDEN / f"{name}.sql"
    text = f"{CASES[name].sql}\n-- {CASES[name].params}\n"
    if os.environ.get("TOOLSELECT_GOLDEN") == "write":
        path.write_text(text)
    assert path.read_text() == text


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.glob("*.sql")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_every_value_is_bound(name: str) -> None:
    built = CASES[name]
    assert set(re.findall(r"\{(\w+):", built.sql)) == set(built.params)
    assert "shop" not in built.sql
