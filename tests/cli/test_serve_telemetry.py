"""`toolselect serve` tells about itself as its settings say."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

SERVE = [sys.executable, "-m", "otel_toolselect.cli", "serve", "--format", "json", "--grpc-port", "0"]


def environment(folder: Path, **more: str) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLSELECT_", "OTEL_"))}
    return clean | {"TOOLSELECT_STORE": f"chdb://{folder}/store"} | more


def test_json_lines_only_and_figures_of_the_store(tmp_path: Path) -> None:
    env = environment(tmp_path, TOOLSELECT_LOG_FORMAT="json", TOOLSELECT_LOG_LEVEL="info")
    with subprocess.Popen(
        [*SERVE, "--http-port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, cwd=tmp_path
    ) as process:
        try:
            assert process.stdout is not None
            http = json.loads(process.stdout.readline())["http"]
            with urllib.request.urlopen(f"{http}/metrics", timeout=60) as answer:
                figures = answer.read().decode()
        finally:
            process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert 'toolselect_store_parts{table="toolselect_migrations"}' in figures
    lines = [json.loads(line) for line in said.splitlines()]
    assert [line["message"] for line in lines][-1] == "stopped"


def test_an_endpoint_that_is_the_receiver_itself_is_refused_and_everything_is_let_go(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    env = environment(tmp_path, TOOLSELECT_OTLP_ENDPOINT=f"http://localhost:{port}")
    done = subprocess.run(
        [*SERVE, "--http-port", port], capture_output=True, text=True, env=env, cwd=tmp_path, timeout=60
    )
    assert done.returncode == 2
    assert "is this receiver itself" in done.stderr
    assert not done.stdout
