"""Tests of alert files: read with positions, carried out under a simulated clock, as production decides (issue F)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from otel_toolselect import cli
from otel_toolselect.app.alertfiles import rehearse_alerts
from otel_toolselect.errors import SuiteError, UsageError
from otel_toolselect.model.ruletests import TestOutcome
from otel_toolselect.rules.alerttests import parse_alert_tests

DATA = Path(__file__).parent / "data"
ALERTS = """
alerts: a
defaults: {window: 5m, min_count: 10}
list:
  - {id: wrong, signal: wrong_tool, by: [agent], condition: {above: 0.1}}
  - {id: lagging, signal: wrong_tool, window: {lateness: 2m}, condition: {above: 0.1}, no_data_after: 10m}
  - {id: slow, signal: latency_p95, condition: {above: 9}}
  - {id: ghosts, signal: ghost_calls}
  - {id: fell, signal: accuracy, window: 1h, condition: {against: baseline, drop: 0.1}}
  - {id: fell-since-yesterday, signal: accuracy, window: 1h, condition: {against: previous, drop: 0.1, period: 1d}}
  - {id: mix, signal: drift_tools, window: 1h, condition: {against: baseline, effect: 0.2}}
  - {id: cells, signal: drift_confusion, window: 1h, condition: {against: previous, effect: 0.2}}
  - {id: daily, signal: ghost_calls, window: {size: 1d, zone: Europe/Berlin}}
