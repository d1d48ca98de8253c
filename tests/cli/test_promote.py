from __future__ import annotations

from pathlib import Path

from tests.cli._spans import sample
from tests.cli.conftest import Cli


def test_promote(cli: Cli, tmp_path: Path) -> None:
    traces, target = sample(tmp_path), tmp_path / "draft.yaml"
    asked = cli("promote", f"{2:032x}", traces)
    assert asked.returncode == 2
    assert "--first NAME" in asked.stderr
    done = cli("promote", f"{2:032x}", traces, "--first", "refund", "-o", target)
    assert done.returncode == 0, done.stderr
    assert "names and postal addresses" in done.stderr
    judged = cli("score", traces, "--suite", target)
    assert judged.returncode == 1
    assert "wanted refund" in judged.stdout
    assert "got find" in judged.stdout
