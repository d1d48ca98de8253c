"""Monitors at work on a real store: what they tell, what they remember, and what a restart or a rival does to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from otel_toolselect.errors import StoreError
from otel_toolselect.model.alerting import Matcher, Silence
from otel_toolselect.monitor.routing import Route
from otel_toolselect.store import Store
from tests.monitor.running import ALERTS, MINUTE, Bench, traffic
from tests.store.builders import DAY, T0


@pytest.fixture
def bench(store: Store, tmp_path: Path) -> Bench:
    return Bench(store, tmp_path)


def test_one_notification_per_change_and_none_after_a_restart(bench: Bench) -> None:
    bench.store.add_judged([], [*traffic(1, 10, 10), *traffic(6, 20), *traffic(11, 20)])
    bench.at(5)
    first = bench.monitor()
    first.round()
    assert bench.hook.told == [("wrong", "fire")]
    (fire,) = bench.hook.sent
    assert (fire.value, fire.numerator, fire.n, fire.at_ns) == (0.5, 10, 20, T0 + 5 * MINUTE)
    assert bench.states() == {"wrong{}": "firing"}
    first.round()
    assert bench.delivery.standing == {"hook": [fire.key]}
    first.stop()
    again = bench.monitor()
    again.round()
    assert len(bench.hook.sent) == 1
    bench.at(10)
    again.round()
    assert bench.hook.told == [("wrong", "fire"), ("wrong", "resolve")]
    assert bench.states() == {"wrong{}": "resolved"}
    assert bench.delivery.standing == {}
    bench.at(15)
    again.round()
    assert bench.states() == {"wrong{}": "inactive"}
    assert len(bench.hook.sent) == 2
    outcomes = [(s.kind, s.receiver, s.outcome) for s in bench.store.alerts.sendings()]
    assert outcomes == [("resolve", "hook", "delivered"), ("fire", "hook", "delivered")]
    assert [n.kind for n in bench.news] == ["fire", "resolve"]


def test_what_was_stored_and_not_sent_is_sent_by_the_next_monitor_under_the_same_key(bench: Bench) -> None:
    bench.store.add_judged([], traffic(1, 10, 10))
    bench.at(5)
    bench.delivery.away = True
    dead = bench.monitor()
    dead.round()
    bench.store.alerts.release("monitor", dead._owner)  # as if it had run out
    alive = bench.monitor()
    alive.round()
    assert bench.hook.told == []
    bench.delivery.away = False
    heir = bench.monitor()
    heir.round()
    assert bench.hook.told == []  # the other one holds the lease
    alive.stop()
    heir.round()
    assert bench.hook.told == [("wrong", "fire")]
    heir.round()
    alive.round()
    assert bench.hook.told == [("wrong", "fire")]


def test_what_was_sent_and_noted_is_not_sent_again_though_it_is_still_in_the_outbox(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.store.add_judged([], traffic(1, 10, 10))
    bench.at(5)
    first = bench.monitor()
    first.round()
    monkeypatch.setattr(first, "_acknowledge", lambda: None)
    first.round()  # notes the delivery, and dies before the state says so
    bench.store.alerts.release("monitor", first._owner)
    second = bench.monitor()
    second.round()
    second.round()
    assert bench.hook.told == [("wrong", "fire")]
    assert '"outbox":[]' in bench.store.alerts.records()[0].record


def test_after_an_outage_what_happened_meanwhile_is_told(bench: Bench) -> None:
    bench.at(5)
    bench.store.add_judged([], traffic(1, 20))
    first = bench.monitor()
    first.round()
    first.stop()
    days = [*traffic(3 * 1440 + 1, 10, 10), *traffic(3 * 1440 + 6, 20)]
    bench.store.add_judged([], [*traffic(7, 0, 20), *traffic(11, 20), *days])
    bench.at(3 * 1440 + 10)
    second = bench.monitor()
    rounds = 1
    while second.round():
        rounds += 1
    assert rounds == 10  # 865 windows, 96 a round
    assert [n.kind for n in bench.hook.sent] == ["fire", "resolve"] * 2
    assert [(n.at_ns - T0) // MINUTE for n in bench.hook.sent] == [10, 15, 4325, 4330]


def test_late_data_correct_and_are_told_once(bench: Bench) -> None:
    bench.store.add_judged([], [*traffic(1, 20), *traffic(6, 20)])
    bench.at(10)
    monitor = bench.monitor()
    monitor.round()
    monitor.round()
    assert bench.hook.sent == []
    bench.store.add_judged([], traffic(2, 0, 20, name="late"))
    monitor.round()
    monitor.round()
    monitor.stop()
    bench.monitor().round()
    (fire,) = bench.hook.sent
    assert (fire.kind, fire.late, fire.numerator, fire.n) == ("fire", True, 20, 40)


def test_a_series_that_comes_up_late_is_decided_window_by_window(bench: Bench) -> None:
    bench.path.write_text(ALERTS.replace("{above: 0.1}", "{above: 0.1}, by: [agent], for: 10m"))
    for minute in (1, 6, 11):
        bench.store.add_judged([], traffic(minute, 20, agent="a"))
    bench.at(15)
    monitor = bench.monitor()
    monitor.round()
    # bad at the start and now, but well in between
    bench.store.add_judged([], traffic(1, 0, 20, agent="b"))
    bench.store.add_judged([], traffic(6, 20, agent="b"))
    bench.store.add_judged([], traffic(16, 0, 20, agent="b"))
    bench.at(20)
    monitor.round()
    assert bench.states() == {'wrong{"agent": "a"}': "inactive", 'wrong{"agent": "b"}': "pending"}
    assert bench.hook.sent == []


def test_a_silence_holds_back_and_is_on_record(bench: Bench) -> None:
    silence = Silence("s1", (Matcher("owner", equals="ann"),), T0, T0 + 7 * MINUTE, "bob")
    bench.store.alerts.write_silence(silence)
    bench.store.add_judged([], [*traffic(1, 10, 10), *traffic(6, 10, 10)])
    monitor = bench.monitor()
    bench.at(5)
    monitor.round()
    assert bench.hook.sent == []
    assert [(s.kind, s.outcome) for s in bench.store.alerts.sendings()] == [("fire", "silenced")]
    bench.at(8)
    monitor.round()
    assert bench.hook.told == [("wrong", "fire")]


def test_a_broken_file_keeps_the_last_good_one_and_is_told(bench: Bench) -> None:
    monitor = bench.monitor()
    bench.at(1)
    monitor.round()
    bench.path.write_text("alerts: shop\nlist: [{id: wrong, signal: nonsense}]\n")
    monitor.round()
    bench.store.add_judged([], traffic(1, 10, 10))
    bench.at(5)
    monitor.round()
    assert bench.hook.told == [("monitor-config", "fire"), ("wrong", "fire")]
    assert "nonsense" in bench.hook.sent[0].detail[0]
    monitor.stop()
    bench.path.write_text(ALERTS)
    again = bench.monitor()
    again.round()
    again.round()
    assert bench.hook.told[2:] == [("monitor-config", "resolve")]
    assert bench.states()["monitor-config{}"] == "resolved"


def test_what_is_wrong_with_rule_files_is_told_too(bench: Bench) -> None:
    bench.problems.append("guard.yaml:3:1: unknown key")
    bench.at(1)
    monitor = bench.monitor()
    monitor.round()
    monitor.round()
    (fire,) = bench.hook.sent
    assert (fire.alert, fire.detail) == ("monitor-config", ("guard.yaml:3:1: unknown key",))


def test_an_alert_that_leaves_its_file_is_resolved_and_comes_back_under_new_keys(bench: Bench) -> None:
    bench.store.add_judged([], [*traffic(1, 10, 10), *traffic(6, 10, 10)])
    bench.at(5)
    monitor = bench.monitor()
    monitor.round()
    bench.path.write_text(ALERTS.replace("id: wrong", "id: other"))
    monitor.round()
    assert bench.hook.told == [("wrong", "fire"), ("other", "fire"), ("wrong", "resolve")]
    bench.path.write_text(ALERTS)
    bench.at(10)
    monitor.round()
    assert bench.hook.told[3:] == [("other", "resolve"), ("wrong", "fire")]
    assert len({n.key for n in bench.hook.sent}) == 5


def test_one_alert_that_cannot_be_evaluated_does_not_keep_the_others_from_it(bench: Bench) -> None:
    lag = "  - {id: lag, signal: ingest_lag_p95, by: [agent], condition: {above: 9}}\n"
    bench.path.write_text(ALERTS + lag)
    bench.store.add_judged([], traffic(1, 10, 10))
    bench.at(5)
    bench.monitor().round()
    assert sorted(bench.hook.told) == [("monitor-config", "fire"), ("wrong", "fire")]


def test_a_store_that_is_away_delays_and_loses_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.store.add_judged([], traffic(1, 10, 10))
    bench.at(5)
    monitor = bench.monitor()
    with monkeypatch.context() as patch:
        patch.setattr(bench.store.alerts, "write_records", _away)
        with pytest.raises(StoreError):
            monitor.round()
    assert bench.hook.sent == []
    monitor.round()
    assert bench.hook.told == [("wrong", "fire")]


def test_who_lost_the_lease_in_the_middle_of_a_round_writes_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.store.add_judged([], traffic(1, 10, 10))
    bench.at(5)
    slow = bench.monitor(lease=600)
    source = slow._watching.source

    def stopped_meanwhile(alert: object) -> object:
        bench.store.alerts.release("monitor", slow._owner)
        assert bench.store.alerts.claim("monitor", "other", 600)
        monkeypatch.setattr(slow, "_held_until", 0.0)
        return source(alert)  # type: ignore[arg-type]

    monkeypatch.setattr(slow, "_watching", replace(slow._watching, source=stopped_meanwhile))
    with pytest.raises(StoreError, match="lease"):
        slow.round()
    assert bench.states() == {}
    assert bench.hook.sent == []


def test_a_damaged_state_begins_anew_under_new_keys(bench: Bench) -> None:
    bench.store.add_judged([], [*traffic(1, 10, 10), *traffic(6, 10, 10)])
    bench.at(5)
    first = bench.monitor()
    first.round()
    first.round()
    first.stop()
    (record,) = bench.store.alerts.records()
    bench.store.alerts.write_records([replace(record, record=record.record[:-9])])
    bench.at(10)
    bench.monitor().round()
    assert bench.hook.told == [("wrong", "fire"), ("monitor-config", "fire"), ("wrong", "fire")]
    assert len({n.key for n in bench.hook.sent}) == 3


def test_what_is_for_nobody_is_on_record(bench: Bench) -> None:
    bench.store.add_judged([], traffic(1, 10, 10))
    bench.at(5)
    monitor = bench.monitor(routes=[Route("hook", severity=("critical",))])
    monitor.round()
    monitor.round()
    assert bench.hook.sent == []
    assert [(s.receiver, s.outcome) for s in bench.store.alerts.sendings()] == [("", "unrouted")]
    assert '"outbox":[]' in bench.store.alerts.records()[0].record


def test_a_new_alert_is_not_told_of_gaps_that_nobody_watched(bench: Bench) -> None:
    text = "alerts: gap\nlist: [{id: gap, signal: accuracy, window: 5m, condition: {below: 0.5}, no_data_after: 10m}]\n"
    bench.path.write_text(text)
    bench.at(0)
    monitor = bench.monitor()
    monitor.round()
    assert bench.states() == {}
    bench.at(11)
    monitor.round()
    assert bench.hook.told == [("gap", "no_data")]


@pytest.mark.parametrize("by", ["", ", by: [agent]"])
def test_more_empty_windows_than_a_round_takes_do_not_hold_up_a_new_alert(bench: Bench, by: str) -> None:
    bench.path.write_text(ALERTS.replace("window: 5m", "window: 10s").replace("{above: 0.1}", "{above: 0.1}" + by))
    bench.store.add_judged([], traffic(58, 10, 10, agent="a"))
    bench.at(59)
    monitor = bench.monitor()
    assert not monitor.round()
    assert bench.hook.told[0] == ("wrong", "fire")
    assert monitor.figures.windows < 400


def test_a_series_that_is_gone_for_good_is_let_go(bench: Bench) -> None:
    bench.path.write_text(ALERTS.replace("{above: 0.1}", "{above: 0.1}, by: [agent]"))
    bench.store.add_judged([], traffic(1, 20, agent="a"))
    bench.at(5)
    monitor = bench.monitor()
    monitor.round()
    bench.at(5 + 97 * 5)
    while monitor.round():
        pass
    assert bench.store.alerts.records()[0].says == "no longer watched"
    through = bench.store.alerts.records()[0].through_ns
    bench.now += DAY
    while monitor.round():
        pass
    assert bench.store.alerts.records()[0].through_ns == through


def _away(*_: object) -> None:
    raise StoreError("away")
