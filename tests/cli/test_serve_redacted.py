"""A server with redaction leaves a secret nowhere: spool, dead letters, store, logs, answers, reports."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest

from otel_toolselect.model.spans import LogRecord, Span, SpanEvent
from otel_toolselect.otlp.encode import encode_logs, encode_traces
from otel_toolselect.store import open_store
from tests.cli import _spans
from tests.cli.conftest import within

MAIL, CARD, TOKEN, ORDER, DENIED = (
    "bob@example.com",
    "4111111111111111",
    "sk-abcdefghijklmnop1234",
    "ORD-123456",
    "hunter2x",
)
SECRETS = (MAIL, CARD, "4111 1111 1111 1111", TOKEN, ORDER, DENIED)
CONFIGURATION = """
[receive]
grpc_port = 0
http_port = 0
[redact]
patterns = ["email", "card", "api_key"]
deny = ["*password*"]
[[redact.rule]]
pattern = 'ORD-\\d{6}'
action = "hash"
"""
TRACE = "0af7651916cd43dd8448eb211c80319c"


def content(n: int) -> dict[str, Any]:
    said = [{"role": "user", "parts": [{"type": "text", "content": f"I am {MAIL}, card 4111 1111 1111 1111"}]}]
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search_orders",
        "gen_ai.tool.call.arguments": json.dumps({"order": ORDER, "userPassword": DENIED, "mail": MAIL, "n": n}),
        "gen_ai.input.messages": json.dumps(said),
        "gen_ai.output.messages": [{"role": "assistant", "content": json.dumps({"card": int(CARD)})}],
        "password": DENIED,
        "key": TOKEN.encode(),
    }


def span(n: int) -> Span:
    event = SpanEvent("exception", 1, {"exception.type": "E", "exception.message": f"no such user {MAIL}"})
    return Span(
        TRACE,
        f"{n:016x}",
        name=f"execute_tool for {MAIL}",
        start_ns=1_790_000_000_000_000_000 + n,
        end_ns=1_790_000_001_000_000_000,
        attributes=content(n),
        events=(event,),
        status_code=2,
        status_message=f"token {TOKEN} is bad",
        resource={"service.name": "shop", "owner": MAIL},
        scope_name="agent",
    )


def log() -> LogRecord:
    return LogRecord(
        TRACE, f"{1:016x}", 5, 5, "gen_ai.user.message", body={"content": f"card {CARD}"}, attributes=content(9)
    )


def as_json(spans: list[dict[str, Any]]) -> bytes:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()


def json_span(n: int, **members: Any) -> dict[str, Any]:
    values = [{"key": k, "value": {"stringValue": str(v)}} for k, v in content(n).items()]
    return {"traceId": TRACE, "spanId": f"{n:016x}", "name": f"to {MAIL}", "attributes": values} | members


@contextmanager
def serving(folder: Path, dsn: str) -> Iterator[tuple[dict[str, str], Path]]:
    """The announcement of a server in a folder with the configuration, and where its errors go."""
    (folder / "toolselect.toml").write_text(CONFIGURATION, "utf-8")
    errors = folder / "stderr.txt"
    command = [sys.executable, "-m", "otel_toolselect.cli", "serve", "--store", dsn, "--format", "json"]
    environment = {**os.environ, "TOOLSELECT_REDACT_KEY": "a long random key"}
    with (
        errors.open("w") as file,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, cwd=folder, env=environment) as process,
    ):
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline()), errors
        finally:
            process.terminate()
            process.wait(40)


def send(ports: dict[str, str]) -> list[str]:
    """Every way in; what was answered."""
    answers = []
    with grpc.insecure_channel(ports["grpc"]) as channel:
        for service, body in (
            ("trace.v1.TraceService", encode_traces([span(1), span(2)]).SerializeToString()),
            ("logs.v1.LogsService", encode_logs([log()]).SerializeToString()),
            ("trace.v1.TraceService", b"\xff" + MAIL.encode()),
        ):
            call = channel.unary_unary(f"/opentelemetry.proto.collector.{service}/Export")
            try:
                answers.append(repr(call(body, timeout=20)))
            except grpc.RpcError as error:
                answers.append(repr(error))
    logs = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": f"hi {MAIL}"}}]}]}]}
    bad = json_span(6, traceId=MAIL)
    agent = _spans.agent_trace(
        1, f"refund to {MAIL}", f"Done, {MAIL}", ("find", {"q": ORDER, "card": CARD}, {"mail": MAIL})
    )
    for path, body, headers in (
        ("traces", as_json([json_span(3), bad, json_span(4, kind=MAIL)]), {}),
        ("traces", gzip.compress(as_json([json_span(5)])), {"content-encoding": "gzip"}),
        ("logs", json.dumps(logs).encode(), {}),
        ("traces", agent.encode(), {}),
        ("traces", f"no JSON, but {CARD}".encode(), {}),
        ("traces", as_json([])[:-4] + MAIL.encode(), {}),
        ("traces", b'{"resourceSpans": "' + TOKEN.encode() + b'"}', {}),
        ("traces", b"\xff\xff" + MAIL.encode(), {"content-type": "application/x-protobuf"}),
    ):
        answer = httpx.post(
            f"{ports['http']}/v1/{path}", content=body, headers={"content-type": "application/json", **headers}
        )
        answers.append(f"{answer.status_code} {answer.text}")
    return answers


def found_in(data: bytes) -> list[str]:
    return [secret for secret in SECRETS if secret.encode() in data]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a server left behind, and everything that it said."""
    folder = tmp_path_factory.mktemp("redacted")
    dsn = f"chdb://{folder}/store"
    with serving(folder, dsn) as (ports, errors):
        answers = send(ports)
    said = reports(folder, dsn, tmp_path_factory.mktemp("file") / "more.json")
    spool = Path(ports["spool"])
    return {
        "folder": folder,
        "dsn": dsn,
        "answers": answers,
        "errors": errors.read_text(),
        "spool": spool,
        "reports": said,
    }


