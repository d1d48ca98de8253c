"""Repeats, flips, majorities, pass^k and the paired test, against counting by hand (R41, R43; bug 33)."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.stats import mcnemar, paired, repeats
from otel_toolselect.stats.paired import outcomes
from otel_toolselect.stats.repeats import by_case
from tests.verdicts import bug_33, repeated, verdict


def runs() -> st.SearchStrategy[list[RunVerdict]]:
    one = st.builds(
        verdict,
        st.sampled_from(["a", "b", "c", "d"]),
        st.just("find"),
        st.sampled_from(["find", "refund", "none"]),
        excluded=st.sampled_from([None, None, None, "infra"]),
        label=st.sampled_from([None, "new"]),
    )
    return st.lists(one, max_size=25)


def test_bug_33() -> None:
    got = repeats(bug_33())
    assert (got.observations.passed, got.observations.n) == (19, 28)
    assert got.observations.rate == 19 / 28
    assert got.mean == 0.7
    assert (got.majority.passed, got.majority.n) == (4, 6)
    assert [case.case_id for case in got.flipping] == ["c3", "c6"]
    assert (got.flips.passed, got.flips.n) == (2, 6)
    c5 = got.cases[4]
    assert (c5.passed, c5.n, c5.flips) == (3, 3, False)
    assert got.cases[1].actions == (("ask_followup", 5),)
    assert got.one_flip is not None
    assert isclose(got.one_flip, 1 / 6)


def test_nothing_observed_is_undefined() -> None:
    got = repeats([verdict("a", "find", excluded="infra")])
    assert (got.mean, got.one_flip, got.majority.rate, got.flips.rate, got.pass_hat) == (None, None, None, None, ())


def test_a_tie_is_no_majority() -> None:
    assert repeats(repeated("a", "find", "refund", "PF")).majority.passed == 0


def test_two_models_that_disagree_are_no_flip() -> None:
    got = repeats([verdict("a", "find", model="m-1"), verdict("a", "find", "refund", model="m-2")])
    assert (got.flips.passed, got.flips.n) == (0, 0)


@given(runs(), st.randoms(use_true_random=False))
def test_repeats_by_hand(found: list[RunVerdict], random: object) -> None:
    got = repeats(found)
    valid = [run for run in found if run.excluded is None]
    assert got.observations.n == len(valid)
    rates = []
    flipping = set()
    twice = set()
    for case in {run.case_id for run in valid}:
        mine = [run for run in valid if run.case_id == case]
        rates.append(Fraction(sum(r.first_action == "find" for r in mine), len(mine)))
        for one, other in combinations(mine, 2):
            if one.label == other.label:
                twice.add(case)
                if one.first_action != other.first_action:
                    flipping.add(case)
    assert got.mean == (float(sum(rates) / len(rates)) if rates else None)
    assert got.majority.passed == sum(r > Fraction(1, 2) for r in rates)
    assert {case.case_id for case in got.flipping} == flipping
    assert (got.flips.passed, got.flips.n) == (len(flipping), len(twice))
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert repeats(shuffled) == got


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), min_size=1, max_size=4))
def test_pass_hat_by_drawing_every_subset(cases: list[list[bool]]) -> None:
    found = [
        verdict(f"c{i}", "find", "find" if passed else "refund") for i, case in enumerate(cases) for passed in case
    ]
    for hat in repeats(found).pass_hat:
        shares = []
        for case in cases:
            draws = list(combinations(case, hat.k))
            if draws:
                shares.append(Fraction(sum(all(draw) for draw in draws), len(draws)))
        assert hat.cases == len(shares)
        assert isclose(hat.value, float(sum(shares) / len(shares)))


@pytest.mark.parametrize(
    ("lost", "gained", "p"), [(0, 0, 1.0), (0, 5, 0.0625), (0, 6, 0.03125), (1, 9, 22 / 1024), (4, 4, 1.0)]
)
def test_mcnemar_known_values(lost: int, gained: int, p: float) -> None:
    assert mcnemar(lost, gained) == p == mcnemar(gained, lost)


@given(st.integers(0, 6), st.integers(0, 6))
def test_mcnemar_by_tossing_every_sequence(lost: int, gained: int) -> None:
    """p = share of all sequences of tosses that are at least as uneven as what was seen."""
    n = lost + gained
    extreme = sum(abs(2 * sum(tosses) - n) >= abs(lost - gained) for tosses in product((0, 1), repeat=n))
    assert mcnemar(lost, gained) == extreme / 2**n


def test_mcnemar_of_many_pairs_stays_a_number() -> None:
    assert 0 <= mcnemar(500, 3000) < 1e-100


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.booleans()), st.dictionaries(st.sampled_from("cdefgh"), st.booleans())
)
def test_pairs_are_identical_cases_only(before: dict[str, bool], after: dict[str, bool]) -> None:
    got = paired(before, after)
    both = [case for case in before if case in after]
    assert got.cases == len(both) == got.both + got.neither + len(got.lost) + len(got.gained)
    assert set(got.lost) == {case for case in both if before[case] and not after[case]}
    assert (got.p is None) == (not both)


def test_outcome_of_a_case_is_its_majority() -> None:
    assert outcomes(by_case(repeats(bug_33()))) == {
        "c1": True,
        "c2": False,
        "c3": True,
        "c4": True,
        "c5": True,
        "c6": False,
    }
