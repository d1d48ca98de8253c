"""The command line, from outside: standard output, standard error and the exit code, in an empty folder with a store of
its own.

    cli        in this process, which costs a tenth of one of its own
    program    as a process of its own, for what a process has once: signals, the tracer provider, a standard output
               that is a pipe, the import of what is used; and for some of everything, so that both ways are known to
               end alike
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from otel_toolselect.cli import main

Cli = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(folder: Path, **more: str) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLSELECT_", "OTEL_", "COV_"))}
    return {**clean, "TOOLSELECT_STORE": f"chdb://{folder}/store", "PYTHONWARNINGS": "error", **more}


def within(folder: Path, *args: object, stdin: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    """A command line in this process, as if it were started in the folder."""
    words = [str(arg) for arg in args]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    wanted = environment(folder, **env)
    with pytest.MonkeyPatch.context() as patch, contextlib.chdir(folder):
        for name in set(os.environ) - set(wanted):
            patch.delenv(name)
        for name, value in wanted.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode("utf-8")), "utf-8"))
        told = contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)
        with told[0], told[1], pytest.raises(SystemExit) as ended:
            main(words)
    return subprocess.CompletedProcess(words, int(ended.value.code or 0), _printed(out), _printed(err))


def _printed(file: io.TextIOWrapper) -> str:
    file.flush()
    return file.buffer.getvalue().decode("utf-8")  # type: ignore[attr-defined]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return partial(within, tmp_path)


@pytest.fixture
def program(tmp_path: Path) -> Cli:
    def run(*args: object, stdin: str | None = None, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "otel_toolselect.cli", *map(str, args)],
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            cwd=tmp_path,
            env=environment(tmp_path, **env),
        )

    return run
