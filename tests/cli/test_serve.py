"""The whole path through real processes: official exporters, `serve`, and other commands beside it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from otel_toolselect import app
from otel_toolselect.cli import _agent
from otel_toolselect.cli._serving import served
from otel_toolselect.rules import load_suite
from tests.cli.conftest import Cli

FOLDER = app.example_folder("billing-support")
SUITE = FOLDER / "suite.yaml"


@pytest.fixture
def dsn(tmp_path: Path) -> str:
    return f"chdb://{tmp_path}/store"


def play(exporter: SpanExporter, cases: slice) -> None:
    provider = _agent.provider_with(BatchSpanProcessor(exporter), "billing-support")
    suite = load_suite(str(SUITE))
    chosen = {case.id: case.prompt or "" for case in suite.cases[cases]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "get_tracer", provider.get_tracer)
        _agent.play(_agent.Script.load(FOLDER), suite.name, chosen)
    assert provider.force_flush()
    provider.shutdown()


def grpc(ports: dict[str, str]) -> SpanExporter:
    return GrpcExporter(endpoint=ports["grpc"], insecure=True)


def summary(cli: Cli) -> dict[str, Any]:
    done = cli("eval", "--suite", SUITE, "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["summary"]
    return found


def test_official_exporters_a_restart_and_every_run_once(cli: Cli, dsn: str) -> None:
    with served(dsn) as ports:
        play(grpc(ports), slice(0, 20))
        play(HttpExporter(endpoint=ports["http"] + "/v1/traces"), slice(20, 40))
        assert summary(cli)["runs"] == 40  # at once: eval sees all that was acknowledged
    assert summary(cli)["runs"] == 40
    with served(dsn) as ports:
        play(grpc(ports), slice(40, 80))
    figures = summary(cli)
    assert (figures["runs"], figures["judged"]) == (80, 80)
    assert (figures["selection"]["passed"], figures["selection"]["n"]) == (68, 80)


def test_other_commands_go_through_the_running_server_and_say_so(
    cli: Cli, program: Cli, dsn: str, tmp_path: Path
) -> None:
    from tests.cli import _spans

    with served(dsn):
        for args in (("replay", _spans.sample(tmp_path)), ("doctor",), ("eval", "--suite", _spans.suite(tmp_path))):
            done = cli(*args)
            assert done.returncode in (0, 1), done.stderr
            assert "through the running server" in done.stderr
        second = program("serve", "--grpc-port", "0", "--http-port", "0")
        assert second.returncode == 4
        assert "served already" in second.stderr
        assert "Traceback" not in second.stderr
    assert "through" not in cli("doctor").stderr


@contextmanager
def serving(dsn: str, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    ports = ["--grpc-port", "0", "--http-port", "0"]
    command = [sys.executable, "-m", "otel_toolselect.cli", "serve", "--store", dsn, *ports]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cwd)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_gracefully(dsn: str, tmp_path: Path, number: int) -> None:
    with serving(dsn, tmp_path) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(4)]
        assert said[0].startswith("OTLP over gRPC  127.0.0.1:")
        assert "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:" in said[3]
        process.send_signal(number)
        _, errors = process.communicate(timeout=40)
        assert process.returncode == 0
        assert errors.splitlines()[-1] == "toolselect: stopped"


def test_after_kill_9_nothing_acknowledged_is_lost(cli: Cli, dsn: str) -> None:
    with served(dsn) as ports:
        play(grpc(ports), slice(0, 10))
        os.kill(_pid_of(dsn), signal.SIGKILL)
        time.sleep(0.1)
    with served(dsn):
        assert summary(cli)["runs"] == 10


def _pid_of(dsn: str) -> int:
    info = json.loads((Path(dsn.removeprefix("chdb://")) / "toolselect-serve.json").read_text("utf-8"))
    return int(info["pid"])


def test_an_open_address_needs_a_token(program: Cli) -> None:
    done = program("serve", "--host", "0.0.0.0", "--grpc-port", "0", "--http-port", "0")
    assert done.returncode == 2
    assert "token" in done.stderr


def test_a_taken_port_is_named(program: Cli, dsn: str, tmp_path: Path) -> None:
    with served(dsn) as ports:
        port = ports["grpc"].rpartition(":")[2]
        done = program("serve", "--store", f"chdb://{tmp_path}/other", "--grpc-port", port, "--http-port", "0")
        assert done.returncode == 4
        assert port in done.stderr
        assert "Traceback" not in done.stderr
