"""Averages, risk, groups, agency, trend by hand (R16, R17, R40, R47, R49)."""

from __future__ import annotations

from datetime import timedelta, timezone
from math import isclose
from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.model.facts import CaseGroup, RunFacts
from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.stats import (
    agency,
    confusion,
    group_stability,
    of_labels,
    of_tools,
    right_pairs,
    risk_view,
    stable_groups,
    trend,
)
from otel_toolselect.stats.trend import by_day, by_label
from tests.verdicts import repeated, verdict

LABELS = ["search", "refund", "ghost", *NO_CALL_LABELS]
CELLS = st.lists(st.builds(Cell, st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=40)


@given(CELLS, st.sampled_from(["recall", "precision", "f1"]), st.booleans())
def test_averages_from_the_list_of_pairs(cells: list[Cell], figure: str, tools_only: bool) -> None:
    """As scikit-learn's macro and weighted averages with zero_division=nan: nan left out (nanmean)."""
    got = (of_tools if tools_only else of_labels)(confusion(cells))[figure]  # type: ignore[index]
    seen = {x for c in cells for x in (c.expected, c.observed)} - set(NO_CALL_LABELS if tools_only else ())
    values: dict[str, float] = {}
    weights: dict[str, int] = {}
    for label in seen:
        tp = sum(c.expected == c.observed == label for c in cells)
        row, column = sum(c.expected == label for c in cells), sum(c.observed == label for c in cells)
        weights[label] = row
        if figure == "recall" and row:
            values[label] = tp / row
        elif figure == "precision" and column:
            values[label] = tp / column
        elif figure == "f1":
            values[label] = 2 * tp / (row + column)
    assert got.n == len(values)
    assert got.undefined == tuple(sorted(seen - values.keys()))
    assert (got.macro is None) == (not values)
    if got.macro is not None:
        assert isclose(got.macro, mean(values.values()))
    total = sum(weights[label] for label in values)
    assert (got.weighted is None) == (not total)
    if got.weighted is not None:
        assert isclose(got.weighted, sum(weights[x] * values[x] for x in values) / total, abs_tol=1e-12)


@given(CELLS)
def test_weighted_recall_of_all_labels_is_accuracy(cells: list[Cell]) -> None:
    got = of_labels(confusion(cells))["recall"].weighted
    if cells:
        assert got is not None
        assert isclose(got, sum(c.expected == c.observed for c in cells) / len(cells), abs_tol=1e-12)
    else:
        assert got is None


def test_risk_beside_raw() -> None:
    runs = [*repeated("a", "refund", "none", "PF", risk="high"), *repeated("b", "find", "none", "PPPF", risk="low")]
    got = risk_view([*runs, verdict("c", "find", excluded="infra", risk="high")])
    assert (got.raw.passed, got.raw.n) == (4, 6)
    assert got.weighted == (4 * 1 + 1 * 3) / (4 * 2 + 1 * 4)
    assert list(got.classes) == ["high", "low"]
    assert got.weights == {"high": 4, "low": 1}
    assert risk_view([]).weighted is None


def test_unknown_risk_weighs_like_an_unstated_one() -> None:
    got = risk_view([verdict("a", "find", risk="odd"), verdict("b", "find")], {"unstated": 3})
    assert got.weights == {"odd": 3, "unstated": 3}


def groups(relation: str, *cases: str) -> dict[str, CaseGroup]:
    return {case: CaseGroup("g", relation) for case in cases}


def test_same_group_is_stable_only_when_every_run_agrees() -> None:
    def got(*runs: RunVerdict) -> tuple[bool | None, float | None, bool | None]:
        found = group_stability(runs, groups("same", "a", "b"))[0]
        return found.stable, found.share, found.right

    assert got(verdict("a", "find"), verdict("b", "find")) == (True, 1.0, True)
    assert got(verdict("a", "find", "none"), verdict("b", "find", "none")) == (True, 1.0, False)
    assert got(verdict("a", "find"), *repeated("b", "find", "none", "PPF")) == (False, 0.75, True)
    assert got(verdict("a", "find")) == (None, 1.0, None)
    assert got() == (None, None, None)


def test_different_group_must_change_its_route() -> None:
    def got(*runs: RunVerdict) -> bool | None:
        return group_stability(runs, groups("different", "a", "b"))[0].stable

    assert got(verdict("a", "find"), verdict("b", "refund")) is True
    assert got(verdict("a", "find"), verdict("b", "refund", "find")) is False
    assert got(verdict("a", "find"), verdict("b", "refund", excluded="infra")) is None


def test_pairs_count_only_when_both_are_right() -> None:
    both = {"a": CaseGroup("p", "different"), "b": CaseGroup("p", "different")}
    both |= {"c": CaseGroup("q", "different"), "d": CaseGroup("q", "different")}
    runs = [verdict("a", "find"), verdict("b", "ask_followup")]
    runs += [verdict("c", "find"), verdict("d", "ask_followup", "find")]
    found = group_stability(runs, both)
    assert (right_pairs(found).passed, right_pairs(found).n) == (1, 2)
    assert (stable_groups(found).passed, stable_groups(found).n) == (1, 2)


def test_agency_gap() -> None:
    facts = [
        RunFacts(agent="shop", tools_offered=("a", "b", "c"), tools_used=("a",)),
        RunFacts(agent="shop", tools_offered=("a", "d"), tools_used=("a", "b")),
        RunFacts(agent="shop", tools_used=("z",)),
        RunFacts(tools_used=()),
    ]
    nameless, shop = agency(facts)
    assert (nameless.agent, nameless.gap.n, nameless.unknown) == ("", 0, 1)
    assert shop.unused == ("c", "d")
    assert shop.ghosts == ("b",)
    assert (shop.gap.passed, shop.gap.n, shop.unknown) == (2, 4, 1)


def test_trend_by_label_and_by_day() -> None:
    hour = 3600 * 10**9
    runs = [
        verdict("a", "find", label="new", start_ns=50 * hour),
        verdict("a", "find", "refund", label="old", start_ns=23 * hour),
        verdict("b", "find", label="old", start_ns=25 * hour, excluded="infra"),
    ]
    assert [(p.name, p.runs, p.accuracy.passed) for p in trend(runs, by_label)] == [("old", 1, 0), ("new", 1, 1)]
    assert [p.name for p in trend(runs, by_day())] == ["1970-01-01", "1970-01-03"]
    assert [p.name for p in trend(runs, by_day(timezone(timedelta(hours=2))))] == ["1970-01-02", "1970-01-03"]
    assert trend(runs, by_label)[0].confusion.tools["find"].recall == 0.0
    assert trend([verdict("a", "find")], by_day())[0].name == "(no time)"
    assert trend([verdict("a", "find", start_ns=2**63)], by_day())[0].name
