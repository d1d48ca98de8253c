"""Wiring of what is done with rule files: check them, test them, judge trace files under them (design section 6).

Beside `app`, which it builds on. Commands call it and print what it returns.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect import app
from otel_toolselect.config import load
from otel_toolselect.errors import InputError, Problem, SuiteError, ToolselectError, UsageError

if TYPE_CHECKING:
    from otel_toolselect.config import Settings
    from otel_toolselect.judge.rehearsal import Rehearsal, Target
    from otel_toolselect.model.ruletests import RuleTest, TestFile, TestOutcome
    from otel_toolselect.model.rulings import Rulings
    from otel_toolselect.model.runs import Run
    from otel_toolselect.reports import Checked
    from otel_toolselect.rules.patterns import Pattern


def check_files(paths: Sequence[str]) -> list[Checked]:
    """Each suite, file of rules or alerts, or file of tests, with all of its problems; folders are searched."""
    return [_checked(path) for path in yaml_files(paths)]


def yaml_files(paths: Sequence[str]) -> list[str]:
    """Files as they are named; of folders the .yaml and .yml files below, in order."""
    found: list[str] = []
    for path in paths:
        folder = Path(path)
        if folder.is_dir():
            inside = sorted(str(p) for p in folder.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file())
            if not inside:
                raise InputError("the folder holds no .yaml file", where=path)
            found += inside
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def _checked(path: str) -> Checked:
    from otel_toolselect.app import alertfiles
    from otel_toolselect.assemble.decision import read_no_call
    from otel_toolselect.reports import Checked
    from otel_toolselect.rules.loader import load_suite, read_text
    from otel_toolselect.rules.rulefiles import load_rules
    from otel_toolselect.rules.ruletests import load_tests
    from otel_toolselect.rules.sniffing import kind_of_file

    kind = ""
    try:
        kind = kind_of_file(read_text(path), path)
        if kind == "rules":
            rules = load_rules(path)
            return Checked(path, kind, rules.name, len(rules.rules))
        if kind == "tests":
            tests = load_tests(path, read_no_call)
            for target in tests.files:
                load_target(_beside(path, target))
            return Checked(path, kind, "", len(tests.tests))
        if kind in ("alerts", "alert tests"):
            return alertfiles.checked(path, kind)
        suite = load_suite(path)
        return Checked(path, kind, suite.name, len(suite.cases))
    except SuiteError as error:
        return Checked(path, kind, problems=error.problems)
    except InputError as error:
        where, _, line = error.where.rpartition(":")
        where, at = (where, int(line)) if where and line.isdecimal() else (error.where or path, 1)
        return Checked(path, kind, problems=(Problem(where, at, 1, error.bare),))


def load_target(path: str) -> Target:
    """A suite or a rules file. Raises SuiteError, InputError."""
    from otel_toolselect.rules.loader import load_suite, read_text
    from otel_toolselect.rules.rulefiles import load_rules
    from otel_toolselect.rules.sniffing import kind_of_file

    return load_rules(path) if kind_of_file(read_text(path), path) == "rules" else load_suite(path)


def _beside(path: str, name: str) -> str:
    return str(Path(path).parent / name)


def rehearse_files(paths: Sequence[str], *, pick: str = "", settings: Settings | None = None) -> list[TestOutcome]:
    """Every test of every test file whose name holds the RE2 pattern. Raises SuiteError on files with mistakes.

    Folders are searched for test files; their other YAML files (the rules under test) are passed over.
    """
    from otel_toolselect.assemble.decision import read_no_call
    from otel_toolselect.rules.ruletests import load_tests

    wanted = name_pattern(pick)
    settings = settings or load()
    loaded: list[tuple[TestFile, Rehearsal]] = []
    problems: list[Problem] = []
    for path in _test_paths(paths):
        try:
            tests = load_tests(path, read_no_call)
            loaded.append((tests, _rehearsal(tests)))
        except SuiteError as error:
            problems += error.problems
    if problems:
        raise SuiteError(list(dict.fromkeys(problems)))
    outcomes = [
        _carried_out(tests.path, test, rehearsal, settings)
        for tests, rehearsal in loaded
        for test in tests.tests
        if wanted.search(test.name)
    ]
    if not outcomes:
        raise UsageError(f"no test is called {pick!r}" if pick else "the files hold no test")
    return outcomes


def _test_paths(paths: Sequence[str]) -> Iterator[str]:
    from otel_toolselect.rules.loader import read_text
    from otel_toolselect.rules.sniffing import kind_of_file

    named = set(paths)
    for path in yaml_files(paths):
        if path in named or kind_of_file(read_text(path), path) == "tests":
            yield path


def name_pattern(text: str) -> Pattern:
    import re2

    from otel_toolselect.rules.patterns import compile_text

    try:
        return compile_text(text)
    except re2.error as error:
        raise UsageError(f"--run {text!r} is not an RE2 pattern: {error}") from error


def _rehearsal(tests: TestFile) -> Rehearsal:
    from otel_toolselect.judge.rehearsal import Rehearsal

    return Rehearsal([load_target(_beside(tests.path, name)) for name in tests.files])


def _carried_out(path: str, test: RuleTest, rehearsal: Rehearsal, settings: Settings) -> TestOutcome:
    from otel_toolselect.model.ruletests import TestOutcome

    begun = time.monotonic()
    try:
        differences = rehearsal.differences(test, _runs(path, test, settings))
    except ToolselectError as error:
        return TestOutcome(path, test.line, test.name, error=str(error), seconds=time.monotonic() - begun)
    return TestOutcome(path, test.line, test.name, differences, seconds=time.monotonic() - begun)


def _runs(path: str, test: RuleTest, settings: Settings) -> Sequence[Run]:
    if test.spans is not None:
        from otel_toolselect.otlp.jsondecode import decode_document

        batch = decode_document(dict(test.spans), where=f"{path}:{test.line}")
        for rejection in batch.rejected_spans:
            raise InputError(rejection.reason, where=f"{path}:{test.line}: {rejection.where}")
        return app.runs_of(batch.spans, batch.logs, settings)
    if test.span_files:
        files = [_beside(path, name) for name in test.span_files]
        return app.runs_from_files(files, settings=settings)
    return test.runs


def apply_rules(
    paths: Sequence[str], rules: str, *, settings: Settings | None = None, warn: app.Warn = app._silent
) -> Rulings:
    """Trace files under a rules file, nothing kept."""
    from otel_toolselect.judge import judge_rules
    from otel_toolselect.rules.rulefiles import load_rules

    loaded = load_rules(rules)
    settings = settings or load()
    runs = app.runs_from_files(paths, settings=settings, warn=warn)
    with app.asker_of(settings.judge) as asker:
        return judge_rules(runs, loaded, asker)