def reports(folder: Path, dsn: str, file: Path) -> bytes:
    """What other commands say, one of which brings another span."""
    file.write_bytes(as_json([json_span(7)]))
    said = ""
    suite = str(_spans.suite(folder, [{"prompt": "refund to ***", "expected": "refund"}]))
    judged = [["eval", "--suite", suite, "--format", form] for form in ("json", "html", "table")]
    for args in (["replay", str(file)], ["doctor"], *judged):
        done = within(folder, *args, TOOLSELECT_REDACT_KEY="a long random key", TOOLSELECT_STORE=dsn)
        assert done.returncode in (0, 1, 3), done.stderr
        said += done.stdout + done.stderr
    return said.encode()


def test_the_answers_tell_no_secret_and_the_good_ones_are_good(served: dict[str, Any]) -> None:
    answers = served["answers"]
    assert found_in("\n".join(answers).encode()) == []
    assert [a[:3] for a in answers[3:]] == ["200", "200", "200", "200", "400", "400", "400", "400"]
    assert '"rejectedSpans":"2"' in answers[3]


def test_no_file_holds_a_secret(served: dict[str, Any]) -> None:
    looked_at = 0
    for path in served["folder"].rglob("*"):
        if path.is_file():
            assert found_in(path.read_bytes()) == [], path
            looked_at += 1
    assert looked_at > 10
    assert found_in(served["errors"].encode()) == []


def test_dead_letters_keep_reason_size_and_digest_only(served: dict[str, Any]) -> None:
    letters = list((served["spool"] / "dead-letter").iterdir())
    assert len(letters) == 5
    assert {"".join(path.suffixes) for path in letters} == {".reason.json"}
    for path in letters:
        note = json.loads(path.read_text())
        assert note["digest"].startswith("hmac:")
        assert note["bytes"] > 5
        assert note["reason"]


def test_no_table_holds_a_secret_and_nothing_else_is_missing(served: dict[str, Any]) -> None:
    store = open_store(served["dsn"])
    try:
        held = [found for trace in store.traces() for found in (*trace[0], *trace[1])]
        held += store.orphan_logs()
    finally:
        store.close()
    text = repr(held)
    assert found_in(text.encode()) == []
    spans = {s.span_id: s for s in held if isinstance(s, Span) and s.trace_id == TRACE}
    assert set(spans) == {f"{n:016x}" for n in (1, 2, 3, 5, 7)}
    assert len([r for r in held if isinstance(r, LogRecord)]) == 2
    arguments = [json.loads(s.attributes["gen_ai.tool.call.arguments"]) for s in spans.values()]
    assert {a["order"][:5] for a in arguments} == {"hmac:"}
    assert len({a["order"] for a in arguments}) == 1  # equal values stay joinable
    assert {(a["userPassword"], a["mail"]) for a in arguments} == {("***", "***")}
    assert all("password" not in s.attributes for s in spans.values())


def test_every_table_as_the_engine_sees_it(served: dict[str, Any]) -> None:
    store = open_store(served["dsn"])
    try:
        engine = store.raw_engine()
        assert engine is not None

        def ask(sql: str) -> bytes:
            return engine.raw_query(sql.encode(), params={}, settings={}, database=None, fmt="JSONEachRow").body

        rows = [
            json.loads(line)
            for line in ask("SELECT database, name FROM system.tables WHERE engine LIKE '%MergeTree%'").splitlines()
        ]
        tables = [f"`{row['database']}`.`{row['name']}`" for row in rows]
        assert any("otel_traces" in table for table in tables)
        for table in tables:
            assert found_in(ask(f"SELECT * FROM {table}")) == [], table
    finally:
        store.close()


def test_reports_and_replays_tell_no_secret(served: dict[str, Any]) -> None:
    assert b"refund to ***" in served["reports"]
    assert found_in(served["reports"]) == []
