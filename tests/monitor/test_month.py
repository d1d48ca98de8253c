"""A month of production under the monitor: it tells what happened, when and for how long, and nothing else.

What must come out is said twice: by `INCIDENTS`, from the plan of the month, and by `month.truth`, from the decisions.
Scaled down: some 770 decisions a weekday, and a round every twelve hours instead of every ten seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from otel_toolselect.app.monitoring import backtest
from otel_toolselect.config import Monitor, Settings
from otel_toolselect.monitor import runner
from otel_toolselect.monitor.keeping import read_states
from otel_toolselect.store import open_store
from tests.monitor.month.plan import DAYS, HOUR, at, planned
from tests.monitor.month.traffic import arrivals
from tests.monitor.month.truth import Known, Rows, Series, Told, final, rounds_of, table, told
from tests.monitor.month.watches import watches
from tests.monitor.month.watching import ALERTS, Watched

PLAN = planned()
CANCEL: Series = (("tool", "cancel_order"),)
Incident = tuple[str, Series, str, int, int, bool]
"""Alert, series, kind, ends of the windows that began and ended it, whether it was told late."""

INCIDENTS: list[Incident] = [
    # relabelled two days later: told then, over with the next day
    ("accuracy", (), "fire", at(11), at(13), True),
    ("accuracy", (), "no_data", at(17), at(18), False),
    ("worst-tool", (), "fire", at(21), at(29), False),
    ("recall-after-release", CANCEL, "fire", at(21), at(29), False),
    ("refund-for-invoice", (), "fire", at(9, "14:00"), at(9, "18:00"), False),
    ("refund-for-invoice", (), "fire", at(13, "16:00"), at(14, "02:00"), True),
    ("refunds-confused", (), "fire", at(9, "16:00"), at(10, "12:00"), False),
    ("refunds-confused", (), "fire", at(13, "18:00"), at(14, "15:00"), True),
    ("forbidden-writes", (), "fire", at(4, "16:00"), at(4, "20:00"), False),
    ("forbidden-writes", (), "fire", at(15), at(15, "04:00"), False),
    ("forbidden-writes", (), "fire", at(18, "11:00"), at(18, "18:00"), False),
    ("forbidden-writes-of-the-day", (), "fire", at(5), at(6), False),
    ("forbidden-writes-of-the-day", (), "fire", at(15), at(16), False),
    ("forbidden-writes-of-the-day", (), "fire", at(19), at(20), False),
    ("nothing-arrives", (), "fire", at(13, "15:00"), at(13, "16:00"), False),
    ("nothing-arrives", (), "fire", at(16, "01:00"), at(17, "01:00"), False),
    ("infra", (), "fire", at(6, "11:00"), at(6, "13:00"), False),
    ("dearer", (), "fire", at(23), at(30), False),
    ("other-mix", (), "fire", at(26), at(28), False),
]
LATE = ("accuracy", "refund-for-invoice", "refunds-confused")


@dataclass(frozen=True, slots=True)
class Month:
    rows: Rows
    rounds: list[int]
    told: list[Told]
    repeated: list[str]
    dsn: str


@pytest.fixture(scope="module")
def month(engine_home: Path) -> Month:
    came = arrivals(PLAN)
    rows, rounds = table(came), rounds_of(PLAN, 12 * HOUR)
    watched = Watched(PLAN, f"chdb://{engine_home}?database=month")
    with pytest.MonkeyPatch.context() as patch:
        # versions are of the real clock, in which the month takes seconds: each round would look at all of it again
        patch.setattr(runner, "_OVERLAP_NS", 0)
        # one ends in order, one dies with what it has just sent and not noted
        dies = next(now for now in rounds if now > at(21) + 12 * HOUR)
        found = watched.through(came, rounds, stop_before=[rounds[19]], die_before=[dies])
    keys = [n.key for n in watched.hook.sent]
    repeated = [n.alert for i, n in enumerate(watched.hook.sent) if n.key in keys[:i]]
    return Month(rows, rounds, found, repeated, watched.dsn)


def test_what_was_told_is_what_the_decisions_say(month: Month) -> None:
    wanted = [one for watch in watches(PLAN) for one in told(watch, month.rows, month.rounds)]
    assert sorted(month.told) == sorted(wanted)


def test_what_was_told_is_what_was_planned_and_nothing_else(month: Month) -> None:
    assert sorted(_incidents(month.told)) == sorted(INCIDENTS)


def test_only_what_a_dead_monitor_had_not_noted_was_sent_twice(month: Month) -> None:
    assert sorted(month.repeated) == ["recall-after-release", "worst-tool"]


def test_figures_are_those_of_the_decisions_with_late_ones_and_corrections_in_them(month: Month) -> None:
    by_alert = {watch.alert: watch for watch in watches(PLAN)}
    known, compared = Known(month.rows, month.rounds[-1]), 0
    store = open_store(month.dsn)
    for state in read_states(store.alerts):
        for seen in (one.observed for one in state.recent):
            wanted = by_alert[state.alert].measure(known, seen.start_ns, seen.end_ns).get(state.series)
            if seen.n:
                assert (state.alert, wanted.n, wanted.numerator) == (state.alert, seen.n, seen.numerator)  # type: ignore[union-attr]
                compared += 1
    store.close()
    assert compared > 35 * DAYS


def test_an_outage_of_infra_does_not_move_accuracy(month: Month) -> None:
    accuracy = next(watch for watch in watches(PLAN) if watch.alert == "accuracy")
    outage = accuracy.measure(Known(month.rows, month.rounds[-1]), at(6), at(7))[()]
    spoiled = month.rows[month.rows.infra & (month.rows.start >= at(6)) & (month.rows.start < at(7))]
    assert len(spoiled) > outage.n / 12 > 0  # as wrong choices they would have fired it
    assert outage.numerator is not None
    assert outage.numerator > 0.93 * outage.n


def test_a_backtest_of_the_month_says_the_same_but_for_what_was_late(month: Month) -> None:
    lead = f"{_iso(PLAN.lead.start_ns)}/{_iso(PLAN.lead.end_ns)}"
    settings = Settings(monitor=Monitor(baseline_window=lead))
    store = open_store(month.dsn)
    replayed = backtest(store, settings.monitor, [str(ALERTS)], PLAN.begin_ns, PLAN.end_ns)
    store.close()
    episodes = [(e.alert, e.series, e.kind, e.began_ns, e.ended_ns, False) for r in replayed for e in r.episodes]
    stands, at_once = final(month.rows), [month.rounds[-1]]
    wanted = [one for watch in watches(PLAN) for one in told(watch, stands, at_once)]
    assert sorted(episodes) == sorted(_incidents(wanted))
    in_time = [i for i in INCIDENTS if not i[-1] and i[:4] != ("nothing-arrives", (), "fire", at(13, "15:00"))]
    rest = [e for e in episodes if e not in in_time]
    assert len(episodes) == len(in_time) + len(rest)
    assert sorted(e[0] for e in rest) == sorted(LATE)


def _incidents(news: list[Told]) -> list[Incident]:
    ends = {"resolve": "fire", "data_back": "no_data"}
    found: list[Incident] = []
    begun: dict[tuple[str, Series, str], Told] = {}
    for one in sorted(news, key=lambda n: (n.alert, n.series, n.round_ns, n.at_ns)):
        if one.kind not in ends:
            begun[one.alert, one.series, one.kind] = one
            continue
        first = begun.pop((one.alert, one.series, ends[one.kind]))
        found.append((one.alert, one.series, first.kind, first.at_ns, one.at_ns, first.late))
    assert not begun
    return found


def _iso(ns: int) -> str:
    return f"{datetime.fromtimestamp(ns // 10**9, UTC):%Y-%m-%dT%H:%M:%SZ}"
