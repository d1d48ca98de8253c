"""Tests of drift agree with scipy and statsmodels, keep their false-alarm rate, and see what is there (issue F)."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, fisher_exact
from scipy.stats.contingency import association
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest
from statsmodels.stats.rates import test_poisson_2indep as poisson_peer

from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats.drift import (
    ConfusionDrift,
    MixDrift,
    ShareChange,
    benjamini_hochberg,
    confusion_drift,
    holm,
    mix_drift,
    rate_change_p,
    share_change,
    shares_changed,
)

MIX = {"search": 400, "refund": 80, "invoice": 20}


def mix(before: dict[str, int], after: dict[str, int], **options: int) -> MixDrift:
    found = mix_drift(before, after, **options)
    assert found is not None
    return found


def share(before: tuple[int, int], after: tuple[int, int]) -> ShareChange:
    found = share_change(before, after)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("before", "after", "g", "p", "v"),
    [
        # scipy.stats.chi2_contingency(lambda_="log-likelihood"), scipy.stats.contingency.association
        ({"a": 90, "b": 10}, {"a": 80, "b": 22}, 5.180664281121, 0.022839590375, 0.158409955357),
        ({"a": 50, "b": 30, "c": 20}, {"a": 40, "b": 30, "c": 30}, 3.126960068341, 0.209406061459, 0.124721912892),
        ({"a": 10, "b": 10}, {"a": 20, "b": 20}, 0.0, 1.0, 0.0),
    ],
)
def test_a_mix_by_the_g_test(before: dict[str, int], after: dict[str, int], g: float, p: float, v: float) -> None:
    found = mix(before, after)
    assert found.method == "g"
    assert (found.statistic, found.p, found.cramers_v) == pytest.approx((g, p, v), abs=1e-9)


@given(st.lists(st.tuples(st.integers(20, 400), st.integers(20, 400)), min_size=2, max_size=8))
def test_scipy_gives_the_same(columns: list[tuple[int, int]]) -> None:
    before, after = ({str(i): c[side] for i, c in enumerate(columns)} for side in (0, 1))
    found, table = mix(before, after), np.array(columns).T
    peer = chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assume(peer.expected_freq.min() >= 5)
    assert (found.statistic, found.p) == pytest.approx((peer.statistic, peer.pvalue), abs=1e-9)
    assert found.cramers_v == pytest.approx(association(table, method="cramer"), abs=1e-9)


def test_small_tables_are_simulated_and_come_near_the_exact_p() -> None:
    found = mix({"a": 9, "b": 1}, {"a": 4, "b": 6})
    assert found.method == "monte carlo"
    exact = fisher_exact([[9, 1], [4, 6]]).pvalue
    assert found.p == pytest.approx(exact, abs=4 * sqrt(exact * (1 - exact) / 4_999))
    assert found == mix({"a": 9, "b": 1}, {"a": 4, "b": 6})  # from a fixed seed


def test_sizes_say_what_p_does_not() -> None:
    nothing_in_common = mix({"a": 50}, {"b": 50})
    assert (nothing_in_common.cramers_v, nothing_in_common.jensen_shannon) == pytest.approx((1.0, 1.0))
    # p is tiny where there is much to count, the size stays what it is
    much = mix({"a": 500_000, "b": 500_000}, {"a": 505_000, "b": 495_000})
    assert much.p < 1e-6
    assert much.cramers_v < 0.01
    assert [m.name for m in mix(MIX, {**MIX, "refund": 20, "invoice": 80}).moved] == ["invoice", "refund", "search"]


def test_a_category_that_is_new_or_gone_counts() -> None:
    found = mix(MIX, {"search": 400, "refund": 80, "invoce": 20})
    assert {m.name for m in found.moved[:2]} == {"invoice", "invoce"}
    assert found.p < 0.001


@pytest.mark.parametrize(("before", "after"), [({}, MIX), (MIX, {}), ({"a": 0}, MIX)])
def test_nothing_to_compare(before: dict[str, int], after: dict[str, int]) -> None:
    assert mix_drift(before, after) is None


def test_one_category_cannot_drift() -> None:
    assert mix({"a": 3}, {"a": 500}).p == 1.0


def confusions(before: dict[Cell, int], after: dict[Cell, int]) -> ConfusionDrift:
    found = confusion_drift(before, after)
    assert found is not None
    return found


RIGHT, ASKED = Cell("refund", "refund"), Cell("refund", "ask_followup")
SEARCHED, MISSED = Cell("search", "search"), Cell("search", "refund")


def test_more_refund_requests_are_no_drift_of_confusion() -> None:
    before = {RIGHT: 90, ASKED: 10, SEARCHED: 180, MISSED: 20}
    after = {RIGHT: 900, ASKED: 100, SEARCHED: 90, MISSED: 10}
    assert (confusions(before, after).effect, confusions(before, after).p) == pytest.approx((0.0, 1.0))
    assert mix({"refund": 100, "search": 200}, {"refund": 1000, "search": 100}).p < 1e-9


def test_confusion_drift_names_its_row() -> None:
    before = {RIGHT: 90, ASKED: 10, SEARCHED: 180, MISSED: 20}
    after = {RIGHT: 90, ASKED: 10, SEARCHED: 140, MISSED: 60}
    found = confusions(before, after)
    assert found.p < 0.001
    assert found.rows["search"].p < 0.001
    assert found.rows["refund"].p == 1.0
    one = chi2_contingency([[180, 20], [140, 60]], correction=False, lambda_="log-likelihood")
    assert found.statistic == pytest.approx(one.statistic)
    assert found.rows["search"].p == pytest.approx(min(1.0, 2 * one.pvalue))


def test_confusion_without_a_common_row() -> None:
    assert confusion_drift({RIGHT: 5}, {SEARCHED: 5}) is None


COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(COUNTS, COUNTS)
def test_two_shares_as_statsmodels_has_them(before: tuple[int, int], after: tuple[int, int]) -> None:
    found = share(before, after)
    low, high = confint_proportions_2indep(*after, *before, method="newcomb", compare="diff")
    assert found.ci95 == pytest.approx((low, high), abs=1e-9)
    if found.method == "fisher":
        table = [[k, n - k] for k, n in (before, after)]
        assert found.p == pytest.approx(fisher_exact(table).pvalue)
    elif 0 < before[0] + after[0] < before[1] + after[1]:
        peer = proportions_ztest([after[0], before[0]], [after[1], before[1]])
        assert found.p == pytest.approx(peer[1], abs=1e-12)


def test_newcombe_by_his_own_example() -> None:
    # Newcombe 1998, table II, method 10: 56/70 - 48/80
    assert share((48, 80), (56, 70)).ci95 == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_shares_that_nothing_moves() -> None:
    assert share((0, 10), (0, 20)).p == share((10, 10), (20, 20)).p == 1.0
    assert share_change((0, 0), (1, 2)) is share_change((1, 2), (0, 0)) is None


@given(st.integers(1, 60), st.integers(0, 60), st.sampled_from([0.5, 1.0, 4.0]))
def test_two_rates_by_the_conditional_test(before: int, after: int, length: float) -> None:
    peer = poisson_peer(after, length, before, 1, method="exact-cond", compare="ratio").pvalue
    assert rate_change_p(before, after, length=length) == pytest.approx(peer, abs=1e-9)


def test_no_counts_are_no_change() -> None:
    assert rate_change_p(0, 0) == 1.0


@settings(max_examples=20)  # statsmodels takes a tenth of a second for each
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_corrections_as_statsmodels_has_them(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))
    assert benjamini_hochberg(p_values) == pytest.approx(list(multipletests(p_values, method="fdr_bh")[1]))


def test_corrections_of_nothing() -> None:
    assert holm([]) == benjamini_hochberg([]) == []


def draws(rng: Any, n: int, shares: list[float]) -> dict[str, int]:
    return {str(i): int(c) for i, c in enumerate(rng.multinomial(n, shares))}


@pytest.mark.parametrize(
    ("n", "m", "runs", "method"), [(400, 300, 1500, "g"), (30, 12, 400, "monte carlo")], ids=["plenty", "sparse"]
)
def test_false_alarms_under_no_change(n: int, m: int, runs: int, method: str) -> None:
    """A 5 % test alarms in 5 % of the windows in which nothing changed: within four standard errors."""
    rng, shares = np.random.default_rng(7), [0.4, 0.25, 0.15, 0.12, 0.08]
    found = [mix(draws(rng, n, shares), draws(rng, m, shares), resamples=499) for _ in range(runs)]
    assert Counter(d.method for d in found).most_common(1)[0][0] == method
    rate = sum(d.p < 0.05 for d in found) / runs
    assert rate == pytest.approx(0.05, abs=4 * sqrt(0.05 * 0.95 / runs))
    # and a drift that is there is seen far more often, so the test above is not one that never alarms
    moved = [0.4, 0.05, 0.15, 0.12, 0.28]
    seen = [mix(draws(rng, n, shares), draws(rng, m, moved), resamples=499).p < 0.05 for _ in range(100)]
    assert sum(seen) > (95 if method == "g" else 25)


def test_forty_tools_at_once_raise_no_more_false_alarms_than_one() -> None:
    rng, looks = np.random.default_rng(11), 300
    alarms = raw = 0
    for _ in range(looks):
        before = {str(i): (int(rng.binomial(200, 0.9)), 200) for i in range(40)}
        after = {str(i): (int(rng.binomial(200, 0.9)), 200) for i in range(40)}
        alarms += any(c.p < 0.05 for c in shares_changed(before, after).values())
        raw += any(share(before[t], after[t]).p < 0.05 for t in before)
    assert alarms / looks <= 0.05 + 4 * sqrt(0.05 * 0.95 / looks)
    assert raw / looks > 0.7  # what the correction is there for


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from("abcde"), st.integers(0, 9), min_size=1))
def test_a_side_against_itself_never_drifts(counts: dict[str, int]) -> None:
    assume(sum(counts.values()))
    found = mix(counts, counts, resamples=199)
    assert (found.p, found.cramers_v) == pytest.approx((1.0, 0.0))