"""


def outcomes(tmp_path: Path, tests: str, *, pick: str = "") -> list[TestOutcome]:
    (tmp_path / "a.yaml").write_text(ALERTS)
    (tmp_path / "t.yaml").write_text(f"alerts_file: a.yaml\ntests:\n{tests}")
    return rehearse_alerts([str(tmp_path)], pick=pick)


def outcome(tmp_path: Path, test: str) -> TestOutcome:
    """Of one test, written from `every` on."""
    (found,) = outcomes(tmp_path, f"  - {{name: t, start: 2026-11-02T10:00:00Z, {test}}}\n")
    return found


def differs(found: TestOutcome) -> list[tuple[str, str, str]]:
    assert found.error is None, found.error
    return [(d.what, d.expected, d.got) for d in found.differences]


@pytest.mark.parametrize("path", sorted(DATA.glob("*.test.yaml")), ids=lambda p: p.stem)
def test_shipped_cases_pass(path: Path) -> None:
    assert [o for o in rehearse_alerts([str(path)]) if not o.passed] == []


def test_what_came_otherwise_is_shown(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        """every: 5m, series: [{alerts: [wrong], labels: {agent: x}, steps: [1/20, 3/20, 1/20]}], expect: [
        {at: 10:10, alert: wrong, labels: {agent: x}, state: inactive, notifications: [], says: calm},
        {at: 10:15, alert: wrong, labels: {agent: x}, notifications: [{kind: resolve, value: 0.06, says: fine}]}]""",
    )
    assert differs(found) == [
        ("state at 2026-11-02T10:10:00Z", "inactive", "firing"),
        ("says at 2026-11-02T10:10:00Z", "calm", "wrong_tool is 15.0 % (3/20), above 10.0 %"),
        ("notifications until 2026-11-02T10:10:00Z", "none", "fire (value 0.15, numerator 3, n 20)"),
        (
            "notifications until 2026-11-02T10:15:00Z",
            "resolve (value 0.06, says fine)",
            "resolve (value 0.05, numerator 1, n 20)",
        ),
    ]
    assert {d.line for d in found.differences} == {4, 5}
    assert found.differences[0].why == "wrong_tool is 15.0 % (3/20), above 10.0 %"


def test_a_notification_that_nobody_expects_is_a_difference(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        """every: 5m, series: [{alerts: [slow], steps: [1, 10.5@30]}],
        expect: [{at: 10:05, alert: slow, notifications: []}]""",
    )
    assert differs(found) == [
        (
            "notifications after 2026-11-02T10:05:00Z",
            "nothing more, or an expectation that lists it",
            "fire (value 10.5, n 30)",
        )
    ]


def test_lateness_and_late_data(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        """every: 5m, series: [{alerts: [lagging], steps: [1/20, _, _, 1/20, 1/20],
          late: [{step: 10:05, at: 10:16, holds: 5/20}, {step: 10:10, at: 10:16, holds: 1/20}]}],
        expect: [
          {at: 10:11, alert: lagging, says: (1/20), notifications: []},
          {at: 10:12, alert: lagging, says: no data, notifications: []},
          {at: 10:16, alert: lagging, state: firing, notifications: [{kind: fire, value: 0.25, late: true}]},
          {at: 10:17, alert: lagging, state: resolved, notifications: [{kind: resolve, late: false}]},
          {at: 10:27, alert: lagging, state: inactive, notifications: []}]""",
    )
    assert differs(found) == []


def test_silences(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        """every: 5m, series: [{alerts: [wrong], labels: {agent: x}, steps: [3/20 x4, 0/20]},
                               {alerts: [wrong], labels: {agent: y}, steps: [3/20]}],
        silences: [{id: s, match: {alert: wrong, agent: {matches: "^x$"}}, by: ann,
                    from: 2026-11-02T10:00:00Z, until: 2026-11-02T10:12:00Z}],
        expect: [
          {at: 10:11, alert: wrong, labels: {agent: x}, state: firing, notifications: [{kind: fire, silenced: true}]},
          {at: 10:12, alert: wrong, labels: {agent: x}, state: firing, notifications: [fire]},
          {at: 10:25, alert: wrong, labels: {agent: x}, state: resolved, notifications: [resolve]},
          {at: 10:05, alert: wrong, labels: {agent: y}, state: firing, notifications: [fire]}]""",
    )
    assert differs(found) == []


def test_comparisons(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        """every: 1h, series: [
          {alerts: [fell], reference: 900/1000, steps: [180/200, 150/200]},
          {alerts: [fell-since-yesterday], steps: [180/200, 150/200, 180/200 x22, 180/200, 160/200, 120/200]}],
        expect: [
          {at: 11:00, alert: fell, state: inactive, says: in the baseline},
          {at: 12:00, alert: fell, state: firing, notifications: [{kind: fire, says: "-15.0 points"}]},
          {at: 2026-11-03T10:00:00Z, alert: fell-since-yesterday, says: nothing to compare with},
          {at: 2026-11-03T12:00:00Z, alert: fell-since-yesterday, state: inactive, says: (150/200) in the previous},
          {at: 2026-11-03T13:00:00Z, alert: fell-since-yesterday, state: firing, notifications: [fire]}]""",
    )
    assert differs(found) == []


def test_drift(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        """every: 1h, series: [
          {alerts: [mix], reference: {search: 800, refund: 200},
           steps: [{search: 82, refund: 18}, {search: 50, refund: 50}, _, {search: 5}]},
          {alerts: [cells],
           steps: [{search > search: 90, search > refund: 10}, {search > search: 180, search > refund: 20},
                   {search > search: 60, search > refund: 40}, {refund > refund: 50}]}],
        expect: [
          {at: 11:00, alert: mix, state: inactive},
          {at: 12:00, alert: mix, state: firing, notifications: [{kind: fire, n: 100, says: "refund +30.0 points"}]},
          {at: 13:00, alert: mix, state: firing, says: no data},
          {at: 14:00, alert: mix, state: firing, says: held},
          {at: 11:00, alert: cells, says: nothing to compare with},
          {at: 12:00, alert: cells, state: inactive},
          {at: 13:00, alert: cells, state: firing, notifications: [{kind: fire, says: search expected}]},
          {at: 14:00, alert: cells, state: firing, says: nothing to compare with}]""",
    )
    assert differs(found) == []


def test_days_are_cut_where_the_clocks_say(tmp_path: Path) -> None:
    (found,) = outcomes(
        tmp_path,
        """  - name: the day of 25 hours
    start: 2026-10-23T22:00:00Z
    every: 1h
    series: [{alerts: [daily], steps: [0 x24, 0 x24, 1, 0 x24]}]
    expect:
      - {at: 2026-10-25T22:59:59Z, alert: daily, state: inactive, notifications: []}
      - {at: 2026-10-25T23:00:00Z, alert: daily, state: firing, notifications: [fire]}
      - {at: 2026-10-26T23:00:00Z, alert: daily, state: resolved, notifications: [resolve]}
