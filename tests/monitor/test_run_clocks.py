"""Runs whose clocks are years wrong (case 37, point 3): they shift no window, hold nothing up and set nothing off."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import Run
from otel_toolselect.store import Store
from tests.monitor.running import MINUTE, Bench, traffic
from tests.store.builders import DAY, T0

AHEAD = 3_650 * 1_440
BEHIND = -400 * 1_440
ALERTS = """\
alerts: shop
defaults: {window: {size: 5m, lateness: 1m}, min_count: 10}
list:
  - {id: wrong, signal: wrong_tool, of: {suite: s}, condition: {above: 0.1}}
  - {id: agent, signal: wrong_tool, of: {suite: s}, by: [agent], condition: {above: 0.1}}
  - {id: tool, signal: recall, of: {suite: s}, by: [tool], condition: {against: release, drop: 0.05}}
  - {id: worse, signal: wrong_tool, of: {suite: s}, condition: {against: previous, rise: 0.05}}
  - {id: mix, signal: drift_tools, of: {suite: s}, condition: {against: previous, effect: 0.1}}
  - {id: day, signal: wrong_tool, of: {suite: s}, window: {size: 1d, zone: Europe/Berlin}, condition: {above: 0.1}}
  - {id: gap, signal: accuracy, of: {suite: s}, condition: {below: 0.5}, no_data_after: 10m}
  - {id: silent, signal: no_data, of: {suite: s}}
"""


@pytest.fixture
def bench(store: Store, tmp_path: Path) -> Bench:
    return Bench(store, tmp_path, ALERTS)


def skewed(minute: float, *, before: float = 0) -> list[Decision]:
    """As bad as can be, of another agent and model; `before`: how far back from then."""
    return traffic(minute - before, 0, 50, name="skew", agent="odd", model="m-9")


@pytest.mark.parametrize("skew", [AHEAD, BEHIND], ids=["ten years ahead", "400 days behind"])
def test_what_is_told_and_where_alerts_stand_is_the_same_without_them(bench: Bench, skew: int) -> None:
    monitor = bench.monitor()
    bench.at(0)
    monitor.round()
    for minute, right, wrong in ((1, 20, 0), (6, 20, 10), (11, 30, 0)):
        bench.store.add_judged([], traffic(minute, right, wrong))
        bench.store.add_judged([], skewed(minute + skew))
        bench.at(minute + 5)
        assert not monitor.round()
    told = sorted((n.alert, n.kind, (n.at_ns - T0) // MINUTE, n.late) for n in bench.hook.sent)
    ends = [
        (alert, kind, at, False)
        for alert in ("agent", "worse", "wrong")
        for kind, at in (("fire", 10), ("resolve", 15))
    ]
    assert told == sorted([*ends, ("mix", "fire", 10, False)])
    good = T0 + 15 * MINUTE
    through = {record.alert: record.through_ns for record in bench.store.alerts.records()}
    assert {through[a] for a in ("wrong", "agent", "worse", "mix", "gap", "silent", "tool")} == {good}
    assert "odd" not in "".join(record.series for record in bench.store.alerts.records())


@pytest.mark.parametrize("skew", [AHEAD, BEHIND], ids=["ten years ahead", "400 days behind"])
def test_alone_they_are_no_data(bench: Bench, skew: int) -> None:
    monitor = bench.monitor()
    bench.at(0)
    monitor.round()
    bench.store.add_judged([], traffic(1, 20))
    bench.at(6)
    monitor.round()
    bench.store.add_judged([], skewed(7 + skew))
    bench.at(16)
    monitor.round()
    assert sorted(bench.hook.told) == [("gap", "no_data"), ("silent", "fire")]


@pytest.mark.parametrize("skew", [AHEAD, BEHIND], ids=["ten years ahead", "400 days behind"])
def test_a_restart_on_a_store_that_holds_them_begins_now(bench: Bench, skew: int) -> None:
    bench.store.add_judged([], [*skewed(1 + skew), *traffic(1, 10, 10)])
    bench.at(6)
    first = bench.monitor()
    assert not first.round()
    first.stop()
    bench.at(11)
    bench.store.add_judged([], [*skewed(6 + skew), *traffic(6, 20)])
    again = bench.monitor()
    assert not again.round()
    assert ("wrong", "resolve") in bench.hook.told
    assert {record.alert for record in bench.store.alerts.records()} >= {"wrong", "agent", "worse"}
    assert max(record.through_ns for record in bench.store.alerts.records()) == T0 + 10 * MINUTE


@pytest.mark.parametrize("start", [2**32 * 10**9, 2**63 - 1, 2**64 - 1])
def test_what_starts_at_the_end_of_time_is_kept_and_replaced_like_any_other(bench: Bench, start: int) -> None:
    (far,) = traffic(1, 0, 1, name="far")
    far = replace(far, start_ns=start)
    bench.store.add_judged([], [far, *traffic(1, 10, 10)])
    corrected = replace(far, status="needs_review")
    run = Run(far.run_id, far.trace_id, (far.trace_id,), (), start_ns=start)
    bench.store.replace_judged(["s"], [run], [], [corrected])
    assert [d for d in bench.store.decisions("s") if d.run_id == far.run_id] == [corrected]
    bench.at(6)
    assert not bench.monitor().round()
    assert ("wrong", "fire") in bench.hook.told
    bench.store.replace_judged(["s"], [run], [], [])
    assert far.run_id not in {d.run_id for d in bench.store.decisions("s")}


def test_what_is_ahead_counts_when_its_time_has_come(bench: Bench) -> None:
    """An hour of skew is a matter of an hour; windows cannot know better than the clock that was used."""
    monitor = bench.monitor()
    bench.at(0)
    monitor.round()
    bench.store.add_judged([], traffic(61, 0, 20))
    bench.at(56)
    monitor.round()
    assert ("wrong", "fire") not in bench.hook.told
    bench.at(66)
    monitor.round()
    assert [n.at_ns - T0 for n in bench.hook.sent if n.alert == "wrong"] == [65 * MINUTE]


def test_late_beyond_correction_is_in_figures_of_its_time_and_nowhere_else(bench: Bench) -> None:
    monitor = bench.monitor()
    for minute in range(0, 100 * 5 + 1, 5):
        bench.store.add_judged([], traffic(minute + 1, 20))
    bench.at(100 * 5 + 1)
    while monitor.round():
        pass
    before = bench.states()
    bench.store.add_judged([], skewed(1))
    bench.store.add_judged([], traffic(-400 * 1_440, 0, 50, name="old"))
    while monitor.round():
        pass
    assert bench.hook.sent == []
    assert bench.states() == before
    assert sum(1 for _ in bench.store.decisions("s", since_ns=T0 - 401 * DAY, until_ns=T0 - 399 * DAY)) == 50
