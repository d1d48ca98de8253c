"""A peer: agentevals-cli, which receives OTLP and evaluates tool trajectories, in an environment of its own.

Not like for like, and the table says so: it keeps sessions in memory only (at most 100 of them), stores nothing, and
evaluates when asked, which is not part of the figure; what is measured is bytes to sessions that it calls complete. It
does so, and most of its work then, three seconds after the last span.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.sender import Target
from benchmarks.server import Server, process

ROOT = Path(__file__).parents[2]
VENV = ROOT / "build" / "bench" / "agentevals"
LOCK = ROOT / "requirements-bench.lock"
INSTALL_S = 600
_START_S = 60
SESSIONS = 100
"""Its own limit (`Limits.max_sessions`); beyond it requests are answered UNAVAILABLE."""


def install() -> str | None:
    """Makes the environment, once; the reason when that cannot be done here."""
    stamp = VENV / ".installed"
    if stamp.exists() and stamp.read_bytes() == LOCK.read_bytes():
        return None
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(VENV)],
        [str(VENV / "bin" / "python"), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(LOCK)],
    )
    try:
        for command in commands:
            subprocess.run(command, check=True, timeout=INSTALL_S, capture_output=True)  # noqa: S603 - fixed commands
    except (subprocess.SubprocessError, OSError) as error:
        return f"agentevals-cli could not be installed: {type(error).__name__}"
    stamp.write_bytes(LOCK.read_bytes())
    return None


@contextmanager
def agentevals() -> Iterator[Server]:
    """Its development server, as its documentation starts it, on free ports."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="toolselect-bench-")))
        api, http, grpc = _free_ports(3)
        command = [str(VENV / "bin" / "agentevals"), "serve", "--dev", "--headless", "--host", "127.0.0.1"]
        command += ["--port", str(api), "--otlp-http-port", str(http), "--otlp-grpc-port", str(grpc)]
        running = stack.enter_context(process([*command, "--api-grpc-port", "0"], folder / "log"))
        _wait_for(f"http://127.0.0.1:{api}/api/health")

        def stored() -> int:
            sessions = _get(f"http://127.0.0.1:{api}/api/streaming/sessions")["data"]
            return sum(session["spanCount"] for session in sessions if session["isComplete"])

        yield Server("agentevals-cli", running.pid, Target(f"127.0.0.1:{grpc}"), stored)


def _free_ports(count: int) -> list[int]:
    """Held together until all are known, so that they differ."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for found in sockets:
            found.bind(("127.0.0.1", 0))
        return [found.getsockname()[1] for found in sockets]


def _get(url: str) -> dict[str, list[dict[str, int]]]:
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 - loopback
        found: dict[str, list[dict[str, int]]] = json.load(answer)
    return found


def _wait_for(url: str) -> None:
    end = time.monotonic() + _START_S
    while True:
        try:
            _get(url)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return
