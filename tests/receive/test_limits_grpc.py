"""Bounds of the gRPC port, over sockets: messages that do not come, streams, heads, pings, connections."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import grpc
import pytest
import raw_http2 as raw
from grpc_health.v1 import health_pb2, health_pb2_grpc
from receive_samples import proto_request

from otel_toolselect.config import Limits
from otel_toolselect.receive.grpc_server import SERVICES

PORTS = {"http_port": None}
EXPORT = f"/{SERVICES['traces']}/Export"


@pytest.fixture
def connect():
    opened: list[socket.socket] = []

    def make(receiver) -> socket.socket:
        opened.append(raw.connect(receiver.grpc_port))
        return opened[-1]

    yield make
    for connection in opened:
        connection.close()


def frames(connection: socket.socket) -> Iterator[tuple[int, int, bytes]]:
    """Kind, stream and payload of what comes until the connection ends; settings and pings are acknowledged."""
    found = bytearray()
    try:
        while piece := connection.recv(65536):
            found += piece
            while len(found) >= 9 and len(found) >= 9 + (size := int.from_bytes(found[:3], "big")):
                kind, flags, payload = found[3], found[4], bytes(found[9 : 9 + size])
                yield kind, int.from_bytes(found[5:9], "big"), payload
                del found[: 9 + size]
                if kind in (raw.SETTINGS, raw.PING) and not flags & raw.ACK:
                    connection.sendall(raw.frame(kind, raw.ACK, 0, payload if kind == raw.PING else b""))
    except ConnectionError:
        pass


def refusals(receiver) -> dict[str, int]:
    return {reason: n for reason, n in receiver.counters.by_label().refusals.items() if n}


def send(receiver, body: bytes, **options) -> bytes:
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        return channel.unary_unary(EXPORT)(body, timeout=20, **options)


def test_a_message_that_stops_ends_as_too_slow(running, connect) -> None:
    receiver = running(limits=Limits(body_seconds=0.2))
    connection = connect(receiver)
    raw.begin(connection, 1, EXPORT, 1000, b"x")
    trailers = next(payload for kind, stream, payload in frames(connection) if (kind, stream) == (raw.HEADERS, 1))
    assert b"was not there after 0.2 s" in trailers
    assert refusals(receiver) == {"too_slow": 1}
    assert send(receiver, proto_request(1)) == b""


def test_a_call_without_a_message_is_refused(running) -> None:
    receiver = running()
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel, pytest.raises(grpc.RpcError) as caught:
        channel.stream_unary(EXPORT)(iter(()), timeout=20)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def test_a_message_over_the_limit_is_counted(running) -> None:
    receiver = running(max_request_bytes=1000)
    for compression in (None, grpc.Compression.Gzip):
        with pytest.raises(grpc.RpcError) as caught:
            send(receiver, proto_request(1, blob=2000), compression=compression)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    end = time.monotonic() + 20
    while refusals(receiver) != {"too_large": 2}:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_streams_of_one_connection(running, connect) -> None:
    receiver = running(limits=Limits(streams=7))
    settings = next(payload for kind, _, payload in frames(connect(receiver)) if kind == raw.SETTINGS)
    pairs = [settings[at : at + 6] for at in range(0, len(settings), 6)]
    told = {int.from_bytes(p[:2], "big"): int.from_bytes(p[2:], "big") for p in pairs}
    assert told[raw.MAX_CONCURRENT_STREAMS] == 7


def test_large_metadata_is_refused(running) -> None:
    receiver = running(limits=Limits(header_bytes=4096))
    with pytest.raises(grpc.RpcError) as caught:
        send(receiver, proto_request(1), metadata=(("x", "y" * 5000),))
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert send(receiver, proto_request(1), metadata=(("x", "y" * 500),)) == b""


def test_who_pings_without_pause_is_sent_away(running, connect) -> None:
    connection = connect(running())
    connection.sendall(raw.frame(raw.PING, 0, 0, bytes(8)) * 5)
    assert any(kind == raw.GOAWAY and b"too_many_pings" in payload for kind, _, payload in frames(connection))


def test_an_idle_connection_ends(running, connect) -> None:
    connection = connect(running(limits=Limits(idle_seconds=0.3)))
    assert raw.GOAWAY in {kind for kind, _, _ in frames(connection)}  # and then the end


def test_a_connection_that_says_nothing_ends(running) -> None:
    receiver = running(limits=Limits(header_seconds=0.3))
    with socket.create_connection(("127.0.0.1", receiver.grpc_port), timeout=20) as connection:
        list(frames(connection))


def test_so_many_connections(running, connect) -> None:
    receiver = running(limits=Limits(connections=3))
    for _ in range(3):
        next(frames(connect(receiver)))
    with socket.create_connection(("127.0.0.1", receiver.grpc_port), timeout=20) as one_more:
        assert list(frames(one_more)) == []


def test_stopping_waits_for_no_watcher(running) -> None:
    receiver = running(stop_s=60.0)
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        watching = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest(), timeout=50)
        assert next(watching).status == health_pb2.HealthCheckResponse.SERVING
        stopping = threading.Thread(target=receiver.stop)
        stopping.start()
        stopping.join(20)
        assert not stopping.is_alive()
        with pytest.raises(grpc.RpcError) as caught:
            list(watching)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE


def test_so_many_watchers_and_no_place_of_a_request_taken(running) -> None:
    receiver = running(limits=Limits(requests=1))
    with grpc.insecure_channel(f"127.0.0.1:{receiver.grpc_port}") as channel:
        watch = health_pb2_grpc.HealthStub(channel).Watch
        first = watch(health_pb2.HealthCheckRequest(), timeout=20)
        next(first)
        with pytest.raises(grpc.RpcError) as caught:
            next(watch(health_pb2.HealthCheckRequest(), timeout=20))
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert send(receiver, proto_request(1)) == b""
        first.cancel()
