"""The state machine, table by table: what a course of windows makes of an alert (issue F, design section 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from otel_toolselect.model.alerting import (
    UNIT_NS,
    Alert,
    AlertState,
    Change,
    Drift,
    Limit,
    Notification,
    Observed,
    Reference,
    Span,
    WindowSpec,
)
from otel_toolselect.monitor.alerts import begin, correctable_since, evaluate, retire
from otel_toolselect.monitor.alerts.deciding import decide
from otel_toolselect.monitor.alerts.evaluating import KEPT

M = UNIT_NS["m"]
FIVE = WindowSpec(Span(5, "m"), Span(5, "m"))
WRONG = Alert("wrong", "wrong_tool", FIVE, Limit("above", 0.1), min_count=10, no_data_after_ns=15 * M)
GOOD, BAD, FEW, NONE = (1, 20), (3, 20), (1, 1), (0, 0)


def window(index: int, pair: tuple[int, int]) -> Observed:
    numerator, n = pair
    return Observed(index * 5 * M, (index + 1) * 5 * M, numerator / n if n else None, n, numerator)


def told(alert: Alert, pairs: Sequence[tuple[int, int]]) -> list[tuple[str, list[str]]]:
    """State and kinds of notifications after each window."""
    state: AlertState | None = None
    found = []
    for i, pair in enumerate(pairs):
        state, news = evaluate(alert, state, [window(i, pair)], (i + 1) * 5 * M)
        found.append((str(state.word), [str(n.kind) for n in news]))
    return found


def run(alert: Alert, *windows: Observed, state: AlertState | None = None) -> tuple[AlertState, list[Notification]]:
    news: list[Notification] = []
    for observed in windows:
        state, more = evaluate(alert, state, [observed], observed.end_ns)
        news += more
    assert state is not None
    return state, news


@pytest.mark.parametrize(
    ("options", "pairs", "expected"),
    [
        (
            {"for_ns": 10 * M},
            [BAD, BAD, GOOD, BAD, BAD, BAD],
            "pending pending inactive pending pending firing:fire",
        ),
        # a window that decides nothing neither breaks what is pending nor completes it
        ({"for_ns": 5 * M}, [BAD, NONE, FEW, BAD], "pending pending pending firing:fire"),
        ({"for_ns": 5 * M}, [BAD, NONE, FEW, GOOD], "pending pending pending inactive"),
        # a gap that is told breaks it, though: nobody saw what was in between
        (
            {"for_ns": 5 * M},
            [BAD, NONE, NONE, NONE, BAD, BAD],
            "pending pending pending no_data:no_data pending:data_back firing:fire",
        ),
        (
            {"keep_firing_ns": 10 * M},
            [BAD, GOOD, GOOD, BAD, GOOD, NONE, GOOD, GOOD],
            "firing:fire firing firing firing firing firing resolved:resolve inactive",
        ),
        ({}, [BAD, GOOD, BAD, GOOD, GOOD], "firing:fire resolved:resolve firing:fire resolved:resolve inactive"),
        # an incident outlasts a gap: it is neither closed by it nor told again after it
        (
            {},
            [BAD, NONE, NONE, NONE, NONE, BAD, GOOD],
            "firing:fire firing firing no_data:no_data no_data firing:data_back resolved:resolve",
        ),
        (
            {},
            [BAD, NONE, NONE, NONE, GOOD],
            "firing:fire firing firing no_data:no_data resolved:data_back,resolve",
        ),
        # too few observations are data all the same
        ({}, [NONE, NONE, FEW, NONE, NONE, NONE], "inactive inactive inactive inactive inactive no_data:no_data"),
        ({"no_data_after_ns": None}, [NONE] * 4, "inactive inactive inactive inactive"),
        ({"no_data_after_ns": M}, [NONE, NONE, GOOD], "no_data:no_data no_data inactive:data_back"),
        ({"min_count": 0}, [FEW], "firing:fire"),
    ],
)
def test_courses(options: dict[str, Any], pairs: list[tuple[int, int]], expected: str) -> None:
    found = [word + (":" + ",".join(kinds) if kinds else "") for word, kinds in told(replace(WRONG, **options), pairs)]
    assert " ".join(found) == expected


def test_a_sliding_window_knows_a_gap_by_its_first_empty_window() -> None:
    alert = replace(WRONG, window=WindowSpec(Span(1, "h"), Span(5, "m")), no_data_after_ns=60 * M)
    state, news = run(alert, Observed(0, 60 * M, 0.05, 20, 1), Observed(5 * M, 65 * M, None, 0, 0))
    assert [n.kind for n in news] == ["no_data"]
    assert news[0].since_ns == 5 * M
    assert state.word == "no_data"


def test_limits_are_strict_and_exact() -> None:
    assert decide(WRONG, window(0, (3, 30))).kind == "good"  # 0.1 in floating point is a little more than a tenth
    assert decide(WRONG, window(0, (301, 3000))).kind == "breach"
    below = replace(WRONG, signal="accuracy", condition=Limit("below", 0.9))
    assert decide(below, window(0, (27, 30))).kind == "good"
    assert decide(below, window(0, (26, 30))).kind == "breach"


def test_a_count_of_nothing_is_zero() -> None:
    alert = replace(WRONG, signal="ghost_calls", condition=Limit("above", 0), min_count=0, no_data_after_ns=None)
    assert decide(alert, Observed(0, 5 * M, None, 0)).kind == "good"
    assert "ghost_calls is 0 calls" in decide(alert, Observed(0, 5 * M, None, 0)).says
    assert decide(alert, Observed(0, 5 * M, 1.0, 1)).kind == "breach"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_no_observation(value: float) -> None:
    with pytest.raises(ValueError, match="no observation"):
        Observed(0, 1, value, 1)
    with pytest.raises(ValueError, match="no observation"):
        Observed(0, 1, 0.5, 1, reference=Reference(value, 1))


def compared(signal: str, condition: Change, after: Observed, **options: Any) -> tuple[str, str]:
    found = decide(replace(WRONG, signal=signal, condition=condition, min_count=20, **options), after)
    return found.kind, found.says


def against(value: float | None, n: int, numerator: int | None, reference: Reference | None) -> Observed:
    return Observed(0, 5 * M, value, n, numerator, reference=reference)


@pytest.mark.parametrize(
    ("after", "before", "kind"),
    [
        ((160, 200), (180, 200), "breach"),  # ten points down, and p < 0.01
        ((174, 200), (180, 200), "good"),  # three points matter to nobody
        ((16, 20), (180, 200), "good"),  # ten points, but chance does as much with twenty
        ((198, 200), (180, 200), "good"),  # up is no drop
        ((5, 10), (180, 200), "held"),
        ((160, 200), (9, 10), "held"),  # a baseline of ten says too little
    ],
)
def test_a_drop_against_a_baseline(after: tuple[int, int], before: tuple[int, int], kind: str) -> None:
    (k, n), (b, m) = after, before
    drop = Change("baseline", "drop", 0.05)
    found, says = compared("recall", drop, against(k / n, n, k, Reference(b / m, m, b, "release 7")))
    assert found == kind
    if kind == "breach":
        assert "90.0 % (180/200) in release 7: -10.0 points, p = " in says


def test_nothing_to_compare_with_decides_nothing() -> None:
    drop = Change("previous", "drop", 0.05)
    assert compared("recall", drop, against(0.5, 20, 10, None))[0] == "held"
    assert compared("recall", drop, against(0.5, 20, 10, Reference(None, 0, 0)))[0] == "held"


def test_counts_rise_in_proportion() -> None:
    alert = replace(
        WRONG,
        signal="confusion_count",
        condition=Change("previous", "rise", 0.5),
        min_count=0,
        no_data_after_ns=None,
    )

    def kind(now: int, before: int, length: float = 1.0) -> str:
        seen = Observed(0, 5 * M, float(now), now, reference=Reference(float(before), before, length=length))
        return decide(alert, seen).kind

    assert kind(60, 30) == "breach"
    assert kind(40, 30) == "good"  # a third more
    assert kind(3, 2) == "good"  # half more, of two
    assert kind(60, 30, length=2.0) == "good"  # in twice the time
    assert kind(9, 0) == "breach"
    assert kind(0, 0) == "good"


def test_quantiles_are_compared_by_size_alone() -> None:
    rise = Change("previous", "rise", 0.5, None)
    assert compared("latency_p95", rise, against(9.0, 40, None, Reference(4.0, 40)))[0] == "breach"
    assert compared("latency_p95", rise, against(5.0, 40, None, Reference(4.0, 40)))[0] == "good"


def test_a_drift_needs_size_and_significance() -> None:
    alert = replace(WRONG, signal="drift_tools", condition=Drift("baseline", 0.1, 0.01), min_count=20)

    def kind(effect: float | None, p: float | None, n: int = 200) -> str:
        return decide(alert, Observed(0, 5 * M, effect, n, p=p)).kind

    assert [kind(0.2, 0.001), kind(0.05, 0.001), kind(0.2, 0.02)] == ["breach", "good", "good"]
    assert [kind(None, None), kind(None, None, 0), kind(0.5, 0.001, 5)] == ["held", "empty", "held"]


def test_a_notification_says_everything() -> None:
    alert = replace(
        WRONG,
        by=("agent",),
        owner="agents-team",
        runbook="https://example.org/wrong-tool",
        severity="critical",
        labels={"team": "payments"},
        annotations={"summary": "{agent}: {value} since {since} ({team}, {owner}) {{literally}}"},
    )
    state = begin(alert, (("agent", "billing {value}"),))
    state, (fire,) = evaluate(alert, state, [window(0, BAD)], 5 * M)
    assert fire.key == 'wrong{"agent": "billing {value}"}#1'
    assert fire.annotations["summary"] == (
        "billing {value}: 15.0 % (3/20) since 1970-01-01T00:05:00Z (payments, agents-team) {literally}"
    )
    assert fire.labels == {
        "team": "payments",
        "agent": "billing {value}",
        "alert": "wrong",
        "signal": "wrong_tool",
        "severity": "critical",
        "owner": "agents-team",
    }
    assert fire.says == "wrong_tool is 15.0 % (3/20), above 10.0 %"
    state, (gap,) = evaluate(alert, state, [window(i, NONE) for i in (1, 2, 3)], 20 * M)
    assert (gap.value, gap.n, gap.kind) == (None, 0, "no_data")
    assert "n/a (0)" in gap.annotations["summary"]
    state, news = evaluate(alert, state, [window(4, GOOD)], 25 * M)
    assert [(n.kind, n.since_ns // M) for n in news] == [("data_back", 5), ("resolve", 5)]


def test_an_alert_that_is_edited_fires_on_until_a_window_says_otherwise() -> None:
    state, _ = run(WRONG, window(0, BAD))
    stricter = replace(WRONG, condition=Limit("above", 0.2))
    state, news = evaluate(
        stricter, state, [window(0, (2, 20))], 6 * M
    )  # nothing new: the old window is not judged anew
    assert (state.word, news) == ("firing", ())
    state, news = evaluate(stricter, state, [window(1, BAD)], 10 * M)
    assert [n.kind for n in news] == ["resolve"]


def test_an_alert_that_is_only_told_otherwise_keeps_its_windows() -> None:
    state, _ = run(WRONG, window(0, BAD))
    again, _ = evaluate(replace(WRONG, owner="others", severity="info"), state, [], 6 * M)
    assert again.recent == state.recent


def test_an_alert_that_leaves_its_file_is_closed_and_goes_on_counting() -> None:
    state, _ = run(WRONG, *(window(i, p) for i, p in enumerate([BAD, NONE, NONE, NONE])))
    state, news = retire(state, 21 * M)
    assert [(n.kind, n.change, n.says) for n in news] == [
        ("data_back", 3, "no longer watched"),
        ("resolve", 4, "no longer watched"),
    ]
    state, news = retire(state, 22 * M)
    assert news == ()
    state, (fire,) = evaluate(WRONG, state, [window(5, BAD)], 30 * M)
    assert fire.change == 5


def test_what_begins_under_some_labels_ends_under_them() -> None:
    """Or a receiver that knows alerts by their labels would wait for the end for ever."""
    state, _ = run(replace(WRONG, owner="ann", labels={"team": "a"}), window(0, BAD))
    edited = replace(WRONG, owner="raj", severity="critical", labels={"team": "b"})
    again, news = run(edited, window(1, GOOD), window(2, BAD), state=state)
    assert [(n.kind, n.labels["team"], n.owner, n.severity) for n in news] == [
        ("resolve", "a", "ann", "warning"),
        ("fire", "b", "raj", "critical"),
    ]
    assert again.fire == news[1]
    _, (end,) = retire(state, 9 * M)
    assert (end.labels["team"], end.owner, end.says) == ("a", "ann", "no longer watched")


def test_what_is_kept_is_bounded() -> None:
    state, news = run(WRONG, *(window(i, BAD if i % 50 == 0 else GOOD) for i in range(3 * KEPT)))
    assert len(state.recent) == KEPT
    assert correctable_since(state) == 2 * KEPT * 5 * M
    assert len(news) == 12
    assert state.base.track in ("inactive", "resolved")
