"""Test files of alerts -> typed tests, every mistake with its place (issue F; see docs/alerts.md).

    alerts_file: support.alerts.yaml            # relative to this file
    tests:
      - name: a gap is no incident
        start: 2026-11-02T10:00:00Z
        every: 5m                               # the length of a step
        series:
          - alerts: [wrong-tool]
            labels: {agent: billing}            # where the alert says `by: [agent]`
            steps: [1/20, 3/20, _, 1/20 x3]     # numerator/n; a gap; repeated
            late: [{step: "10:10", at: "10:22", holds: 5/20}]
        silences: [{id: s1, match: {alert: wrong-tool}, from: ..., until: ..., by: ann}]
        expect:
          - {at: "10:10", alert: wrong-tool, labels: {agent: billing}, state: firing, notifications: [fire]}

A step is `3/20` (numerator and n), `7` (a count), `4.2@30` (a quantile of 30 values), `_` (a gap) or a mapping of
counts by name. Times are ISO 8601, or `HH:MM` on the day on which the test starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

from otel_toolselect.errors import SuiteError
from otel_toolselect.model.alerting import NotificationKind, StateWord
from otel_toolselect.model.alerttests import (
    AlertTest,
    AlertTestFile,
    ExpectedNotification,
    ExpectedState,
)
from otel_toolselect.rules._nodes import Node, Scalar, clip
from otel_toolselect.rules._yaml import read_yaml
from otel_toolselect.rules.alertseries import Clock, parse_labels, parse_series
from otel_toolselect.rules.durations import parse_moment, parse_span
from otel_toolselect.rules.loader import read_text
from otel_toolselect.rules.problems import Problems
from otel_toolselect.rules.silencing import parse_silence

KEYS = ("alerts_file", "tests")
TEST_KEYS = ("name", "start", "every", "series", "silences", "expect")
EXPECT_KEYS = ("at", "alert", "labels", "state", "notifications", "says")
NOTIFICATION_KEYS = ("kind", "value", "numerator", "n", "silenced", "late", "says")
STATES: tuple[StateWord, ...] = get_args(StateWord)
NOTIFICATIONS: tuple[NotificationKind, ...] = get_args(NotificationKind)
_TIME_SYNONYMS = {"time": "at", "eval_time": "at", "notified": "notifications"}
_Found = Mapping[str, tuple[Scalar, Node]]


def load_alert_tests(path: str | Path) -> AlertTestFile:
    """Raises SuiteError with every problem, InputError when the file cannot be read."""
    return parse_alert_tests(read_text(path), path=str(path))


def parse_alert_tests(text: str, *, path: str) -> AlertTestFile:
    problems = Problems(path)
    made = _file(read_yaml(text.removeprefix("\ufeff"), problems), path, problems)
    if problems.found:
        raise SuiteError(list(dict.fromkeys(problems.found)))
    return made


def _file(root: Node | None, path: str, problems: Problems) -> AlertTestFile:
    empty = AlertTestFile(path, "", ())
    if root is None:
        if not problems.found:
            problems.at(1, 1, "the file is empty", "write alerts_file: ALERTS.yaml and tests: [...]")
        return empty
    found = problems.fields(root, "the test file", KEYS, synonyms={"files": "alerts_file", "alerts": "alerts_file"})
    if found is None:
        return empty
    target = problems.text(found["alerts_file"][1], "alerts_file") if "alerts_file" in found else None
    if "alerts_file" not in found:
        problems.add(root, "the file names no alerts to test", "write alerts_file: ALERTS.yaml, relative to this file")
    entries = problems.items(found["tests"][1], "tests") if "tests" in found else ()
    if not entries:
        problems.add(root, "the file has no test", "write tests: [{name: ..., series: [...], expect: [...]}]")
    tests: dict[str, AlertTest] = {}
    for entry in entries:
        test = _test(entry, problems)
        if test is not None and test.name in tests:
            said = f"the test {clip(test.name, 40)!r} stands twice"
            problems.add(entry, said, f"first on line {tests[test.name].line}; --run picks by name")
        elif test is not None:
            tests[test.name] = test
    return AlertTestFile(path, target or "", tuple(tests.values()))


def _test(node: Node, problems: Problems) -> AlertTest | None:
    found = problems.fields(node, "a test", TEST_KEYS, synonyms={"interval": "every", "id": "name", "input": "series"})
    if found is None:
        return None
    ways = {
        "name": "write name: WHAT IT SHOWS",
        "start": "write start: 2026-11-02T10:00:00Z",
        "every": "write every: 5m",
        "series": "write series: [{alerts: [ID], steps: [3/20]}]",
        "expect": "write expect: [{at: ..., alert: ID, state: firing}]",
    }
    for key, way in ways.items():
        if key not in found:
            problems.add(node, f"a test has no {key}", way)
    name = problems.text(found["name"][1], "name") if "name" in found else None
    start = parse_moment(found["start"][1], "start", problems) if "start" in found else None
    every = parse_span(found["every"][1], "every", problems) if "every" in found else None
    clock = Clock(start or 0)
    series = [parse_series(item, clock, problems) for item in _items(found, "series", problems)]
    silences = [parse_silence(item, problems) for item in _items(found, "silences", problems)]
    expect = [_expected(item, clock, problems) for item in _items(found, "expect", problems)]
    if "expect" in found and not expect:
        problems.add(found["expect"][1], "a test expects nothing", ways["expect"])
    if name is None or start is None or every is None:
        return None
    return AlertTest(
        name,
        node.line,
        start,
        every,
        tuple(s for s in series if s is not None),
        tuple(e for e in expect if e is not None),
        tuple(s for s in silences if s is not None),
    )


def _items(found: _Found, key: str, problems: Problems) -> tuple[Node, ...]:
    return problems.items(found[key][1], key) if key in found else ()


def _expected(node: Node, clock: Clock, problems: Problems) -> ExpectedState | None:
    found = problems.fields(node, "an expectation", EXPECT_KEYS, synonyms=_TIME_SYNONYMS)
    if found is None:
        return None
    for key in ("at", "alert"):
        if key not in found:
            problems.add(node, f"an expectation has no {key}", 'write {at: "10:10", alert: ID, state: firing}')
    if not found.keys() - {"at", "alert", "labels"}:
        problems.add(node, "an expectation says nothing of the alert", "write state: firing, or notifications: [fire]")
    at = clock.moment(found["at"][1], "at", problems) if "at" in found else None
    alert = problems.text(found["alert"][1], "alert") if "alert" in found else None
    state = problems.choice(found["state"][1], "state", STATES) if "state" in found else None
    says = problems.text(found["says"][1], "says") if "says" in found else None
    notifications = None
    if "notifications" in found:
        listed = [_notification(item, problems) for item in problems.items(found["notifications"][1], "notifications")]
        notifications = tuple(n for n in listed if n is not None)
    if at is None or alert is None:
        return None
    labels = parse_labels(found["labels"][1], problems) if "labels" in found else {}
    return ExpectedState(at, alert, labels, cast("StateWord | None", state), notifications, says, node.line)


def _notification(node: Node, problems: Problems) -> ExpectedNotification | None:
    if isinstance(node, Scalar):
        word = problems.choice(node, "a notification", NOTIFICATIONS)
        return None if word is None else ExpectedNotification(cast("NotificationKind", word))
    found = problems.fields(node, "a notification", NOTIFICATION_KEYS)
    if found is None:
        return None
    if "kind" not in found:
        problems.add(node, "a notification has no kind", "write {kind: fire}")
        return None
    word = problems.choice(found["kind"][1], "kind", NOTIFICATIONS)
    value = problems.number(found["value"][1], "value") if "value" in found else None
    counts = {key: problems.whole(found[key][1], key, least=0) for key in ("numerator", "n") if key in found}
    flags = {key: problems.boolean(found[key][1], key) for key in ("silenced", "late") if key in found}
    says = problems.text(found["says"][1], "says") if "says" in found else None
    if word is None:
        return None
    return ExpectedNotification(
        cast("NotificationKind", word),
        None if value is None else float(value),
        counts.get("numerator"),
        counts.get("n"),
        bool(flags.get("silenced")),
        flags.get("late"),
        says,
    )
