"""Figures against independent, straightforward computations (R38, R39, R44)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isclose, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.model.runs import NO_CALL_LABELS
from otel_toolselect.model.verdicts import (
    LAYERS,
    CallScore,
    Cell,
    Exclusion,
    LayerVerdict,
    RunVerdict,
    SuiteVerdicts,
)
from otel_toolselect.stats import confusion, rate, report, wilson

LABELS = ["search", "refund", "invoice", "ghost", *NO_CALL_LABELS]
STATUSES = ["pass", "fail", "n/a", "needs_review"]


def cells() -> st.SearchStrategy[list[Cell]]:
    return st.lists(st.builds(Cell, st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=40)


@st.composite
def verdicts(draw: st.DrawFn) -> list[RunVerdict]:
    runs = []
    for index in range(draw(st.integers(0, 12))):
        excluded: Exclusion | None = draw(st.sampled_from([None, None, None, "infra", "catalog_gap", "incomplete"]))
        observed = draw(st.sampled_from(LABELS))
        layers = {
            layer: LayerVerdict("excluded" if excluded else draw(st.sampled_from(STATUSES)), "why")
            for layer in draw(st.sets(st.sampled_from(LAYERS)))
        }
        scores = [CallScore(i, "search", passed) for i, passed in enumerate(draw(st.lists(st.booleans(), max_size=3)))]
        runs.append(
            RunVerdict(
                run_id=f"run-{index:02d}",
                trace_id="0" * 32,
                suite="s",
                case_id=draw(st.sampled_from(["a", "b", "c"])),
                first_action=observed,
                observed_class="call",
                layers=layers,
                attempt=draw(st.sampled_from([None, 1, 2])),
                cells=(Cell(draw(st.sampled_from(LABELS)), observed),),
                call_scores=tuple(scores),
                excluded=excluded,
            )
        )
    return runs


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    [
        # published values of the score interval, to four digits (Newcombe 1998, table I, method 3)
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_published_values(passed: int, n: int, low: float, high: float) -> None:
    assert wilson(passed, n) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_where_the_score_test_turns(case: tuple[int, int]) -> None:
    passed, n = case
    low, high = wilson(passed, n)
    assert 0.0 <= low <= passed / n <= high <= 1.0
    assert (low == 0.0) == (passed == 0)
    assert (high == 1.0) == (passed == n)
    for bound in (low, high):
        if 0.0 < bound < 1.0:
            score = abs(passed / n - bound) / sqrt(bound * (1 - bound) / n)
            assert isclose(score, 1.959963984540054, rel_tol=1e-6)


@pytest.mark.parametrize(("passed", "n"), [(0, 0), (3, 2), (-1, 4), (0, -1)])
def test_no_interval_without_observations(passed: int, n: int) -> None:
    with pytest.raises(ValueError, match="no interval"):
        wilson(passed, n)


def test_rate_without_observations_is_undefined_not_zero() -> None:
    empty = rate(0, 0)
    assert (empty.n, empty.rate, empty.ci95) == (0, None, None)


def test_example_of_r39() -> None:
    seen = [Cell("refund_order", "refund_order")] * 16 + [Cell("refund_order", "get_invoice")] * 3
    seen += [Cell("refund_order", "ask_followup")] * 2 + [Cell("get_invoice", "get_invoice")] * 22
    seen += [Cell("search", "get_invoice")] * 2
    got = confusion(seen)
    assert got.tools["refund_order"].recall == 16 / 21
    assert got.tools["get_invoice"].precision == 22 / 27
    assert got.worst_recall is not None
    assert "ask_followup" not in got.tools


@given(cells())
def test_confusion_against_counting_by_hand(seen: list[Cell]) -> None:
    got = confusion(seen)
    assert sum(n for _, n in got.cells) == len(seen)
    assert all(seen.count(cell) == n for cell, n in got.cells)
    assert list(got.cells) == sorted(got.cells, key=lambda c: (c[0].expected, c[0].observed))
    assert set(got.tools) == {x for c in seen for x in (c.expected, c.observed)} - set(NO_CALL_LABELS)
    for name, tool in got.tools.items():
        right = sum(c.expected == name == c.observed for c in seen)
        row, column = sum(c.expected == name for c in seen), sum(c.observed == name for c in seen)
        assert (tool.correct, tool.support, tool.chosen) == (right, row, column)
        assert tool.recall == (right / row if row else None)
        assert tool.precision == (right / column if column else None)
        if tool.recall and tool.precision:
            assert tool.f1 is not None
            assert isclose(tool.f1, 2 / (1 / tool.recall + 1 / tool.precision))
        else:
            assert tool.f1 == 0.0


@given(cells())
def test_worst_recall(seen: list[Cell]) -> None:
    got = confusion(seen)
    known = [(Fraction(t.correct, t.support), -t.support, name) for name, t in got.tools.items() if t.support]
    if not known:
        assert got.worst_recall is None
    else:
        worst = min(known)
        assert got.worst_recall is not None
        assert (got.worst_recall.tool, got.worst_recall.support) == (worst[2], -worst[1])
        assert got.worst_recall.recall == float(worst[0])


@given(cells(), st.randoms(use_true_random=False))
def test_confusion_ignores_order(seen: list[Cell], random: object) -> None:
    shuffled = list(seen)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert confusion(shuffled) == confusion(seen)


def _by_hand(runs: Sequence[RunVerdict], layer: str) -> tuple[int, int]:
    passed = n = 0
    for run in runs:
        if run.excluded:
            continue
        if layer == "arguments":
            passed += sum(s.passed for s in run.call_scores)
            n += len(run.call_scores)
        else:
            status = run.layers[layer].status if layer in run.layers else "n/a"  # type: ignore[index]
            passed += status == "pass"
            n += status in {"pass", "fail"}
    return passed, n


@given(verdicts(), st.randoms(use_true_random=False))
def test_report(runs: list[RunVerdict], random: object) -> None:
    got = report(SuiteVerdicts("s", tuple(runs), cases_without_run=("z", "d")))
    counted = got.summary
    assert counted.runs == len(runs) == counted.judged + counted.infra + counted.catalog_gap + counted.incomplete
    assert list(counted.layers) == list(LAYERS)
    for layer, figure in counted.layers.items():
        assert (figure.passed, figure.n) == _by_hand(runs, layer)
    assert sum(n for _, n in got.confusion.cells) == counted.judged
    assert got.cases_without_run == ("d", "z")
    shuffled = list(runs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert report(SuiteVerdicts("s", tuple(shuffled), cases_without_run=("d", "z"))) == got
