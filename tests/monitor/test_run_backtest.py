"""Dry runs over history, and the commands of monitors on a store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from otel_toolselect.app.monitoring import alert_files
from otel_toolselect.cli import build
from otel_toolselect.config import Monitor
from otel_toolselect.errors import UsageError
from otel_toolselect.model.alerting import Alert, Limit, Scope, Span, WindowSpec
from otel_toolselect.monitor.backtest import replay, rules_by_day
from otel_toolselect.monitor.sources import StoreSource
from otel_toolselect.rules.rulefiles import parse_rules
from otel_toolselect.store import Store, open_store
from tests.monitor.running import ALERTS, MINUTE, Bench, traffic
from tests.store.builders import HOUR, T0, run

FIVE = WindowSpec(Span(5, "m"), Span(5, "m"))
WRONG = Alert("wrong", "wrong_tool", FIVE, Limit("above", 0.1), Scope(suite=("s",)), min_count=10)
HISTORY = [*traffic(1, 20), *traffic(6, 10, 10), *traffic(11, 10, 10), *traffic(16, 20), *traffic(21, 0, 3)]


def test_what_would_have_fired_when_and_for_how_long(store: Store) -> None:
    store.add_judged([], [*HISTORY, *traffic(600, 10, 10)])
    found = replay(WRONG, StoreSource(store, FIVE), T0, T0 + 605 * MINUTE)
    assert (found.series, found.windows, found.breached, found.good, found.held, found.empty) == (1, 121, 3, 2, 1, 115)
    first, second = found.episodes
    assert (first.kind, first.began_ns, first.ended_ns) == ("fire", T0 + 10 * MINUTE, T0 + 20 * MINUTE)
    assert (first.lasted_ns, first.shown, first.n) == (10 * MINUTE, "50.0 % (10/20)", 20)
    assert (second.ended_ns, second.lasted_ns) == (None, 0)
    assert store.alerts.records() == ()


def test_only_whole_windows_count_and_series_begin_when_they_are_seen(store: Store) -> None:
    store.add_judged([], [*traffic(1, 10, 10, agent="a"), *traffic(11, 10, 10, agent="b")])
    by = replace(WRONG, by=("agent",), no_data_after_ns=5 * MINUTE)
    found = replay(by, StoreSource(store, FIVE), T0 + 2 * MINUTE, T0 + 19 * MINUTE)
    assert (found.series, found.windows) == (1, 1)
    found = replay(by, StoreSource(store, FIVE), T0, T0 + 20 * MINUTE)
    assert [(e.kind, dict(e.series)["agent"]) for e in found.episodes] == [
        ("fire", "a"),
        ("no_data", "a"),
        ("fire", "b"),
        ("no_data", "b"),
    ]


def test_a_backtest_and_a_monitor_agree(store: Store, tmp_path: Path) -> None:
    store.add_judged([], HISTORY)
    bench = Bench(store, tmp_path)
    monitor = bench.monitor()
    for minute in range(0, 30, 5):
        bench.at(minute)
        monitor.round()
    told = [(n.kind, n.at_ns) for n in bench.hook.sent]
    (episode,) = replay(WRONG, StoreSource(store, FIVE), T0, T0 + 25 * MINUTE).episodes
    assert told == [("fire", episode.began_ns), ("resolve", episode.ended_ns)]


def test_rules_by_day_of_a_zone() -> None:
    rules = parse_rules(
        "rules: guard\ncases:\n"
        "  - {id: few, expect: {budget: {calls: 0}}, severity: critical}\n"
        "  - {id: many, expect: {budget: {calls: 9}}}\n",
        path="guard.yaml",
    )
    late = [run("r1", start_ns=T0), run("r2", start_ns=T0 + 13 * HOUR), run("r3", start_ns=T0 + 13 * HOUR)]
    found = rules_by_day([late[:1], late[1:]], [rules], "Europe/Berlin")
    assert [(d.rule, d.severity, d.day, d.runs, d.failed) for d in found] == [
        ("few", "critical", "2026-11-02", 1, 1),
        ("few", "critical", "2026-11-03", 2, 2),
        ("many", "warning", "2026-11-02", 1, 0),
        ("many", "warning", "2026-11-03", 2, 0),
    ]
    with pytest.raises(ValueError, match="Nowhere"):
        rules_by_day([late], [rules], "Nowhere")


Ask = Callable[..., str]


@pytest.fixture
def ask(engine_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Runs a `monitor` command on a store with history; gives its output."""
    dsn = f"chdb://{engine_home}?database={tmp_path.name.replace('-', '_')}"
    monkeypatch.setenv("TOOLSELECT_STORE", dsn)
    monkeypatch.chdir(tmp_path)
    Path("shop.alerts.yaml").write_text(ALERTS)
    store = open_store(dsn)
    store.add_judged([], HISTORY)
    store.write_runs([run("r1", start_ns=T0)])
    bench = Bench(store, tmp_path)
    monitor = bench.monitor()
    bench.at(10)
    monitor.round()
    monitor.round()

    def command(*args: str, code: int = 0) -> str:
        result = CliRunner().invoke(build(["monitor", *args]), ["monitor", *args])
        assert result.exit_code == code, (result.output, result.exception)
        return result.stdout

    yield command
    store.close()


