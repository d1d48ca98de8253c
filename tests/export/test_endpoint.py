"""Events on the wire: to our own receiver, as a Collector would get them, and from a running `serve`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from otel_toolselect.app.exporting import ExportCollector, export_rest, exporting
from otel_toolselect.assemble import run_id
from otel_toolselect.config import Export
from otel_toolselect.errors import UsageError
from otel_toolselect.export.events import Event, event_of, key_of
from otel_toolselect.export.sending import Sender
from otel_toolselect.model.spans import LogRecord
from otel_toolselect.receive import Receiver, Settings
from otel_toolselect.store import Kept, Store
from tests.cli._spans import agent_trace
from tests.monitor.receiving import Endpoint, endpoint
from tests.receive.receive_samples import RecordingSink
from tests.store.builders import decision, span

TRACE = f"{1:032x}"
ROOT = f"{1:016x}"
WAIT_S = 60.0
MADE = decision(run_id(TRACE, ROOT), trace_id=TRACE, status="fail", layers={"selection": "fail"})
SUITE = """\
suite: shop
policy: {tools: {search: {effect: read}, refund: {effect: write}}}
cases:
  - {id: find, prompt: find my order, expect: {first: [search]}}
"""


@pytest.fixture
def sink() -> RecordingSink:
    return RecordingSink()


@pytest.fixture
def receiver(sink: RecordingSink, tmp_path: Path) -> Iterator[Receiver]:
    with Receiver(Settings(spool=tmp_path / "spool", grpc_port=None, http_port=0), sink) as running:
        yield running


@pytest.fixture
def hook() -> Iterator[Endpoint]:
    with endpoint() as made:
        yield made


def logs_at(sink: RecordingSink, count: int) -> list[LogRecord]:
    end = time.monotonic() + WAIT_S
    while len(sink.logs) < count:
        assert time.monotonic() < end, "they never came"
        time.sleep(0.01)
    return sink.logs


def event() -> Event:
    return event_of(Kept(MADE, 1_748_736_000_000_000_000), ROOT)


def test_our_own_receiver_reads_an_event_as_it_was_meant(receiver: Receiver, sink: RecordingSink) -> None:
    sender = Sender(f"http://127.0.0.1:{receiver.http_port}")
    assert sender.send([event()]) == "sent"
    sender.close()
    (record,) = logs_at(sink, 1)
    assert record.event_name == "gen_ai.evaluation.result"
    assert (record.trace_id, record.span_id) == (TRACE, ROOT)
    assert record.time_ns == 1_748_736_000_000_000_000
    assert record.resource["service.name"] == "toolselect"
    assert record.scope_name == "otel_toolselect"
    assert record.attributes["gen_ai.evaluation.name"] == "s"
    assert record.attributes["gen_ai.evaluation.score.value"] == 0.0
    assert record.attributes["toolselect.decision.key"] == key_of(MADE)
    assert list(record.attributes["toolselect.expected"]) == ["search"]


@pytest.mark.parametrize(
    ("status", "outcome"), [(200, "sent"), (400, "refused"), (413, "refused"), (401, "later"), (404, "later")]
)
def test_what_an_answer_means(hook: Endpoint, status: int, outcome: str) -> None:
    hook.answers = [(status, {})]
    sender = Sender(f"{hook.url}/otlp/v1/logs")
    assert sender.send([event()]) == outcome
    sender.close()
    assert hook.got[0].path == "/otlp/v1/logs"


def test_headers_come_from_the_environment_and_failures_tell_no_address(
    hook: Endpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20T0KEN")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    hook.answers = [(401, {}), *[(503, {})] * 9]
    sender = Sender(hook.url)
    assert sender.send([event()]) == "later"
    assert sender.send([event()]) == "later"
    sender.close()
    assert hook.got[0].headers["authorization"] == "Bearer T0KEN"
    assert caplog.text == ""


def test_a_store_is_exported_with_the_root_of_each_run(store: Store, receiver: Receiver, sink: RecordingSink) -> None:
    store.insert([span(1, 1), span(1, 2)], [])
    store.add_judged([], [MADE])
    settings = Export(f"http://127.0.0.1:{receiver.http_port}", 86_400.0)
    assert export_rest(store, settings)
    (record,) = logs_at(sink, 1)
    assert (record.trace_id, record.span_id) == (TRACE, ROOT)
    with exporting(store, settings) as follower:
        store.add_judged([], [decision("other")])
    assert len(logs_at(sink, 2)) == 2
    figures = {family.name: family.samples[0].value for family in ExportCollector(follower).collect()}
    assert figures["toolselect_export_events"] == 1


def test_an_endpoint_that_is_the_receiver_itself_is_refused(store: Store) -> None:
    with (
        pytest.raises(UsageError, match=r"export\.otlp_endpoint"),
        exporting(store, Export("http://localhost:4318"), own_ports=(4317, 4318)),
    ):
        pass


def test_the_exporter_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http._log_exporter", None)
    with pytest.raises(UsageError, match=r"otel-toolselect\[export\]"):
        Sender("http://x")


def test_serve_exports_what_it_judges_and_does_not_go_round_in_circles(
    receiver: Receiver, sink: RecordingSink, tmp_path: Path
) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLSELECT_", "OTEL_"))} | {
        "TOOLSELECT_STORE": f"chdb://{tmp_path}/store",
        "TOOLSELECT_LIVE_SETTLE_SECONDS": "0.1",
        "TOOLSELECT_LIVE_WAIT_SECONDS": "0.1",
        "TOOLSELECT_EXPORT_OTLP_ENDPOINT": f"http://127.0.0.1:{receiver.http_port}",
    }
    command = [sys.executable, "-m", "otel_toolselect.cli", "serve", "--format", "json", "--suite", "suite.yaml"]
    ports = ["--grpc-port", "0", "--http-port", "0"]
    with subprocess.Popen([*command, *ports], stdout=subprocess.PIPE, text=True, env=env, cwd=tmp_path) as process:
        try:
            assert process.stdout is not None
            http = json.loads(process.stdout.readline())["http"]
            send(f"{http}/v1/traces", agent_trace(1, "find my order", "here", ("refund", {}, 1)).encode())
            (record,) = logs_at(sink, 1)
            # a Collector that hands everything to `serve`, too
            send(f"{http}/v1/logs", json.dumps(as_otlp(record)).encode())
            wait_until_judged(http, 2)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(WAIT_S)
    assert process.returncode == 0
    receiver.flush(WAIT_S)
    assert len(sink.logs) == 1
    assert record.attributes["gen_ai.evaluation.name"] == "shop"
    assert record.attributes["gen_ai.evaluation.score.label"] == "fail"
    assert record.attributes["toolselect.first_action"] == "refund"
    assert (record.trace_id, record.span_id) == (TRACE, ROOT)


def send(url: str, body: bytes) -> None:
    request = urllib.request.Request(url, data=body, headers={"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
        assert answer.status == 200


def as_otlp(record: LogRecord) -> dict[str, object]:
    shown = {
        "timeUnixNano": str(record.time_ns),
        "traceId": record.trace_id,
        "spanId": record.span_id,
        "eventName": record.event_name,
        "attributes": [
            {"key": key, "value": {"stringValue": value}}
            for key, value in record.attributes.items()
            if isinstance(value, str)
        ],
    }
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": [shown]}]}]}


def wait_until_judged(http: str, times: int) -> None:
    """Until a trace was judged so often."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        with urllib.request.urlopen(f"{http}/metrics", timeout=WAIT_S) as answer:
            lines = answer.read().decode().splitlines()
        if any(line == f"toolselect_live_traces_total {times}.0" for line in lines):
            return
        time.sleep(0.05)
    raise AssertionError("it was not judged again")
