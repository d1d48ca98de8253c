"""Wiring of what is done with alert files without a store: check them, carry out their tests (issue F)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.app.rulefiles import name_pattern, yaml_files
from otel_toolselect.errors import Problem, SuiteError, ToolselectError, UsageError

if TYPE_CHECKING:
    from otel_toolselect.model.alerting import AlertFile
    from otel_toolselect.model.alerttests import AlertTest, AlertTestFile
    from otel_toolselect.model.ruletests import TestOutcome
    from otel_toolselect.reports import Checked


def checked(path: str, kind: str) -> Checked:
    """A file of alerts, or of their tests together with the alerts they are about. Raises SuiteError, InputError."""
    from otel_toolselect.reports import Checked
    from otel_toolselect.rules.alertfiles import load_alerts
    from otel_toolselect.rules.alerttests import load_alert_tests

    if kind == "alerts":
        alerts = load_alerts(path)
        return Checked(path, kind, alerts.name, len(alerts.alerts))
    tests = load_alert_tests(path)
    load_alerts(_beside(tests))
    return Checked(path, kind, "", len(tests.tests))


def rehearse_alerts(paths: Sequence[str], *, pick: str = "") -> list[TestOutcome]:
    """Every test of alerts whose name holds the RE2 pattern. Raises SuiteError on files with mistakes.

    Folders are searched for test files of alerts; other YAML files there are passed over.
    """
    from otel_toolselect.rules.alertfiles import load_alerts
    from otel_toolselect.rules.alerttests import load_alert_tests

    wanted = name_pattern(pick)
    loaded: list[tuple[AlertTestFile, AlertFile]] = []
    problems: list[Problem] = []
    for path in _test_paths(paths):
        try:
            tests = load_alert_tests(path)
            loaded.append((tests, load_alerts(_beside(tests))))
        except SuiteError as error:
            problems += error.problems
    if problems:
        raise SuiteError(list(dict.fromkeys(problems)))
    outcomes = [
        _carried_out(tests.path, test, alerts)
        for tests, alerts in loaded
        for test in tests.tests
        if wanted.search(test.name)
    ]
    if not outcomes:
        raise UsageError(f"no test is called {pick!r}" if pick else "the files hold no test of alerts")
    return outcomes


def _test_paths(paths: Sequence[str]) -> Iterator[str]:
    from otel_toolselect.rules.loader import read_text
    from otel_toolselect.rules.sniffing import kind_of_file

    named = set(paths)
    for path in yaml_files(paths):
        if path in named or kind_of_file(read_text(path), path) == "alert tests":
            yield path


def _beside(tests: AlertTestFile) -> str:
    return str(Path(tests.path).parent / tests.alerts_file)


def _carried_out(path: str, test: AlertTest, alerts: AlertFile) -> TestOutcome:
    from otel_toolselect.model.ruletests import TestOutcome
    from otel_toolselect.monitor.alerts.rehearsal import differences

    begun = time.monotonic()
    try:
        found = differences(test, alerts, path)
    except ToolselectError as error:
        return TestOutcome(path, test.line, test.name, error=str(error), seconds=time.monotonic() - begun)
    return TestOutcome(path, test.line, test.name, found, seconds=time.monotonic() - begun)
