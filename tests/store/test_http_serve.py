"""The running product on a server that fails: what was acknowledged is there once, and every command reads it."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_toolselect import app
from otel_toolselect.cli import _agent, main
from otel_toolselect.rules import load_suite
from otel_toolselect.store import open_store
from tests.faults.load import Load
from tests.faults.server import Server, Stored
from tests.store.endpoint import Endpoint, faults

FOLDER = app.example_folder("billing-support")
SUITE = FOLDER / "suite.yaml"
RUNS = 40
UNSEEN = [faults.drop_before(), faults.drop_after(), faults.drop_in_headers()]
FAULTS = [
    *UNSEEN,
    faults.drop_after(reset=True),
    faults.cut(0),
    faults.cut(0.5),
    faults.cut(0.5, "close"),
    faults.short(8),
    faults.exception_in_stream(395, "boom", ended=True),
    faults.exception_after_progress(241, "memory"),
    faults.refused(241, "memory"),
    faults.refused(252, "too many parts"),
    faults.proxy(502),
    faults.proxy(502, runs=True),
    faults.proxy(503),
    faults.proxy(504, runs=True),
    faults.proxy(413),
    faults.proxy(200),
]


def test_what_was_acknowledged_is_there_once_and_judged_whatever_the_store_does_meanwhile(
    server: Endpoint, database: str, engine_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"LIVE_SUITES": str(SUITE), "LIVE_SETTLE_SECONDS": "0.2", "SPOOL_BACKOFF_S": "0.1"}
    settings = {f"TOOLSELECT_{name}": value for name, value in settings.items()}
    served = Server(tmp_path, store=server.dsn(database, "writer"), spool=tmp_path / "spool", **settings)
    past_the_endpoint = f"chdb://{engine_home}?database={database}"
    try:
        served.start()
        server.faults.at_random(7, 0.4, FAULTS)
        with Load(lambda: served.grpc).running() as load:
            load.wait_for_more(100)
            until(lambda: sum("INSERT INTO otel_traces" in sql for _, sql in server.faults.sent) > 3)
        server.faults.at_random(7, 0.05, FAULTS)  # a turn of judging is a dozen statements
        played = play(served.grpc)
        until(lambda: judged(past_the_endpoint) == RUNS)
        server.faults.none()
        served.stop()
    finally:
        served.kill()
    assert "Traceback" not in served.said()
    store = open_store(past_the_endpoint, create=False)
    ids = [span.span_id for spans, _ in store.traces() for span in spans]
    counted = store.overview().spans
    store.close()
    assert Stored(ids, counted).check(load.acknowledged | played) == []
    commands_read_it(Command(served.dsn, capsys), server)


@dataclass(frozen=True)
class Command:
    """Commands on one store, in this process."""

    dsn: str
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *args: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main([*args, "--store", self.dsn])
        said = self.capsys.readouterr()
        return ended.value.code, said.out, said.err

    def json(self, *args: str) -> Any:
        code, out, errors = self(*args, "--format", "json")
        assert code in (0, 1), errors
        return json.loads(out)


def commands_read_it(command: Command, server: Endpoint) -> None:
    live = command.json("confusion", "--suite", "billing-support")
    assert sum(cell["n"] for cell in live["confusion"]["cells"]) == RUNS
    # a connection that drops is nothing to a command
    server.faults.sent.clear()
    for words, fault in zip(("FROM otel_traces", "INTO runs", "INTO verdicts"), UNSEEN, strict=True):
        server.faults.next(fault, on=words)
    scored = command.json("eval", "--suite", str(SUITE))
    assert {fault for fault, _ in server.faults.sent} == set(UNSEEN)
    assert (scored["summary"]["runs"], scored["summary"]["judged"]) == (RUNS, RUNS)
    assert command.json("confusion", "--suite", "billing-support") == live
    assert command("doctor")[0] == 0
    server.faults.at_random(1, 1.0, [faults.exception_in_stream(241, "memory", ended=True)])
    code, out, errors = command("confusion", "--suite", "billing-support")
    assert (code, out, errors.count("\n")) == (4, "", 1)
    assert "Code: 241" in errors


def play(address: str) -> set[str]:
    """Ids of the spans of so many runs, sent by the official exporter."""
    kept = InMemorySpanExporter()
    provider = _agent.provider_with(BatchSpanProcessor(OTLPSpanExporter(endpoint=address, insecure=True)), "billing")
    provider.add_span_processor(SimpleSpanProcessor(kept))
    suite = load_suite(str(SUITE))
    chosen = {case.id: case.prompt or "" for case in suite.cases[:RUNS]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "get_tracer", provider.get_tracer)
        _agent.play(_agent.Script.load(FOLDER), suite.name, chosen)
    assert provider.force_flush()
    provider.shutdown()
    return {f"{span.context.span_id:016x}" for span in kept.get_finished_spans() if span.context is not None}


def judged(place: str) -> int:
    """By the engine itself, past the endpoint."""
    store = open_store(place, create=False)
    try:
        return sum(1 for _ in store.decisions("billing-support"))
    finally:
        store.close()


def until(condition: Any) -> None:
    end = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.05)
