"""`toolselect rules`: check, test, judge and schema from outside (issue C, points 4 and 7)."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli import _spans
from tests.cli.conftest import Cli

RULES = """
rules: shop
policy: {tools: {find: {effect: read}, refund: {effect: write}}}
cases:
  - {id: look-first, match: {agent: shop, service: shop}, expect: {never: [refund before find]}, severity: critical}
  - {id: no-refunds, match: {request: refund}, expect: {never: [refund]}, owner: payments}
"""
TESTS = """
files: [shop.yaml]
tests:
  - name: refund without a look
    given: {run: {agent: shop, service: shop}, events: [{call: refund}]}
    expect: [{rule: look-first, status: fail}, {rule: no-refunds, status: unmatched}]
  - name: from spans
    given: {spans: traces.jsonl}
    expect: [{rule: look-first, run: shop, status: pass}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _spans.sample(tmp_path)
    (tmp_path / "shop.yaml").write_text(RULES)
    (tmp_path / "shop.test.yaml").write_text(TESTS)
    return tmp_path


@pytest.mark.parametrize("command", ["check", "test", "judge", "schema"])
def test_every_help_has_examples(cli: Cli, command: str) -> None:
    done = cli("rules", command, "--help")
    assert done.returncode == 0
    assert f"toolselect rules {command}" in done.stdout


def test_check_says_that_files_are_fine(cli: Cli, folder: Path) -> None:
    (folder / "cases.jsonl").write_text('{"prompt": "a", "expected": "find"}\n')
    done = cli("rules", "check", "shop.yaml", "shop.test.yaml", "cases.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "shop.yaml: ok, rules shop, 2 rules",
        "shop.test.yaml: ok, tests, 2 tests",
        "cases.jsonl: ok, suite cases, 1 cases",
    ]


def test_check_lists_every_mistake_of_every_file(cli: Cli, folder: Path) -> None:
    (folder / "bad.yaml").write_text("rules: x\ncases:\n  - {id: a, expct: {first: [y]}, severity: no}\n")
    (folder / "worse.yaml").write_text("suite: x\ncases: [\n")
    (folder / "odd.yaml").write_bytes(b"suite: \xff\n")
    done = cli("rules", "check", "bad.yaml", "shop.yaml", "worse.yaml", "odd.yaml", "gone.yaml")
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    assert "bad.yaml:3:13: unknown key 'expct' in a rule (did you mean 'expect'?)" in lines
    assert any(line.startswith("bad.yaml:3:44: severity cannot be 'no'") for line in lines)
    assert any(line.startswith("worse.yaml:") and "not valid YAML" in line for line in lines)
    assert any(line.startswith("odd.yaml:1:1: not UTF-8") for line in lines)
    assert any(line.startswith("gone.yaml:1:1: cannot be read") for line in lines)
    assert "problems in 4 of 5 files" in done.stderr
    found = json.loads(cli("rules", "check", "bad.yaml", "shop.yaml", "--format", "json").stdout)
    assert found["schema"] == "toolselect.check/1"
    assert [f["ok"] for f in found["files"]] == [False, True]
    assert found["files"][0]["problems"][0]["line"] == 3


def test_check_searches_folders(cli: Cli, folder: Path) -> None:
    done = cli("rules", "check", ".")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2
    (folder / "empty").mkdir()
    assert cli("rules", "check", "empty").returncode == 2


def test_tests_pass(cli: Cli, folder: Path) -> None:
    done = cli("rules", "test", "shop.test.yaml")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "shop.test.yaml: 2 of 2 passed" in done.stdout


def test_tests_fail_with_a_diff_and_junit(cli: Cli, folder: Path) -> None:
    wrong = TESTS.replace("look-first, status: fail", "look-first, status: pass").replace("traces.jsonl", "gone.jsonl")
    (folder / "shop.test.yaml").write_text(wrong)
    done = cli("rules", "test", ".")
    assert done.returncode == 1
    assert "FAIL shop.test.yaml:4 refund without a look" in done.stdout
    assert "- pass\n" in done.stdout
    assert "+ fail\n" in done.stdout
    assert "refund was called before" in done.stdout
    assert "gone.jsonl" in done.stdout
    done = cli("rules", "test", ".", "-o", "report.xml")
    assert (done.returncode, done.stdout) == (1, "")
    root = ET.parse(folder / "report.xml").getroot()
    assert root.attrib["tests"] == "2"
    assert (root.attrib["failures"], root.attrib["errors"]) == ("1", "1")
    (failure,) = root.iter("failure")
    assert "status is fail, expected pass" in failure.attrib["message"]
    found = json.loads(cli("rules", "test", ".", "--format", "json").stdout)
    assert (found["passed"], found["failed"]) == (0, 2)


def test_tests_are_picked_by_name(cli: Cli, folder: Path) -> None:
    assert "1 of 1 passed" in cli("rules", "test", ".", "--run", "^from").stdout
    assert cli("rules", "test", ".", "--run", "nothing").returncode == 2
    assert "not an RE2 pattern" in cli("rules", "test", ".", "--run", "(?=x)").stderr
    assert cli("rules", "test", "shop.yaml").returncode == 2


def test_a_mistake_in_a_tested_file_is_told_with_its_place(cli: Cli, folder: Path) -> None:
    (folder / "shop.yaml").write_text(RULES.replace("never: [refund]", "nevr: [refund]"))
    done = cli("rules", "test", "shop.test.yaml")
    assert done.returncode == 2
    assert "shop.yaml:6:" in done.stderr
    assert "did you mean 'never'?" in done.stderr


def test_judge_says_which_rule_which_run_and_who(cli: Cli, folder: Path) -> None:
    done = cli("rules", "judge", "traces.jsonl", "--rules", "shop.yaml", "--format", "json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["schema"], found["rules"], found["runs"]) == ("toolselect.rulings/1", "shop", 3)
    by_rule = [(r["rule"], r["severity"], r["status"], r["owner"]) for r in found["rulings"]]
    assert by_rule == [
        ("look-first", "critical", "pass", None),
        ("look-first", "critical", "pass", None),
        ("look-first", "critical", "pass", None),
        ("no-refunds", "warning", "fail", "payments"),
        ("no-refunds", "warning", "pass", None),
    ]
    table = cli("rules", "judge", "traces.jsonl", "--rules", "shop.yaml").stdout
    assert "fail no-refunds (warning) -> payments" in table
    assert "forbidden: refund" in table


def test_judge_without_a_matching_run_is_no_pass(cli: Cli, folder: Path) -> None:
    (folder / "none.yaml").write_text(RULES.replace("agent: shop", "agent: x").replace("request: refund", "agent: x"))
    done = cli("rules", "judge", "traces.jsonl", "--rules", "none.yaml")
    assert done.returncode == 3
    assert "none of the 3 runs is the business of a rule" in done.stderr


def test_schema_is_json(cli: Cli) -> None:
    assert json.loads(cli("rules", "schema").stdout)["$schema"].startswith("https://json-schema.org/")