def test_status(ask: Ask) -> None:
    shown = ask("status", "shop.alerts.yaml")
    assert "wrong  -       firing  2026-11-02T10:10:00Z  50.0 % (10/20)  2026-11-02T10:10:00Z  warning" in shown
    assert "wrong: wrong_tool is 50.0 % (10/20), above 10.0 %" in shown
    Path("more.alerts.yaml").write_text(ALERTS.replace("alerts: shop", "alerts: more").replace("id: wrong", "id: new"))
    assert "50.0 % (10/20)" in ask("status", "more.alerts.yaml")  # of a share, also where its file is not known
    (old, new) = json.loads(ask("status", "more.alerts.yaml", "--format", "json"))["alerts"]
    assert (old["alert"], old["defined"], old["state"], old["value"], old["n"]) == ("wrong", False, "firing", 0.5, 20)
    assert (new["alert"], new["state"], new["value"], new["n"], new["owner"]) == ("new", "new", None, 0, "ann")


def test_history(ask: Ask) -> None:
    assert "2026-11-02T10:10:00Z  wrong  fire  hook      delivered  wrong_tool is 50.0 %" in ask("history")
    (line,) = ask("history", "--format", "json", "--alert", "wrong").splitlines()
    found = json.loads(line)
    assert (found["receiver"], found["outcome"], found["notification"]["numerator"]) == ("hook", "delivered", 10)
    assert ask("history", "--outcome", "dead") == "nothing was told\n"
    ask("history", "--outcome", "lost", code=2)


def test_backtest(ask: Ask) -> None:
    Path("guard.yaml").write_text("rules: guard\ncases: [{id: few, expect: {budget: {calls: 0}}}]\n")
    stretch = ("--since", "2026-11-02T10:00:00Z", "--until", "2026-11-02T10:25:00Z")
    shown = ask("backtest", "shop.alerts.yaml", "--rules", "guard.yaml", *stretch)
    assert "2026-11-02T10:10:00Z  wrong fire, for 10m, until 2026-11-02T10:20:00Z" in shown
    assert "2026-11-02  guard  few   warning      1       1" in shown
    found = json.loads(ask("backtest", "shop.alerts.yaml", *stretch, "--format", "json"))
    (alert,) = found["alerts"]
    assert alert["windows"] == {"n": 5, "breached": 2, "good": 2, "held": 1, "empty": 0}
    assert [(e["kind"], e["seconds"], e["value"]) for e in alert["episodes"]] == [("fire", 600, "50.0 % (10/20)")]
    assert found["rules"] == []
    assert json.loads(ask("backtest", "--rules", "guard.yaml", *stretch, "--format", "json"))["alerts"] == []


def test_silences(ask: Ask) -> None:
    assert ask("silence", "list") == "no silences\n"
    name = ask("silence", "add", "--match", "owner=ann", "--match", "tool=/^re/", "--for", "2h", "--by", "bob").strip()
    (found,) = json.loads(ask("silence", "list", "--format", "json"))
    assert (found["id"], found["active"], found["by"]) == (name, True, "bob")
    assert found["match"] == {"owner": "ann", "tool": "/^re/"}
    assert f"{name}  active" in ask("silence", "list")
    ask("silence", "expire", name)
    assert f"{name}  ended" in ask("silence", "list")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("silence", "expire", "nope"), "there is no silence nope"),
        (("silence", "add", "--match", "owner", "--for", "2h", "--by", "b"), "NAME=VALUE"),
        (("silence", "add", "--match", "owner=/(/", "--for", "2h", "--by", "b"), "RE2"),
        (("silence", "add", "--match", "owner=x", "--for", "2 hours", "--by", "b"), "no length"),
        (("silence", "add", "--match", "owner=x", "--by", "b"), "how long"),
        (
            ("silence", "add", "--match", "owner=x", "--by", "b", "--until", "2020-01-01"),
            "ends before|would end before",
        ),
        (("backtest",), "nothing to try"),
        (("backtest", "shop.alerts.yaml", "--since", "1h", "--until", "2h"), "not after"),
        (("backtest", "--rules", "guard.yaml", "--zone", "Nowhere"), "Nowhere"),
    ],
)
def test_mistakes_are_named(ask: Ask, args: tuple[str, ...], said: str) -> None:
    Path("guard.yaml").write_text("rules: guard\ncases: [{id: few, expect: {budget: {calls: 0}}}]\n")
    result = CliRunner().invoke(build(["monitor", *args]), ["monitor", *args])
    assert isinstance(result.exception, UsageError)
    assert any(word in str(result.exception) for word in said.split("|"))


def test_without_alerts_there_is_nothing_to_watch() -> None:
    with pytest.raises(UsageError, match="name alert files"):
        alert_files(Monitor())
