"""The CI kit works as it stands: the script is run, the workflow and the hook are read (R54)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.cli._spans import CASES, sample, suite

ROOT = Path(__file__).parents[2]
KIT = ROOT / "deploy" / "ci"


def judge(folder: Path, cases: Path, **env: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLSELECT_", "OTEL_", "GITHUB_"))}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["sh", str(KIT / "judge.sh"), "traces.jsonl", str(cases)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**clean, "PATH": path, **env},
    )


@pytest.mark.skipif(shutil.which("toolselect", path=str(Path(sys.executable).parent)) is None, reason="not installed")
def test_script_writes_every_report_and_keeps_the_exit_code(tmp_path: Path) -> None:
    sample(tmp_path)
    summary = tmp_path / "summary.md"
    done = judge(tmp_path, suite(tmp_path), GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1, done.stderr
    assert {p.name for p in (tmp_path / "toolselect-report").iterdir()} == {
        "report.json",
        "report.html",
        "report.md",
        "junit.xml",
    }
    assert done.stdout.startswith("::error file=shop.jsonl,line=2,")
    assert summary.read_text("utf-8").startswith("### toolselect `shop`")
    good = judge(tmp_path, suite(tmp_path, CASES[:1]))
    assert good.returncode == 0
    assert "shop: 1 run, 1 judged" in good.stdout
    assert judge(tmp_path, tmp_path / "no-such.yaml").returncode == 2


def read(path: Path) -> Any:
    return YAML(typ="safe", pure=True).load(path.read_text("utf-8"))


def test_workflow() -> None:
    text = (KIT / "github-workflow.yml").read_text("utf-8")
    flow = read(KIT / "github-workflow.yml")
    assert {"pull_request", "schedule"} <= flow["on"].keys()
    assert flow["permissions"] == {"contents": "read"}
    assert all(re.fullmatch(r"ubuntu-latest", job["runs-on"]) for job in flow["jobs"].values())
    for command in re.findall(r"toolselect ([a-z]+)", text):
        if command not in ("serve", "report"):
            assert (ROOT / "src" / "otel_toolselect" / "cli" / f"{command}.py").is_file() or command == "choice"


def test_hook() -> None:
    (hook,) = read(ROOT / ".pre-commit-hooks.yaml")
    assert (hook["entry"], hook["language"]) == ("toolselect rules check", "python")