""",
    )
    assert differs(found) == []


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("series: [{alerts: [wrnog], steps: [1]}]", "no alert is called 'wrnog' (did you mean 'wrong'?)"),
        ("series: [{alerts: [wrong], steps: [1/2]}]", "labels of a series of 'wrong' are: agent"),
        ("series: [{alerts: [ghosts], labels: {agent: x}, steps: [1]}]", "are: none, for it has no `by`"),
        ("series: [{alerts: [fell], steps: [7 x12]}]", "accuracy is a ratio: write numerator/n"),
        ("series: [{alerts: [ghosts], steps: [{a: 1}]}]", "counts by name say nothing of ghost_calls"),
        ("series: [{alerts: [mix], steps: [1/2 x12]}]", "drift_tools is a test of counts: write {NAME: COUNT}"),
        ("series: [{alerts: [cells], steps: [{a: 1}, _ x11]}]", "'a' is no cell: write {EXPECTED > OBSERVED: COUNT}"),
        (
            "series: [{alerts: [ghosts], steps: [1], late: [{step: 10:03, at: 10:09, holds: 2}]}]",
            "no step of the series begins at that time",
        ),
    ],
)
def test_series_that_do_not_suit_their_alert(tmp_path: Path, test: str, said: str) -> None:
    found = outcome(tmp_path, f"every: 5m, {test}, expect: [{{at: 10:05, alert: ghosts, state: inactive}}]")
    assert found.error is not None
    assert said in found.error
    assert "t.yaml:3: " in found.error


def test_steps_must_fill_windows(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        "every: 2m, series: [{alerts: [ghosts], steps: [1 x9]}], expect: [{at: 10:05, alert: ghosts, state: firing}]",
    )
    assert "steps of 2m do not fill a window of 5m by 5m" in str(found.error)
    found = outcome(
        tmp_path,
        "every: 1m, series: [{alerts: [slow], steps: [1 x9]}], expect: [{at: 10:05, alert: slow, state: firing}]",
    )
    assert "latency_p95 cannot be added up: let a window be one step long" in str(found.error)


@pytest.mark.parametrize(
    ("expect", "difference"),
    [
        ("alert: gohsts", ("alert", "in the alerts file", "nowhere (did you mean 'ghosts'?)")),
        ("alert: slow", ("labels", "those of a series", "no series of the alert")),
        ("alert: wrong, labels: {agent: z}", ("labels", "those of a series", "{agent: x} and {agent: y}")),
        ("alert: wrong", ("labels", "those of a series", "{agent: x} and {agent: y}")),
    ],
)
def test_expectations_about_nothing(tmp_path: Path, expect: str, difference: tuple[str, str, str]) -> None:
    series = (
        "{alerts: [wrong], labels: {agent: x}, steps: [1/20]}, {alerts: [wrong], labels: {agent: y}, steps: [1/20]}"
    )
    found = outcome(tmp_path, f"every: 5m, series: [{series}], expect: [{{at: 10:05, {expect}, state: firing}}]")
    assert differs(found) == [difference]


def problems_of(text: str) -> list[str]:
    try:
        parse_alert_tests(text, path="t.yaml")
    except SuiteError as error:
        return [str(p).removeprefix("t.yaml:") for p in error.problems]
    return []


def test_all_mistakes_of_a_test_file_at_once() -> None:
    assert problems_of("") == ["1:1: the file is empty (write alerts_file: ALERTS.yaml and tests: [...])"]
    text = """tests:
  - name: one
    start: yesterday
    every: 5
    series:
      - {alert: [x], steps: [1/0, 3 x0, [1]], late: [{step: 10:00}]}
    silences: [{id: s, match: {}, from: 2026-01-02, until: 2026-01-01}]
    expect:
      - {at: 25:00, alert: x, state: ok}
      - {alert: x}
      - {at: 10:00, alert: x, notifications: [fired, {value: 1}]}
  - {name: one, start: 2026-01-01, every: 5m, series: [], expect: []}
  - {name: one, start: 2026-01-01, every: 5m, series: [], expect: []}
