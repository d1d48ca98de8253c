"""What all parts share to show figures."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.telemetry.histogram import Histogram
from otel_toolselect.telemetry.metrics import OTHER, Refreshed, capped


@given(st.lists(st.floats(0, 20), max_size=50))
def test_a_histogram_counts_up_to_each_bound(values: list[float]) -> None:
    histogram = Histogram((0.05, 1.0, 10.0))
    for value in values:
        histogram.observe(value)
    found = histogram.snapshot()
    expected = [(str(b), sum(v <= b for v in values)) for b in (0.05, 1.0, 10.0)]
    assert list(found.buckets) == [*expected, ("+Inf", len(values))]
    assert found.count == len(values)
    assert found.total == pytest.approx(sum(values))


@given(st.dictionaries(st.sampled_from([OTHER, *"abcdefgh"]), st.integers(0, 5)), st.integers(0, 10))
def test_label_values_are_capped_and_nothing_is_lost(counts: dict[str, float], limit: int) -> None:
    found = capped(counts, OTHER, limit)
    assert len(found) <= limit + 1
    assert sum(found.values()) == sum(counts.values())
    named = {name: n for name, n in found.items() if name != OTHER}
    left = [n for name, n in counts.items() if name not in named and name != OTHER]
    assert all(n <= min(named.values(), default=0) for n in left) or not limit
    assert found == capped(dict(reversed(counts.items())), OTHER, limit), "the order of counting changes nothing"


def test_pairs_are_capped_too() -> None:
    pairs = {("refund", "invoice"): 3.0, ("a", "b"): 2.0, ("c", "d"): 1.0}
    assert capped(pairs, (OTHER, OTHER), 1) == {("refund", "invoice"): 3.0, (OTHER, OTHER): 3.0}


def test_a_value_is_asked_for_once_in_a_while() -> None:
    asked: list[int] = []

    def ask() -> int:
        asked.append(1)
        return len(asked)

    kept = Refreshed(ask, every_s=3600)
    assert [kept.get() for _ in range(5)] == [1] * 5
    eager = Refreshed(ask, every_s=0)
    assert eager.get() != eager.get()


def test_a_question_that_hangs_or_fails_leaves_the_last_answer() -> None:
    gate = threading.Event()
    answers = iter([lambda: 1, lambda: gate.wait() and 2, lambda: 1 / 0])
    kept = Refreshed(lambda: next(answers)(), every_s=0, patience_s=0.01)
    while kept.get() is None:
        pass
    assert kept.get() == 1, "the second answer has not come yet"
    gate.set()
    while kept.get() != 2:
        pass
    assert kept.get() == 2


def test_an_answer_of_long_ago_is_none() -> None:
    answers = iter([lambda: 1, lambda: 1 / 0])
    kept = Refreshed(lambda: next(answers)(), every_s=0, stale_s=0.0)
    assert kept.get() is None


def test_nobody_pays_for_what_is_off() -> None:
    code = """
import sys
from otel_toolselect.telemetry import logs, metrics, tracing
from otel_toolselect import receive
with tracing.span("x", n=1) as add:
    add("y", 2)
bad = [m for m in sys.modules if m.split(".")[0] in ("opentelemetry", "prometheus_client", "grpc", "starlette")]
sys.exit(f"imported: {bad[:3]}" if bad else 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
