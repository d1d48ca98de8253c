"""Observations out of a real store, and what they are compared with."""

from __future__ import annotations

import pytest

from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import Observed, Query, Reference, Scope, Span, Window, WindowSpec
from otel_toolselect.model.gating import Baseline
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.monitor.references import Baselines, before_release, figure_of
from otel_toolselect.monitor.sources import StoreSource
from otel_toolselect.store import Store
from otel_toolselect.store.alert_api import Sighting
from tests.monitor.running import MINUTE, traffic
from tests.store.builders import HOUR, T0

FIVE = WindowSpec(Span(5, "m"), Span(5, "m"))
S = Scope(suite=("s",))
BASELINE = Baseline(
    "s", "ann", "raj", "2026-11-01", 0.75, 20, observations={"runs": 25, "infra": 3, "incomplete": 1},
    recall={"search": (12, 15), "refund": (3, 5)},
    cells=((Cell("search", "refund"), 3), (Cell("refund", "none"), 2)),
)  # fmt: skip


def window(minute: float, length: float = 5) -> Window:
    return Window(T0 + int(minute * MINUTE), T0 + int((minute + length) * MINUTE))


def only(found: object) -> Observed:
    (((observed,),),) = (tuple(found.values()),)  # type: ignore[attr-defined]
    return observed  # type: ignore[no-any-return]


def test_many_windows_are_asked_for_in_parts(store: Store) -> None:
    store.add_judged([], [*traffic(1, 1, agent="a"), *traffic(500, 1, 1, agent="b")])
    windows = [window(5 * i) for i in range(120)]
    found = StoreSource(store, FIVE).observe(Query("wrong_tool", S, by=("agent",)), windows)
    assert list(found) == [(("agent", "a"),), (("agent", "b"),)]
    for series, place, n in (("a", 0, 1), ("b", 100, 2)):
        observed = found[(("agent", series),)]
        assert [(o.start_ns, o.end_ns) for o in observed] == [(w.start_ns, w.end_ns) for w in windows]
        assert [i for i, o in enumerate(observed) if o.n] == [place]
        assert observed[place].n == n
        assert observed[1].value is None


def test_against_the_previous_period(store: Store) -> None:
    store.add_judged([], [*traffic(-60 * 24 + 1, 3, 1), *traffic(1, 1, 1)])
    query = Query("decisions", S, against="previous", period=Span(1, "d"))
    observed = only(
        StoreSource(store, FIVE).observe(Query("wrong_tool", S, against="previous", period=Span(1, "d")), [window(0)])
    )
    assert (observed.numerator, observed.n) == (1, 2)
    assert observed.reference == Reference(0.25, 4, 1, "the window of 2026-11-01T10:00:00Z")
    counted = only(StoreSource(store, FIVE).observe(query, [window(0)]))
    assert counted.reference == Reference(4.0, 4, 4, "the window of 2026-11-01T10:00:00Z")
    # nothing there a day before: a reference without a value
    later = only(StoreSource(store, FIVE).observe(Query("wrong_tool", S, against="previous"), [window(0)]))
    assert later.reference is not None
    assert (later.reference.value, later.reference.n) == (None, 0)


def test_against_a_baseline_file_or_stretch(store: Store) -> None:
    store.add_judged([], [*traffic(-30, 6, 2), *traffic(1, 1, 1)])
    stretch = window(-60, 60)
    source = StoreSource(store, FIVE, Baselines({"s": BASELINE}, stretch))
    ask = Query("wrong_tool", S, against="baseline")
    assert only(source.observe(ask, [window(0)])).reference == Reference(0.25, 20, 5, "the baseline of s of 2026-11-01")
    without = StoreSource(store, FIVE, Baselines({"t": BASELINE}, stretch))
    found = only(without.observe(ask, [window(0)])).reference
    assert found == Reference(0.25, 8, 2, "the baseline from 2026-11-02T09:00:00Z", 5 / 60)
    assert only(StoreSource(store, FIVE).observe(ask, [window(0)])).reference is None


def test_against_what_ran_before_the_last_release(store: Store) -> None:
    day = 1440
    rows = [*traffic(0, 9, 1, model="m1"), *traffic(2 * day, 9, 1, model="m2"), *traffic(3 * day, 5, 5, model="m3")]
    rows += traffic(3 * day + 20, 9, 1, model="m3", catalog_id="other agent's")  # the same rollout
    store.add_judged([], rows)
    found = only(StoreSource(store, FIVE).observe(Query("wrong_tool", S, against="release"), [window(3 * day)]))
    assert found.reference is not None
    assert (found.n, found.reference.n, found.reference.numerator) == (10, 10, 1)
    assert found.reference.name == "what ran before model m3 of 2026-11-05T10:00:00Z"
    first = only(StoreSource(store, FIVE).observe(Query("wrong_tool", S, against="release"), [window(0)]))
    assert first.reference is None


