"""Test files of rules: YAML -> typed tests, every mistake with its place (design section 6; see docs/rule-tests.md).

    files: [safety.yaml]                      # rule files or suites, relative to this file
    tests:
      - name: a refund without a look-up is caught
        given:
          run: {agent: support, request: refund A-1}      # facts of the run, all optional (see `givenruns`)
          events:
            - {call: issue_refund, args: {order_id: A-1}, ok: true}
            - {text: Done.}
        expect:
          - {rule: look-first, status: fail, layers: {selection: fail}, says: before}

`given` holds `events` (with `run`), or `runs` (each with its `events`), or `spans` (file names, or one OTLP/JSON
request written out).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from otel_toolselect.errors import SuiteError
from otel_toolselect.model.ruletests import UNMATCHED, ExpectedVerdict, RuleTest, TestFile
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import LAYERS
from otel_toolselect.rules._nodes import Fields, Items, Node, Scalar, clip, kind_of, to_json
from otel_toolselect.rules._yaml import read_yaml
from otel_toolselect.rules.givenruns import Reading, given_run
from otel_toolselect.rules.loader import read_text
from otel_toolselect.rules.problems import Problems

KEYS = ("files", "tests")
TEST_KEYS = ("name", "given", "expect", "judge")
GIVEN_KEYS = ("run", "events", "runs", "spans")
EXPECT_KEYS = ("rule", "case", "run", "status", "layers", "failure", "owner", "first_action", "says")
STATUSES = ("pass", "fail", "n/a", "excluded", "needs_review", UNMATCHED)
_SYNONYMS = {"rule_files": "files", "id": "name", "input": "given", "explanation": "says", "verdict": "status"}
_Found = Mapping[str, tuple[Scalar, Node]]


def load_tests(path: str | Path, reading: Reading) -> TestFile:
    """Raises SuiteError with every problem, InputError when the file cannot be read.

    `reading` says how a final text without a call reads: assembly's classification, which the caller passes in.
    """
    return parse_tests(read_text(path), path=str(path), reading=reading)


def parse_tests(text: str, *, path: str, reading: Reading) -> TestFile:
    problems = Problems(path)
    made = _file(read_yaml(text.removeprefix("\ufeff"), problems), path, reading, problems)
    if problems.found:
        raise SuiteError(list(dict.fromkeys(problems.found)))
    return made


def _file(root: Node | None, path: str, reading: Reading, problems: Problems) -> TestFile:
    found = None
    if root is not None:
        found = problems.fields(root, "the test file", KEYS, synonyms=_SYNONYMS)
    elif not problems.found:
        problems.at(1, 1, "the file is empty", "write files: [RULES] and tests: [...]")
    if found is None or root is None:
        return TestFile(path, (), ())
    files = [text for text, _ in problems.texts(found["files"][1], "files")] if "files" in found else []
    if not files:
        problems.add(root, "the file names no rules to test", "write files: [RULES.yaml], relative to this file")
    entries = problems.items(found["tests"][1], "tests") if "tests" in found else ()
    if not entries:
        problems.add(root, "the file has no test", "write tests: [{name: ..., given: {...}, expect: [...]}]")
    tests: list[RuleTest] = []
    lines: dict[str, int] = {}
    for entry in entries:
        test = _test(entry, reading, problems)
        if test is None:
            continue
        if test.name in lines:
            said = f"the test {clip(test.name, 40)!r} stands twice"
            problems.add(entry, said, f"first on line {lines[test.name]}; names are unique, so that --run can pick one")
        lines.setdefault(test.name, test.line)
        tests.append(test)
    return TestFile(path, tuple(files), tuple(tests))


def _test(node: Node, reading: Reading, problems: Problems) -> RuleTest | None:
    found = problems.fields(node, "a test", TEST_KEYS, synonyms=_SYNONYMS)
    if found is None:
        return None
    for key, way in (("name", "write name: WHAT IT SHOWS"), ("given", "write given: {events: [...]}")):
        if key not in found:
            problems.add(node, f"a test has no {key}", way)
    name = problems.text(found["name"][1], "name") if "name" in found else None
    runs, files, spans = _given(found["given"][1], reading, problems) if "given" in found else ((), (), None)
    expect: list[ExpectedVerdict] = []
    if "expect" in found:
        for item in problems.items(found["expect"][1], "expect", example="[{rule: ID, status: fail}]"):
            wanted = _expected(item, runs, problems)
            expect += [] if wanted is None else [wanted]
    if "expect" not in found or (isinstance(found["expect"][1], Items) and not found["expect"][1].items):
        problems.add(node, "a test expects nothing", "write expect: [{rule: ID, status: fail}]")
    judge = _answers(found["judge"][1], problems) if "judge" in found else {}
    return None if name is None else RuleTest(name, node.line, tuple(expect), runs, files, spans, judge)


_Given = tuple[tuple[Run, ...], tuple[str, ...], "Mapping[str, Any] | None"]
_NOTHING: _Given = ((), (), None)


def _given(node: Node, reading: Reading, problems: Problems) -> _Given:
    found = problems.fields(node, "given", GIVEN_KEYS)
    if found is None:
        return _NOTHING
    ways = [key for key in ("events", "runs", "spans") if key in found]
    if len(ways) != 1:
        said = "given holds nothing" if not ways else f"given holds {' and '.join(ways)}"
        problems.add(node, said, "write one of events, runs and spans")
        return _NOTHING
    if "run" in found and ways != ["events"]:
        problems.add(found["run"][0], "'run' stands beside events only", "write the facts into each of runs")
    if ways == ["spans"]:
        return _spans(found["spans"][1], problems)
    if ways == ["events"]:
        facts = found["run"][1] if "run" in found else None
        run = given_run(facts, found["events"][1], "run-1", reading, problems)
        return ((run,) if run is not None else (), (), None)
    made: list[Run] = []
    for i, item in enumerate(problems.items(found["runs"][1], "runs", example="[{id: a, events: [...]}]"), start=1):
        run = given_run(item, None, f"run-{i}", reading, problems)
        made += [] if run is None else [run]
    ids = [run.run_id for run in made]
    if len(set(ids)) < len(ids):
        problems.add(found["runs"][0], "two runs have the same id", "give each an id of its own")
    return tuple(made), (), None


def _spans(node: Node, problems: Problems) -> _Given:
    if isinstance(node, Fields):
        value = cast("Mapping[str, Any]", to_json(node))
        if not {"resourceSpans", "resource_spans", "batches"} & value.keys():
            problems.add(node, "spans written out must be one OTLP/JSON request", "write {resourceSpans: [...]}")
        return (), (), value
    if isinstance(node, Scalar):
        text = problems.text(node, "spans")
        return (), (text,) if text is not None else (), None
    return (), tuple(text for text, _ in problems.texts(node, "spans")), None


def _expected(node: Node, runs: tuple[Run, ...], problems: Problems) -> ExpectedVerdict | None:
    found = problems.fields(node, "an expected verdict", EXPECT_KEYS, synonyms=_SYNONYMS)
    if found is None:
        return None
    key = "case" if "case" in found else "rule"
    rule = problems.text(found[key][1], key) if key in found else None
    if key not in found:
        problems.add(node, "an expected verdict names no rule", "write {rule: ID, status: fail}")
    if not found.keys() - {"rule", "case", "run"}:
        problems.add(node, "an expected verdict says nothing of it", "write status: pass, or fail, or unmatched")
    run = problems.text(found["run"][1], "run") if "run" in found else None
    if run is not None and runs and run not in [r.run_id for r in runs]:
        problems.add(found["run"][1], f"no run is called {clip(run, 40)!r}", "see the ids of given.runs")
    if run is None and len(runs) > 1:
        problems.add(node, "which of the runs is meant?", "write run: ID")
    status = problems.choice(found["status"][1], "status", STATUSES) if "status" in found else None
    texts = {
        name: problems.text(found[name][1], name)
        for name in ("failure", "owner", "first_action", "says")
        if name in found
    }
    if rule is None:
        return None
    layers = _layers(found["layers"][1], problems) if "layers" in found else {}
    return ExpectedVerdict(rule, run, status, layers, **texts, line=node.line)


def _layers(node: Node, problems: Problems) -> dict[str, str]:
    found = problems.fields(node, "layers", LAYERS) or {}
    words = {name: problems.choice(value, name, STATUSES[:-1]) for name, (_, value) in found.items()}
    return {name: word for name, word in words.items() if word is not None}


def _answers(node: Node, problems: Problems) -> dict[str, bool]:
    if not isinstance(node, Fields):
        problems.add(node, f"judge must be a mapping, not {kind_of(node)}", "write {PART OF THE QUESTION: yes}")
        return {}
    answers: dict[str, bool] = {}
    for key, value in node.entries:
        word = problems.choice(value, "an answer of the judge", ("yes", "no"))
        if word is not None:
            answers[key.text] = word == "yes"
    return answers
