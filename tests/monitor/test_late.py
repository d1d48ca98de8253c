"""Late data: values are corrected, nothing is told twice, nothing that mattered is lost (design section 10)."""

from __future__ import annotations

from dataclasses import replace

from otel_toolselect.model.alerting import (
    UNIT_NS,
    Alert,
    AlertState,
    Change,
    Drift,
    Limit,
    Observed,
    Reference,
    Span,
    WindowSpec,
)
from otel_toolselect.monitor.alerts import evaluate
from otel_toolselect.monitor.alerts.evaluating import KEPT

M = UNIT_NS["m"]
ALERT = Alert(
    "wrong",
    "wrong_tool",
    WindowSpec(Span(5, "m"), Span(5, "m")),
    Limit("above", 0.1),
    min_count=10,
    no_data_after_ns=15 * M,
)
GOOD, BAD, NONE = (1, 20), (3, 20), (0, 0)


def window(index: int, pair: tuple[int, int]) -> Observed:
    numerator, n = pair
    return Observed(index * 5 * M, (index + 1) * 5 * M, numerator / n if n else None, n, numerator)


class Story:
    def __init__(self, alert: Alert = ALERT) -> None:
        self.alert = alert
        self.state: AlertState | None = None
        self.next = 0

    def comes(self, *pairs: tuple[int, int]) -> str:
        found = [window(self.next + i, pair) for i, pair in enumerate(pairs)]
        self.next += len(pairs)
        return self._evaluate(found)

    def late(self, **corrected: tuple[int, int]) -> str:
        return self._evaluate([window(int(name[1:]), pair) for name, pair in corrected.items()])

    def _evaluate(self, found: list[Observed]) -> str:
        self.state, news = evaluate(self.alert, self.state, found, self.next * 5 * M)
        return " ".join([*(n.kind + ("*" if n.late else "") for n in news), "->", self.state.word])


def test_a_corrected_value_is_kept_and_not_told() -> None:
    story = Story()
    assert story.comes(GOOD, GOOD) == "-> inactive"
    assert story.late(w1=(2, 24)) == "-> inactive"
    assert story.state is not None
    assert story.state.last == window(1, (2, 24))
    assert "8.3 % (2/24)" in story.state.said


def test_an_alert_that_fires_is_not_resolved_by_a_correction_but_by_the_next_window() -> None:
    story = Story()
    assert story.comes(GOOD, BAD) == "fire -> firing"
    assert story.late(w1=(3, 40)) == "-> firing"
    assert story.late(w1=(5, 45)) == "-> firing"
    assert story.late(w1=(5, 60)) == "-> firing"
    assert story.comes(GOOD) == "resolve -> resolved"
    assert story.late(w1=(9, 70)) == "-> resolved"  # told long ago


def test_a_missed_incident_is_told_once_although_it_is_over() -> None:
    story = Story()
    assert story.comes(GOOD, (1, 10), GOOD, GOOD) == "-> inactive"
    assert story.late(w1=(6, 20)) == "fire* -> firing"
    assert story.late(w1=(7, 21)) == "-> firing"
    assert story.comes(GOOD) == "resolve -> resolved"
    assert story.late(w1=(8, 22)) == "-> resolved"


def test_a_missed_incident_while_another_fires_is_not_told() -> None:
    story = Story()
    assert story.comes(GOOD, GOOD, GOOD, BAD) == "fire -> firing"
    assert story.late(w1=BAD) == "-> firing"
    assert story.comes(GOOD) == "resolve -> resolved"
    assert story.late(w1=(4, 21)) == "-> resolved"


def test_an_incident_that_began_earlier_than_told_is_the_same_incident() -> None:
    story = Story()
    assert story.comes(GOOD, GOOD, BAD, GOOD) == "fire resolve -> resolved"
    assert story.late(w1=BAD) == "-> resolved"
    assert story.late(w3=BAD) == "-> resolved"  # ... or lasted longer: the next window says whether it still does
    assert story.comes(BAD) == "fire -> firing"


