"""scikit-learn and statsmodels give the same figures on random matrices (R39, R43)."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support
from statsmodels.stats.contingency_tables import mcnemar as peer_mcnemar
from statsmodels.stats.proportion import proportion_confint

from otel_toolselect.model.verdicts import Cell
from otel_toolselect.stats import confusion, wilson
from otel_toolselect.stats.agreement import agreement
from otel_toolselect.stats.averages import label_figures, of_labels
from otel_toolselect.stats.paired import mcnemar

LABELS = ["search", "refund", "invoice", "none", "ask_followup", "refuse_no_tool"]
PAIRS = st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=60)


def value(number: float) -> float | None:
    return None if math.isnan(number) else float(number)


def close(ours: float | None, theirs: float | None) -> bool:
    if ours is None or theirs is None:
        return ours is theirs
    return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-12)


@given(PAIRS)
def test_recall_precision_and_f1(pairs: list[tuple[str, str]]) -> None:
    expected, observed = zip(*pairs, strict=True)
    names = sorted({*expected, *observed})
    peers = precision_recall_fscore_support(expected, observed, labels=names, zero_division=np.nan)
    found = label_figures(confusion([Cell(e, o) for e, o in pairs]))
    assert list(found) == names
    for index, name in enumerate(names):
        assert close(found[name].precision, value(peers[0][index]))
        assert close(found[name].recall, value(peers[1][index]))
        assert close(found[name].f1, value(peers[2][index]))
        assert found[name].support == peers[3][index]


@given(PAIRS, st.sampled_from(["macro", "weighted"]))
def test_averages(pairs: list[tuple[str, str]], average: str) -> None:
    expected, observed = zip(*pairs, strict=True)
    names = sorted({*expected, *observed})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a mean over nothing: None with us
        peers = precision_recall_fscore_support(expected, observed, labels=names, average=average, zero_division=np.nan)
    found = of_labels(confusion([Cell(e, o) for e, o in pairs]))
    for index, figure in enumerate(("precision", "recall", "f1")):
        ours = getattr(found[figure], average)  # type: ignore[index]
        if ours is None and found[figure].n:  # all weights are 0: scikit-learn says 0, we say that it is undefined
            assert average == "weighted"
            continue
        assert close(ours, value(peers[index])), (figure, ours, peers[index])


@given(st.integers(0, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson(counts: tuple[int, int]) -> None:
    passed, n = counts
    if n:
        low, high = proportion_confint(passed, n, alpha=0.05, method="wilson")
        assert wilson(passed, n) == pytest.approx((low, high), abs=1e-9)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar(lost: int, gained: int) -> None:
    if lost + gained:
        peer = peer_mcnemar([[5, lost], [gained, 7]], exact=True).pvalue
        assert mcnemar(lost, gained) == pytest.approx(float(peer), rel=1e-9)


@given(PAIRS)
def test_kappa(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # chance agreement of 1 leaves kappa undefined: None with us
        peer = value(cohen_kappa_score(first, second))
    labels = {"ann": {str(i): a for i, a in enumerate(first)}, "raj": {str(i): b for i, b in enumerate(second)}}
    (found,) = agreement(labels)
    assert close(found.kappa, peer)
