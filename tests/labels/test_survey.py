"""Weighted estimates: against other libraries, against their definition, and against populations that are known."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

from otel_toolselect.stats.agreement import agreement_of
from otel_toolselect.stats.detection import detection
from otel_toolselect.stats.rates import wilson
from otel_toolselect.stats.survey import Unit, calibrated, estimate

units = st.lists(st.builds(Unit, st.booleans(), st.floats(1, 1e4), st.sampled_from("abc")), min_size=1, max_size=30)


@given(units)
def test_the_share_is_the_weighted_mean_and_the_interval_wilsons_on_effective_n(sample: list[Unit]) -> None:
    found = estimate(sample)
    weights = np.array([u.weight for u in sample])
    values = np.array([float(u.value) for u in sample])
    assert found.rate == pytest.approx(DescrStatsW(values, weights).mean, abs=1e-9)
    assert found.effective_n == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert 1 <= found.effective_n <= found.n + 1e-9
    assert found.ci95 is not None
    low, high = proportion_confint(found.rate * found.effective_n, found.effective_n, method="wilson")
    assert found.ci95 == pytest.approx((max(0.0, low), min(1.0, high)), abs=1e-9)


@given(st.lists(st.booleans(), min_size=1, max_size=50), st.integers(1, 1000))
def test_equal_weights_change_nothing(values: list[bool], weight: int) -> None:
    found = estimate([Unit(v, weight) for v in values])
    assert found.effective_n == pytest.approx(len(values))
    assert found.ci95 == pytest.approx(wilson(sum(values), len(values)))
    assert found.total == sum(values) * weight


@given(units, st.dictionaries(st.sampled_from("abc"), st.integers(30, 10_000)))
def test_calibrated_strata_add_up_to_their_sizes(sample: list[Unit], sizes: dict[str, int]) -> None:
    found = calibrated(sample, sizes)
    assert [(u.value, u.stratum) for u in found] == [(u.value, u.stratum) for u in sample]
    assert all(u.weight >= 1 for u in found)
    even = calibrated([Unit(u.value, 1, u.stratum) for u in sample], sizes)
    for name, size in sizes.items():
        weights = [u.weight for u in even if u.stratum == name]
        assert not weights or sum(weights) == pytest.approx(size)


def test_nothing_and_nonsense() -> None:
    assert estimate([]).rate is None
    for weight in (0.5, 0.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="at least 1"):
            estimate([Unit(True, weight)])


def test_a_stratified_sample_is_weighted_back_to_its_population() -> None:
    """2,000 runs, 60 of them failures that are all looked at, a rare tool with low accuracy: the plain share of the
    sample is far off, the weighted one is not, and its interval holds the truth about as often as it says.
    """
    rng = random.Random(20261102)
    population = [("failure", i % 6 == 0) for i in range(60)]
    population += [("tool: rare", i % 2 == 0) for i in range(40)] + [("tool: usual", i % 25 != 0) for i in range(1900)]
    truth = sum(value for _, value in population) / len(population)
    by_stratum: dict[str, list[bool]] = {}
    for stratum, value in population:
        by_stratum.setdefault(stratum, []).append(value)
    sizes = {stratum: len(values) for stratum, values in by_stratum.items()}
    rates, plain, held = [], [], 0
    for _ in range(300):
        sample = []
        for stratum, values in by_stratum.items():
            n = len(values) if stratum == "failure" else 25
            sample += [Unit(v, len(values) / n, stratum) for v in rng.sample(values, n)]
        found = estimate(calibrated(sample, sizes))
        assert found.rate is not None
        assert found.ci95 is not None
        assert found.stands_for == pytest.approx(2000)
        rates.append(found.rate)
        plain.append(sum(u.value for u in sample) / len(sample))
        held += found.ci95[0] <= truth <= found.ci95[1]
    assert abs(np.mean(rates) - truth) < 0.01
    assert abs(np.mean(plain) - truth) > 0.3
    assert held >= 0.93 * 300


def test_the_part_of_a_stratum_that_is_labelled_stands_for_the_whole() -> None:
    labelled = [Unit(False, 1, "failure")] + [Unit(True, 10, "tool")] * 2
    found = estimate(calibrated(labelled, {"failure": 5, "tool": 95}))
    assert found.rate == pytest.approx(0.95)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=2, max_size=60))
def test_kappa_and_its_interval_are_those_of_statsmodels(pairs: list[tuple[str, str]]) -> None:
    found = agreement_of("x", "y", pairs)
    table = np.zeros((4, 4))
    for a, b in pairs:
        table["abcd".index(a), "abcd".index(b)] += 1
    if found.kappa is None:
        assert len({a for a, _ in pairs} | {b for _, b in pairs}) == 1
        return
    with np.errstate(all="ignore"):
        other = cohens_kappa(table)
    assert found.kappa == pytest.approx(other.kappa)
    if not np.isnan(other.kappa_low):
        assert found.ci95 == pytest.approx((max(-1.0, other.kappa_low), min(1.0, other.kappa_upp)), abs=1e-6)


def test_detection_counts_what_both_speak_about() -> None:
    flagged = {"a": True, "b": True, "c": False, "d": False, "only": True}
    wrong = {"a": True, "b": False, "c": True, "d": False, "other": True}
    found = detection("rule x", flagged, wrong)
    assert (found.n, found.precision.passed, found.precision.n) == (4, 1, 2)
    assert (found.recall.passed, found.recall.n) == (1, 2)
    assert (found.cleared.passed, found.cleared.n) == (1, 2)
    assert detection("rule x", {}, wrong).precision.rate is None
