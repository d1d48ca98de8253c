"""Traces of a small shop, as OTLP messages, and the server that takes them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from otel_toolselect.app.serving import Serving, serving
from otel_toolselect.client import Client
from otel_toolselect.config import Live, Receive, Rpc, Settings
from otel_toolselect.errors import OverloadError
from otel_toolselect.otlp import decode_json
from otel_toolselect.otlp.encode import encode_traces
from otel_toolselect.rpc.service import services
from otel_toolselect.rpc.streaming import Rhythm
from tests.cli._spans import START, agent_trace

HOUR_NS = 3_600 * 10**9
SUITE = """\
suite: shop
version: 2
policy:
  tools:
    find: {effect: read}
    refund: {effect: write}
cases:
  - {id: where, prompt: "where is my order?", expect: {first: [find]}}
  - {id: refund, prompt: refund A-1, expect: {first: [refund]}}
"""
RULES = """\
rules: guard
policy:
  tools: {find: {effect: read}, refund: {effect: write}}
cases:
  - {id: look-first, expect: {never: ["refund before find ok"]}, severity: critical, owner: payments}
"""
NAMES = ("send-a", "send-b", "a", "b", "all", "ann", "boss")
SCOPES = {"send-a": ["send"], "send-b": ["send"], "ann": ["read", "label"], "boss": ["read", "label", "admin"]}
TENANTS = {"send-a": "a", "send-b": "b", "a": "a", "b": "b", "ann": "a"}
QUICK = Rhythm(first=0.02, longest=0.2, beat=0.5)


def token(name: str) -> str:
    return f"{name}-token-0123456789"


def write_tokens(path: Path) -> Path:
    tables = []
    for name in NAMES:
        lines = ["[[token]]", f'name = "{name}"', f'token = "{token(name)}"']
        lines.append(f"scopes = {json.dumps(SCOPES.get(name, ['read']))}")
        if name in TENANTS:
            lines.append(f'attributes = {{"toolselect.tenant" = "{TENANTS[name]}"}}')
        tables.append("\n".join(lines))
    path.write_text("\n".join(tables) + "\n", "utf-8")
    path.chmod(0o600)
    return path


def settings_in(folder: Path, **changes: Any) -> Settings:
    (folder / "suite.yaml").write_text(SUITE, "utf-8")
    (folder / "rules.yaml").write_text(RULES, "utf-8")
    live = Live(
        suites=(str(folder / "suite.yaml"),),
        rules=(str(folder / "rules.yaml"),),
        settle_seconds=0.05,
    )
    plain = {
        "store": f"chdb://{folder}/store",
        "receive": Receive(grpc_port=0, http_port=0, tokens=str(write_tokens(folder / "tokens.toml"))),
        "live": live,
        "rpc": Rpc(seconds=120.0),
    }
    return Settings(**{**plain, **changes})


@contextmanager
def server(settings: Settings, rhythm: Rhythm = QUICK) -> Iterator[Serving]:
    """What `serve` runs, in this process."""
    with serving(settings, lambda *_: nullcontext(""), services=partial(services, rhythm=rhythm)) as running:
        yield running


def client(running: Serving, name: str | None = "all", **options: Any) -> Client:
    given = {"timeout_s": 120.0} | options
    return Client(running.grpc, token=token(name) if name else None, **given)


def message(*lines: str) -> bytes:
    """Traces as one TracesData."""
    spans = [span for line in lines for span in decode_json(line.encode()).spans]
    return bytes(encode_traces(spans).SerializeToString())


def where(index: int) -> str:
    """A run as the suite wants it."""
    return agent_trace(index, "where is my order?", "On its way.", ("find", {"q": "order"}, {"id": "A-1"}))


def blind(index: int) -> str:
    """A refund that was asked for, and that nobody looked for."""
    return agent_trace(index, "refund A-1", "Done.", ("refund", {"id": "A-1"}, "ok"))


def wrong(index: int) -> str:
    """A search where a refund was asked for."""
    return agent_trace(index, "refund A-1", "I found it.", ("find", {"q": "A-1"}, {"id": "A-1"}))


def trace_id(index: int) -> str:
    return f"{index:032x}"


def send(running: Serving, name: str, *lines: str) -> None:
    channel = grpc.insecure_channel(running.grpc)
    export = channel.unary_unary("/opentelemetry.proto.collector.trace.v1.TraceService/Export")
    export(message(*lines), metadata=(("authorization", f"Bearer {token(name)}"),), timeout=60)
    channel.close()


def judged(running: Serving, count: int, name: str = "all") -> list[Any]:
    """The first decisions under suites and rules, waited for."""
    with client(running, name) as asking, asking.stream_verdicts(from_beginning=True) as stream:
        return [next(stream) for _ in range(count)]


def eventually(holds: Callable[[], bool], within_s: float = 60.0) -> bool:
    """Waits for a condition; false when it does not come."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        with suppress(OverloadError):
            if holds():
                return True
        time.sleep(0.05)
    return False


def window(index: int = 0) -> dict[str, int]:
    begin = START + index * 10**9
    return {"since_ns": begin, "until_ns": begin + HOUR_NS}


def health(channel: Any, service: str) -> int:
    """The word of grpc.health.v1 for a service."""
    stub = health_pb2_grpc.HealthStub(channel)
    return int(stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=60).status)
