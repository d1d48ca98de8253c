"""Cohen's kappa against a textbook table and at its edges."""

from __future__ import annotations

import pytest

from otel_toolselect.stats.agreement import agreement


def test_a_textbook_table() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: p_o 0.7, p_e 0.5, kappa 0.4
    rows = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    labels = {"ann": {str(i): a for i, (a, _) in enumerate(rows)}, "raj": {str(i): b for i, (_, b) in enumerate(rows)}}
    (found,) = agreement(labels)
    assert (found.first, found.second, found.n, found.same) == ("ann", "raj", 50, 35)
    assert found.kappa == pytest.approx(0.4)


def test_undefined_is_none() -> None:
    (found,) = agreement({"a": {"1": "x", "2": "x"}, "b": {"1": "x", "2": "x"}})
    assert (found.same, found.kappa) == (2, None)
    assert agreement({"a": {"1": "x"}, "b": {"2": "x"}}) == ()


def test_each_pair_of_three() -> None:
    found = agreement({name: {"1": "x", "2": "y"} for name in "abc"})
    assert [(f.first, f.second, f.kappa) for f in found] == [("a", "b", 1.0), ("a", "c", 1.0), ("b", "c", 1.0)]
