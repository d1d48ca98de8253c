"""`toolselect suite` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Cli

RECORD = {"id": "c", "prompt": "p", "expected_class": "direct", "tools_offered": ["a"]}


def test_import_lint_export(cli: Cli, tmp_path: Path) -> None:
    source, suite = tmp_path / "cases.jsonl", tmp_path / "suite.yaml"
    source.write_text(json.dumps(RECORD) + "\n", encoding="utf-8")
    done = cli("suite", "import", "when2call", str(source), "-o", str(suite))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"toolselect: 1 cases of cases in {suite}\n"
    found = cli("suite", "lint", str(suite), "--format", "json")
    assert found.returncode == 1
    assert {a["rule"] for a in json.loads(found.stdout)["advice"]} >= {"size", "flip", "guard", "must-have"}
    assert "one flip moves accuracy by 100 points" in cli("suite", "lint", str(suite)).stdout
    out = cli("suite", "export", "tiny", str(suite))
    assert (out.returncode, json.loads(out.stdout)) == (0, {"id": "c", "request": "p", "expected": "none"})


def test_mistakes_are_bad_usage(cli: Cli, tmp_path: Path) -> None:
    source = tmp_path / "cases.jsonl"
    source.write_text('{"id": "c"}\n{', encoding="utf-8")
    done = cli("suite", "import", "bfcl", str(source))
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{source}:2: not valid JSON" in done.stderr
    assert cli("suite", "import", "bfkl", str(source)).returncode == 2


def test_help_lists_the_kinds(cli: Cli) -> None:
    said = cli("suite", "import", "--help").stdout
    assert "  tau-bench " in said
    assert "Examples:" in said
