"""A `toolselect serve` of one's own, as a process, for as long as a block lasts."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from otel_toolselect.errors import EnvironmentProblem

STOP_S = 30


@contextmanager
def served(dsn: str) -> Iterator[dict[str, str]]:
    """Yields what `serve --format json` says once it receives: `grpc`, `http`, `store`. Free ports on loopback."""
    command = [sys.executable, "-m", "otel_toolselect.cli", "serve", "--store", dsn, "--format", "json"]
    ports = ["--host", "127.0.0.1", "--grpc-port", "0", "--http-port", "0"]
    with tempfile.TemporaryFile("w+", encoding="utf-8") as errors:
        # its own arguments only, no shell
        process = subprocess.Popen([*command, *ports], stdout=subprocess.PIPE, stderr=errors, text=True)  # noqa: S603
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                process.wait(STOP_S)
                raise EnvironmentProblem(f"the receiver did not start: {_said(errors)}")
            yield json.loads(line)
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _said(errors: IO[str]) -> str:
    errors.seek(0)
    return errors.read().strip().removeprefix("toolselect: ") or "it said nothing"
