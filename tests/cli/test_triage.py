from __future__ import annotations

import json
from pathlib import Path

from tests.cli._spans import sample, suite
from tests.cli.conftest import Cli


def test_from_files_and_from_the_store(cli: Cli, tmp_path: Path) -> None:
    traces, cases = sample(tmp_path), suite(tmp_path)
    files = cli("triage", traces, "--suite", cases, "--format", "json")
    assert files.returncode == 0, files.stderr
    got = json.loads(files.stdout)
    assert [(c["expected"], c["observed"], c["runs"]) for c in got["clusters"]] == [("refund", "find", 1)]
    assert cli("replay", traces).returncode == 0
    stored = cli("triage", "--suite", cases, "--format", "json")
    assert stored.returncode == 0, stored.stderr
    kept = json.loads(stored.stdout)
    for document in (got, kept):
        for bundle in (b for c in document["clusters"] for b in c["bundles"]):
            del bundle["rerun"]
        for bundle in document["passes"]:
            del bundle["rerun"]
    assert kept == got


def test_nothing_to_judge(cli: Cli, tmp_path: Path) -> None:
    cases = suite(tmp_path, [{"prompt": "something else", "expected": "find"}])
    done = cli("triage", sample(tmp_path), "--suite", cases)
    assert done.returncode == 3
    assert "doctor" in done.stderr
    assert cli("triage", "--suite", cases).returncode == 4