"""
    assert problems_of(text) == [
        "1:1: the file names no alerts to test (write alerts_file: ALERTS.yaml, relative to this file)",
        "3:12: start cannot be 'yesterday' (write 2026-11-02T10:00:00Z)",
        "4:12: every cannot be '5' (write 90s, 5m, 1h, 1d or 1w)",
        "6:9: a series has no alerts (write alerts: [ID])",
        "6:10: unknown key 'alert' in a series (did you mean 'alerts'?)",
        "6:30: 1/0 is no share (write numerator/n, the numerator being at most n)",
        "6:35: a step cannot be repeated 0 times (from 1 to 50,000)",
        "6:41: a step cannot be 'a list' (write 3/20, 7, 4.2@30, _ for a gap, or {NAME: COUNT})",
        "6:54: a late step names the step, when it came, and what it holds "
        '(write {step: "10:05", at: "10:22", holds: 5/20})',
        "7:16: the silence has no by (write {id: ..., match: {alert: NAME}, from: TIME, until: TIME, by: WHO})",
        "7:31: match must say which alerts are meant (write match: {alert: NAME})",
        "7:60: the silence ends before it begins (write a later until)",
        "9:14: at cannot be '25:00' (write HH:MM, or 2026-11-02T10:00:00Z)",
        "9:38: state cannot be 'ok' (known: firing, inactive, no_data, pending, resolved)",
        '10:9: an expectation has no at (write {at: "10:10", alert: ID, state: firing})',
        "10:9: an expectation says nothing of the alert (write state: firing, or notifications: [fire])",
        "11:47: a notification cannot be 'fired' (did you mean 'fire'?)",
        "11:54: a notification has no kind (write {kind: fire})",
        "12:67: a test expects nothing (write expect: [{at: ..., alert: ID, state: firing}])",
        "13:5: the test 'one' stands twice (first on line 12; --run picks by name)",
        "13:67: a test expects nothing (write expect: [{at: ..., alert: ID, state: firing}])",
    ]


def test_picking_by_name(tmp_path: Path) -> None:
    test = "start: 2026-11-02T10:00:00Z, every: 5m, series: [{alerts: [ghosts], steps: [1]}]"
    test += ", expect: [{at: 10:05, alert: ghosts, state: firing}]"
    tests = f"  - {{name: first, {test}}}\n  - {{name: second, {test}}}\n"
    assert [o.name for o in outcomes(tmp_path, tests, pick="^sec")] == ["second"]
    with pytest.raises(UsageError, match="no test is called 'third'"):
        outcomes(tmp_path, tests, pick="third")


def test_the_command(tmp_path: Path) -> None:
    def run(*args: str) -> tuple[int, str]:
        app = cli.build(["monitor", *args])
        found = CliRunner().invoke(app, ["monitor", *args])
        return found.exit_code, found.stdout

    assert run("test", str(DATA)) == (0, run("test", str(DATA))[1])
    wrong = (DATA / "gaps.alerts.test.yaml").read_text().replace("state: no_data", "state: resolved")
    (tmp_path / "t.yaml").write_text(wrong)
    (tmp_path / "gaps.alerts.yaml").write_text((DATA / "gaps.alerts.yaml").read_text())
    code, text = run("test", str(tmp_path), "--format", "json")
    (test,) = json.loads(text)["tests"]
    assert (code, test["differences"][0]["got"]) == (1, "no_data")
    assert run("test", str(tmp_path), "-o", str(tmp_path / "r.xml"))[0] == 1
    assert "<failure" in (tmp_path / "r.xml").read_text()
    code, text = run("test", str(tmp_path))
    assert "- resolved" in text
    assert "+ no_data" in text
