"""What alerts take from a source, and how values read."""

from __future__ import annotations

import pytest

from otel_toolselect.model.alerting import Observed, Query, Window
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.monitor.alerts import with_known
from otel_toolselect.monitor.alerts.drifting import confusion_drifted, tools_drifted
from otel_toolselect.monitor.alerts.wording import shown

WINDOWS = (Window(0, 5), Window(5, 10))
BILLING, SUPPORT = (("agent", "billing"),), (("agent", "support"),)


@pytest.mark.parametrize(("signal", "value"), [("wrong_tool", None), ("ghost_calls", 0.0)])
def test_a_series_that_falls_silent_is_not_forgotten(signal: str, value: float | None) -> None:
    seen = tuple(Observed(w.start_ns, w.end_ns, 1.0, 1) for w in WINDOWS)
    found = with_known(Query(signal, by=("agent",)), WINDOWS, {SUPPORT: seen}, [BILLING, SUPPORT])
    assert found[SUPPORT] == seen
    assert found[BILLING] == tuple(Observed(w.start_ns, w.end_ns, value, 0) for w in WINDOWS)


@pytest.mark.parametrize(
    ("value", "unit", "n", "numerator", "text"),
    [
        (None, "share", 0, 0, "n/a (0)"),
        (0.15, "share", 20, 3, "15.0 % (3/20)"),
        (0.0, "share", 12, 0, "0.0 % (0/12)"),
        (4.25, "seconds", 30, None, "4.25 seconds (30)"),
        (12345.0, "tokens", 12345, None, "12,345 tokens"),
        (0.1234, "effect", 200, None, "0.123 (200)"),
        (0.0, "calls", 0, None, "0 calls"),
        (1.5, "USD", 2, None, "1.5 USD"),
    ],
)
def test_values_as_people_read_them(value: float | None, unit: str, n: int, numerator: int | None, text: str) -> None:
    assert shown(value, unit, n=n, numerator=numerator) == text


def test_a_drifting_mix_says_what_moved() -> None:
    found = tools_drifted(WINDOWS[0], {"search": 800, "refund": 200}, {"search": 50, "refund": 50}, "release 7")
    assert (found.n, found.reference and found.reference.n) == (100, 1000)
    assert set(found.detail[:2]) == {
        "refund +30.0 points (200 before, 50 now)",
        "search -30.0 points (800 before, 50 now)",
    }
    assert found.value == pytest.approx(0.2058, abs=1e-4)
    assert found.p is not None
    assert found.p < 1e-9


def test_drift_without_a_side_has_no_value() -> None:
    assert tools_drifted(WINDOWS[0], {}, {"search": 3}).value is None
    empty = tools_drifted(WINDOWS[0], {"search": 3}, {})
    assert (empty.value, empty.n) == (None, 0)
    unlike = confusion_drifted(WINDOWS[0], {Cell("a", "a"): 3}, {Cell("b", "b"): 4})
    assert (unlike.value, unlike.n, unlike.p) == (None, 4, None)


def test_drifting_confusion_names_the_rows_that_moved() -> None:
    before = {Cell("search", "search"): 90, Cell("search", "refund"): 10, Cell("refund", "refund"): 50}
    after = {Cell("search", "search"): 60, Cell("search", "refund"): 40, Cell("refund", "refund"): 50}
    found = confusion_drifted(WINDOWS[0], before, after)
    assert len(found.detail) == 1
    assert found.detail[0].startswith("search expected: refund +30.0 points (10 before, 40 now), p = ")


def test_signals_are_named_once_and_explained() -> None:
    for name, signal in SIGNALS.items():
        assert name == signal.name
        assert signal.empty_is_zero == (signal.kind == "count")
        assert (signal.unit == "share") == (signal.kind == "ratio")
        assert signal.of
        assert signal.about