def test_drift_against_each_kind_of_reference(store: Store) -> None:
    day = 1440
    rows = [*traffic(0, 40, 0, model="m1"), *traffic(2 * day, 20, 20, model="m2")]
    store.add_judged([], rows)
    now = window(2 * day)
    source = StoreSource(store, FIVE, Baselines({"s": BASELINE}))
    for against, period in (("release", None), ("previous", Span(2, "d")), ("baseline", None)):
        for signal in ("drift_tools", "drift_confusion"):
            found = only(source.observe(Query(signal, S, against=against, period=period), [now]))  # type: ignore[arg-type]
            assert found.n == 40, (against, signal)
            assert found.p is not None
            assert (found.value or 0) > 0.1, (against, signal)
    nothing = only(source.observe(Query("drift_tools", S, against="previous"), [now]))
    assert (nothing.value, nothing.n) == (None, 40)


def test_labels_with_quotes_drift_like_others(store: Store) -> None:
    odd = Cell("a'b\\", 'say "x", (y)')
    store.add_judged([], [*traffic(0, 10, 0, cells=(odd,)), *traffic(5, 10, 0, cells=(odd,))])
    found = only(StoreSource(store, FIVE).observe(Query("drift_confusion", S, against="previous"), [window(5)]))
    assert (found.value, found.n, found.p) == (0.0, 10, 1.0)


def test_lag_cannot_be_cut_by_what_spans_do_not_know(store: Store) -> None:
    with pytest.raises(InputError):
        StoreSource(store, FIVE).observe(Query("ingest_lag_p95", by=("agent",)), [window(0)])
    found = only(StoreSource(store, FIVE).observe(Query("ingest_lag_p95", against="release"), [window(0)]))
    assert (found.value, found.n, found.reference) == (None, 0, None)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Query("accuracy", S), (0.75, 20, 15)),
        (Query("recall", Scope(suite=("s",), tool=("search", "refund"))), (0.75, 20, 15)),
        (Query("recall", S, by=("tool",)), (0.6, 5, 3)),
        (Query("precision", S, by=("tool",)), (0.5, 6, 3)),
        (Query("worst_recall", S, least=6), (0.8, 15, 12)),
        (Query("worst_recall", S, least=99), None),
        (Query("confusion_share", Scope(suite=("s",), pair=("search", "refund"))), (0.2, 15, 3)),
        (Query("infra_rate", S), (0.125, 24, 3)),
        (Query("latency_p95", S), None),
    ],
)
def test_figures_of_a_baseline_file(query: Query, expected: tuple[float, int, int] | None) -> None:
    series = (("tool", "refund"),) if query.by else ()
    found = figure_of(BASELINE, query, series)
    assert (None if found is None else (found.value, found.n, found.numerator)) == expected


def seen(hours: float, model: str = "m") -> Sighting:
    return Sighting(model, "", "", "", T0 + int(hours * HOUR), 9)


@pytest.mark.parametrize(
    ("sightings", "expected"),
    [
        ([], None),
        ([0], None),
        ([0, 0.5], None),  # two that run side by side from the start
        ([0, 30], (0, 30)),
        ([0, 30, 30.5], (0, 30)),  # a rollout
        ([0, 30, 53.5], (0, 30)),  # a quiet agent that the rollout reached late, or a hot fix of it
        ([0, 30, 55], (30, 55)),
        ([0, 30, 101], (0, 30)),  # begins after the window
        ([-900, -100], (-436, -100)),  # at most 14 days
        ([-900, -600], None),  # older than what is looked at
    ],
)
def test_releases(sightings: list[float], expected: tuple[float, float] | None) -> None:
    window_now = Window(T0 + 99 * HOUR, T0 + 100 * HOUR)
    found = before_release([seen(h, f"m{h}") for h in sightings], window_now)
    hours = None if found is None else tuple((t - T0) / HOUR for t in (found.window.start_ns, found.window.end_ns))
    assert hours == expected


def test_a_place_is_remembered_for_a_while(store: Store) -> None:
    store.add_judged([], [*traffic(-30, 6, 2), *traffic(1, 1, 1)])
    source = StoreSource(store, FIVE, Baselines({}, window(-60, 60)))
    now = 0.0
    source.memory.clock = lambda: now
    ask = Query("wrong_tool", S, against="baseline")
    source.observe(ask, [window(0)])
    store.add_judged([], traffic(-20, 0, 8))
    kept = only(source.observe(ask, [window(0)])).reference
    now = 601.0
    fresh = only(source.observe(ask, [window(0)])).reference
    assert (kept and kept.n, fresh and fresh.n) == (8, 16)
