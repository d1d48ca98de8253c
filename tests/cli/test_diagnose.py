from __future__ import annotations

import json
from pathlib import Path

from tests.cli._spans import sample, suite
from tests.cli.conftest import Cli


def test_diagnose(cli: Cli, tmp_path: Path) -> None:
    traces, cases = sample(tmp_path), suite(tmp_path)
    done = cli("diagnose", "refund", "find", traces, "--suite", cases, "--format", "json")
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert (got["share"]["passed"], got["share"]["n"]) == (1, 1)
    assert {step["answer"] for step in got["steps"]} == {"unknown"}
    none = cli("diagnose", "fly", "find", traces, "--suite", cases)
    assert none.returncode == 3
    assert "wanted were: find, none, refund" in none.stderr
