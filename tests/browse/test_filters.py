"""Filters and the address that says them are one thing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.app.browse import Filters
from otel_toolselect.errors import ToolselectError, UsageError
from otel_toolselect.model.alerting import Window
from otel_toolselect.store.browse_api import MARKS, SORTS, RunFilter
from tests.store.builders import DAY, T0

NAMES = [field.name for field in fields(Filters)]
_words = {
    "status": ("pass", "fail", "needs_review", "excluded", "n/a"),
    "origin": ("suite", "rule", "attribute", "person", "judge"),
    "has": MARKS,
}
_text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20)
_time = st.sampled_from(["", "30m", "24h", "7d", "2026-11-02", "2026-11-02T10:00:00Z", "2026-11-02T10:00:00+02:00"])


def _values(name: str) -> st.SearchStrategy[tuple[str, ...]]:
    one = st.sampled_from(_words[name]) if name in _words else _text
    return st.lists(one, max_size=3, unique=True).map(tuple)


_filters = st.builds(
    Filters,
    since=_time,
    until=_time,
    text=st.just("") | _text,
    sort=st.sampled_from([*SORTS, *(f"-{sort}" for sort in SORTS)]),
    size=st.integers(1, 200),
    cursor=st.just("") | st.text("abc-_", max_size=9),
    **{f.name: _values(f.name) for f in fields(Filters) if isinstance(f.default, tuple)},
)


@given(_filters)
def test_filters_come_back_from_their_address(filters: Filters) -> None:
    assert Filters.parse(filters.query()) == filters
    assert Filters.parse("?" + filters.query()) == filters
    assert Filters.parse(filters.pairs()) == filters
    assert Filters.parse(filters.query()).query() == filters.query()


@given(st.lists(st.tuples(st.sampled_from(NAMES) | st.text(max_size=5), st.text(max_size=12)), max_size=8))
def test_any_address_is_read_or_refused(pairs: list[tuple[str, str]]) -> None:
    refused = ""
    try:
        found = Filters.parse(pairs)
        found.runs(T0)
        assert Filters.parse(found.query()) == found
    except ToolselectError as error:
        refused = str(error)
    assert refused.split(":")[0] in ["", *NAMES]


@given(st.text(max_size=60))
def test_any_query_string_is_read_or_refused(text: str) -> None:
    with suppress(UsageError):
        Filters.parse(text)


def test_no_filter_is_the_last_week() -> None:
    found = Filters.parse("")
    assert (found, found.query()) == (Filters(), "")
    assert found.window(T0 + 7 * DAY).start_ns == T0
    assert found.runs(T0 + 7 * DAY) == RunFilter(since_ns=T0)


def test_a_relative_time_stays_relative_and_moves_with_the_clock() -> None:
    found = Filters.parse("since=24h&until=12h")
    assert found.query() == "since=24h&until=12h"
    assert found.window(T0 + DAY) == Window(T0, T0 + DAY // 2)
    assert found.window(T0 + 2 * DAY) == Window(T0 + DAY, T0 + DAY + DAY // 2)
    assert Filters.parse("since=2026-11-02T10:00:00Z").window(T0 + DAY).start_ns == T0
    assert Filters.parse("since=").runs(T0) == RunFilter()


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("since=soon", "since: 'soon' is no time"),
        ("status=bad", "status: 'bad' is not one of pass"),
        ("has=nothing", "has: 'nothing' is not one of ghost"),
        ("sort=name", "sort: 'name' is not one of start"),
        ("size=0", "size: '0' is no number from 1 to 200"),
        ("size=1e9", "size: '1e9' is no number"),
        ("text=" + "x" * 401, "text: 400 characters at most"),
        ("&".join(f"agent=a{i}" for i in range(51)), "agent: 50 values at most, not 51"),
        ("&".join(["x=1"] * 1_001), "more than 1,000 parameters"),
    ],
)
def test_what_is_asked_wrongly_is_named(query: str, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("(", r"\(")):
        Filters.parse(query)


def test_a_window_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(UsageError, match="until: the window would end"):
        Filters.parse("since=1h&until=2h").runs(T0)


def test_links_change_one_thing_and_go_to_the_first_page() -> None:
    filters = Filters.parse("agent=a&agent=b&cursor=abc&text=x")
    assert filters.query(status="fail") == "status=fail&agent=a&agent=b&text=x"
    assert filters.query(cursor="next") == "agent=a&agent=b&text=x&cursor=next"
    assert filters.query(agent=None, text=None) == ""
    assert filters.without("agent", "a").agent == ("b",)
    assert filters.chosen == (("agent", "a"), ("agent", "b"), ("text", "x"))
    assert (filters.order, filters.descending) == ("start", True)


def test_figures_take_the_filters_that_they_know() -> None:
    scope = Filters.parse("suite=s&suite=labels&agent=a&status=fail&tenant=b").scope("only")
    assert (scope.suite, scope.policy, scope.agent, scope.tenant) == (("s", "labels"), ("s",), ("a",), ("only",))
    assert Filters.parse("tenant=b").scope(None).tenant == ("b",)


def test_every_filter_of_runs_can_be_said() -> None:
    wanted: dict[str, Any] = {name: (f"{name} 1", f"{name}&2") for name in NAMES if name not in _words}
    for name in ("since", "until", "sort", "size", "cursor"):
        del wanted[name]
    wanted["text"] = "a + b"
    made = Filters(since="", has=("ghost",), **wanted)
    assert Filters.parse(made.query()).runs(T0) == RunFilter(has=("ghost",), **wanted)
