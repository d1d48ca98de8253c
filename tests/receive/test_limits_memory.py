"""Memory and answers of a server under fire, measured from outside: bombs, floods of connections, stalled messages."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import grpc
import httpx
import pytest
import raw_http2
import zstandard
from receive_samples import proto_request, request, span
from tests.wire import within

from otel_toolselect.receive.grpc_server import SERVICES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
EXPORT = f"/{SERVICES['traces']}/Export"
MIB = 2**20
JSON = {"content-type": "application/json"}


class Child:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self.grpc_port, self.http_port = map(int, process.stdout.readline().split())
        self.refusals: dict[str, int] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http_port}/v1/traces"

    def peak(self) -> int:
        """Bytes: the most that was ever resident."""
        return self._status("VmHWM")

    def now(self) -> int:
        return self._status("VmRSS")

    def forget_peak(self) -> None:
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def _status(self, name: str) -> int:
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split(f"{name}:")[1].split()[0]) * 1024

    def export(self) -> bytes:
        with grpc.insecure_channel(f"127.0.0.1:{self.grpc_port}") as channel:
            return channel.unary_unary(EXPORT)(proto_request(1), timeout=20)


@pytest.fixture
def child(tmp_path: Path) -> Callable[..., AbstractContextManager[Child]]:
    @contextmanager
    def run(**limits: float) -> Iterator[Child]:
        command = [sys.executable, str(Path(__file__).with_name("limits_child.py")), str(tmp_path), json.dumps(limits)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            made = Child(process)
            made.export()  # all is loaded
            httpx.post(made.url, content=request(span(1)), headers=JSON)
            yield made
            out, _ = process.communicate(timeout=60)
            made.refusals = {k: n for k, n in json.loads(out).items() if n}

    return run


def test_bombs_stay_near_the_limit(child) -> None:
    """Bug 08, twice as large: 128 MiB in some hundred kilobytes (gzip) and in some (zstd)."""
    limit = 4 * MIB
    blank = b" " * 128 * MIB
    bombs = {"gzip": gzip.compress(blank, 1), "zstd": zstandard.ZstdCompressor().compress(blank)}
    assert all(len(bomb) < limit for bomb in bombs.values())
    with child(request_bytes=limit) as server:
        server.forget_peak()
        before = server.now()
        for coding, bomb in bombs.items():
            answer = httpx.post(server.url, content=bomb, headers=JSON | {"content-encoding": coding})
            assert answer.status_code == 413
            assert "retry-after" not in answer.headers
        with grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as channel, pytest.raises(grpc.RpcError) as caught:
            channel.unary_unary(EXPORT)(blank, compression=grpc.Compression.Gzip, timeout=60)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert server.peak() - before < 10 * limit
    assert server.refusals == {"too_large": 3}


def test_millions_of_empty_spans_are_never_made(child) -> None:
    """4 MiB of them are some kilobytes on the wire, and would be 360 MB as messages, 480 MB as objects of JSON."""
    limit = 4 * MIB
    spans = within(b"\x12\x00" * (limit // 2 - 10), (0x0A, 0x12))
    objects = b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + b"{}," * (limit // 3 - 30) + b"{}]}]}]}"
    sent = ((spans, "application/x-protobuf"), (objects, "application/json"))
    with child(request_bytes=limit, messages=100_000) as server:
        server.forget_peak()
        before = server.now()
        for body, kind in sent:
            head = {"content-type": kind, "content-encoding": "gzip"}
            answer = httpx.post(server.url, content=gzip.compress(body, 1), headers=head, timeout=60)
            assert answer.status_code == 413
        assert server.peak() - before < 40 * limit
    assert server.refusals == {"too_many": 2}


@pytest.fixture
def many() -> Iterator[int]:
    """How many connections this process may open: ten thousand where the system lets it."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = 10_300 if hard == resource.RLIM_INFINITY else min(hard, 10_300)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    yield allowed - 300
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


HEAD = b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n\r\n"


def test_ten_thousand_slow_connections_keep_no_good_sender_out(child, many) -> None:
    """A third each: silence, half a head, the first bytes of a body."""
    with child(connections=500, requests=100) as server, httpx.Client(timeout=20) as good:
        before = server.now()
        flood: list[socket.socket] = []
        try:
            for n in range(many):
                flood.append(socket.create_connection(("127.0.0.1", server.http_port), timeout=20))
                flood[-1].sendall((b"", HEAD[:30], HEAD + b"{")[n % 3])
                if n % 500 == 499:
                    patiently(lambda: good.post(server.url, content=request(span(1)), headers=JSON).raise_for_status())
            patiently(server.export)
            assert server.peak() - before < 100 * MIB
        finally:
            for connection in flood:
                connection.close()
    assert server.refusals["too_busy"] > many // 2


def patiently(send: Callable[[], object]) -> None:
    """As an exporter does it: tried again, for ten seconds at most."""
    for _ in range(100):
        with suppress(httpx.TransportError, httpx.HTTPStatusError, grpc.RpcError):
            send()
            return
        time.sleep(0.1)
    raise AssertionError("it was kept out")


def test_ten_thousand_connections_to_the_grpc_port(child, many) -> None:
    """They are turned away beyond the limit, those that say nothing end, and who has a connection keeps it."""
    with (
        child(connections=500, header_seconds=1) as server,
        grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}") as kept,
    ):
        export = kept.unary_unary(EXPORT)
        export(proto_request(1), timeout=20)
        before = server.now()
        flood: list[socket.socket] = []
        try:
            for n in range(many):
                with suppress(ConnectionError):  # turned away already
                    flood.append(socket.create_connection(("127.0.0.1", server.grpc_port), timeout=20))
                    flood[-1].sendall((b"", raw_http2.PREFACE[:10])[n % 2])
            assert export(proto_request(2), timeout=20) == b""
            assert httpx.post(server.url, content=request(span(1)), headers=JSON).status_code == 200
            assert server.peak() - before < 100 * MIB
            patiently(server.export)  # a new one gets in once the silent ones have ended
        finally:
            for connection in flood:
                connection.close()


def test_messages_that_stop_in_the_middle_hold_no_memory(child) -> None:
    """400 calls each announce the largest message and send as much as the server lets them, but never its end."""
    limit = 4 * MIB
    with child(request_bytes=limit, in_flight_bytes=16 * MIB) as server:
        server.forget_peak()
        before = server.now()
        connections: list[socket.socket] = []
        try:
            for _ in range(8):
                connections.append(raw_http2.connect(server.grpc_port))
                raw_http2.stall(connections[-1], EXPORT, streams=50, size=limit)
            patiently(server.export)
            assert server.peak() - before < 100 * MIB
        finally:
            for connection in connections:
                connection.close()
    assert server.refusals["too_busy"] > 100