def test_late_data_complete_what_was_pending() -> None:
    story = Story(replace(ALERT, for_ns=5 * M))
    assert story.comes(GOOD, BAD) == "-> pending"
    assert story.late(w0=BAD) == "fire* -> firing"
    story = Story(replace(ALERT, for_ns=5 * M))
    assert story.comes(GOOD, BAD) == "-> pending"
    assert story.late(w1=GOOD) == "-> inactive"
    assert story.comes(BAD) == "-> pending"
    assert story.late(w1=BAD) == "fire* -> firing"


def test_what_fires_or_is_pending_is_not_undone_by_what_came_before() -> None:
    story = Story(replace(ALERT, for_ns=5 * M))
    assert story.comes(BAD, BAD) == "fire -> firing"
    assert story.late(w0=GOOD) == "-> firing"  # by the data it would be pending
    assert story.comes(GOOD, BAD) == "resolve -> pending"
    assert story.late(w0=BAD, w2=BAD) == "-> pending"  # by the data it would fire on: the next window says so
    assert story.comes(BAD) == "fire -> firing"


def test_an_hour_that_comes_late_ends_the_gap_and_is_judged() -> None:
    story = Story()
    assert story.comes(GOOD, NONE, NONE, NONE, NONE) == "no_data -> no_data"
    assert story.late(w1=GOOD, w2=GOOD, w3=GOOD, w4=GOOD) == "data_back* -> inactive"
    assert story.comes(NONE, NONE) == "-> inactive"
    assert story.comes(NONE) == "no_data -> no_data"
    assert story.late(w5=GOOD, w6=(5, 20)) == "data_back* fire* -> firing"


def test_a_gap_that_is_filled_in_part_is_a_gap_yet() -> None:
    story = Story()
    assert story.comes(GOOD, NONE, NONE, NONE, NONE, NONE, NONE) == "no_data -> no_data"
    assert story.late(w1=GOOD) == "-> no_data"
    assert story.late(w3=GOOD) == "-> no_data"  # three empty windows are left: still a gap of 15 minutes
    assert story.late(w5=GOOD) == "data_back* -> inactive"


def test_an_incident_at_the_edge_of_what_is_kept_is_not_told_again() -> None:
    story = Story()
    assert story.comes(GOOD, BAD, *[GOOD] * KEPT) == "fire resolve -> inactive"
    assert story.late(w2=BAD) == "-> inactive"  # it lasted longer; its begin has left the kept windows
    assert story.late(w3=BAD, w2=GOOD) == "fire* -> firing"  # this is another


def test_older_than_what_is_kept_is_left_alone() -> None:
    story = Story()
    story.comes(*[GOOD] * 200)
    assert story.late(w3=BAD) == "-> inactive"


def test_a_baseline_that_moves_corrects_nothing() -> None:
    def seen(before: int) -> Observed:
        return Observed(0, 5 * M, 0.8, 200, 160, reference=Reference(before / 200, 200, before))

    alert = replace(ALERT, signal="recall", condition=Change("baseline", "drop", 0.05))
    state, news = evaluate(alert, None, [seen(160)], 5 * M)
    assert (state.word, news) == ("inactive", ())
    again, news = evaluate(alert, state, [seen(190)], 6 * M)
    assert (again, news) == (state, ())


def test_a_quantile_is_corrected_by_its_value_a_test_by_its_count() -> None:
    slow = replace(ALERT, signal="latency_p95", condition=Limit("above", 9))
    state, _ = evaluate(slow, None, [Observed(0, 5 * M, 4.0, 20)], 5 * M)
    assert [n.kind for n in evaluate(slow, state, [Observed(0, 5 * M, 12.0, 20)], 6 * M)[1]] == ["fire"]
    mix = replace(ALERT, signal="drift_tools", condition=Drift("baseline", 0.1))
    state, _ = evaluate(mix, None, [Observed(0, 5 * M, 0.05, 20, p=0.5)], 5 * M)
    assert evaluate(mix, state, [Observed(0, 5 * M, 0.5, 20, p=0.001)], 6 * M) == (state, ())
    assert [n.kind for n in evaluate(mix, state, [Observed(0, 5 * M, 0.5, 21, p=0.001)], 6 * M)[1]] == ["fire"]
