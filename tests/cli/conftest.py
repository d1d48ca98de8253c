from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line as a process of its own, in an empty folder, with a store of its own."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLSELECT_", "OTEL_", "COV_"))}
    environment = {**clean, "TOOLSELECT_STORE": f"chdb://{tmp_path}/store", "PYTHONWARNINGS": "error"}

    def run(*args: object, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "otel_toolselect.cli", *map(str, args)],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            cwd=tmp_path,
            env={**environment, **env},
        )

    return run
