"""Bounds of the HTTP port, over sockets: slow and idle connections, heads, answers that come before a body's end."""

from __future__ import annotations

import gzip
import itertools
import json
import random
import re
import socket
import threading
import time
from collections.abc import Callable

import pytest
from receive_samples import request, span

from otel_toolselect.config import Limits
from otel_toolselect.otlp import decompress
from otel_toolselect.receive import gate, http_protocol

PORTS = {"grpc_port": None}
GOOD = request(span(1))


def post(body: bytes = GOOD, *more: str, length: int | None = None) -> bytes:
    lines = [
        "POST /v1/traces HTTP/1.1",
        "host: localhost",
        "content-type: application/json",
        f"content-length: {len(body) if length is None else length}",
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


@pytest.fixture
def connect():
    """Opens connections to a receiver; what they get is read with `said`."""
    opened: list[socket.socket] = []

    def make(receiver, sent: bytes = b"") -> socket.socket:
        opened.append(socket.create_connection(("127.0.0.1", receiver.http_port), timeout=20))
        opened[-1].sendall(sent)
        return opened[-1]

    yield make
    for connection in opened:
        connection.close()


def said(connection: socket.socket) -> bytes:
    """Everything until the server ends the connection."""
    found = bytearray()
    try:
        while piece := connection.recv(65536):
            found += piece
    except ConnectionResetError:
        pass
    return bytes(found)


def answer(connection: socket.socket) -> bytes:
    """One answer; the connection stays open."""
    found = connection.recv(65536)
    head, _, body = found.partition(b"\r\n\r\n")
    size = next(int(h[15:]) for h in head.lower().split(b"\r\n") if h.startswith(b"content-length:"))
    while len(body) < size:
        piece = connection.recv(65536)
        found, body = found + piece, body + piece
    return found


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def refusals(receiver) -> dict[str, int]:
    return {reason: n for reason, n in receiver.counters.by_label().refusals.items() if n}


def test_a_body_that_stops_is_408(running, connect) -> None:
    receiver = running(limits=Limits(body_seconds=0.2))
    found = said(connect(receiver, post(length=1000)))
    head, _, body = found.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in head.lower()
    assert json.loads(body)["code"] == 4
    assert refusals(receiver) == {"too_slow": 1}


def test_a_byte_now_and_then_does_not_help(running, connect) -> None:
    receiver = running(limits=Limits(body_seconds=0.3))
    connection = connect(receiver, post(b"", length=1000))
    connection.settimeout(0.02)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        connection.sendall(b" ")
        try:
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")
            break
        except TimeoutError:
            pass
    else:
        raise AssertionError("it went on")


@pytest.mark.parametrize("first", [b"", post()], ids=["first", "second"])
def test_a_head_that_stops_is_408(running, connect, first) -> None:
    receiver = running(limits=Limits(header_seconds=0.2))
    connection = connect(receiver, first)
    if first:
        assert answer(connection).startswith(b"HTTP/1.1 200 ")
    connection.settimeout(0.02)
    end = time.monotonic() + 20
    sent = b"POST /v1/tr"
    while time.monotonic() < end:
        try:
            connection.sendall(sent)
            assert connection.recv(100).startswith(b"HTTP/1.1 408 ")
            break
        except TimeoutError:
            sent = b"a"
    else:
        raise AssertionError("it went on")
    assert refusals(receiver) == {"too_slow": 1}


def test_a_connection_that_says_nothing_ends(running, connect) -> None:
    receiver = running(limits=Limits(header_seconds=0.2))
    assert said(connect(receiver)) == b""
    assert refusals(receiver) == {"too_slow": 1}


def test_an_idle_connection_ends(running, connect) -> None:
    receiver = running(limits=Limits(idle_seconds=0.5))  # uvicorn counts in whole seconds
    found = said(connect(receiver, post()))
    assert found.startswith(b"HTTP/1.1 200 ")
    assert refusals(receiver) == {}


@pytest.mark.parametrize(
    "sent",
    [
        post(GOOD, "connection: close", "x: " + "y" * 5000),
        b"GET /" + b"x" * 5000,
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1000,
    ],
    ids=["value", "target", "many"],
)
def test_a_large_head_is_431(running, connect, sent) -> None:
    receiver = running(limits=Limits(header_bytes=4096))
    assert said(connect(receiver, sent)).startswith(b"HTTP/1.1 431 ")
    assert refusals(receiver) == {"too_large": 1}
    assert answer(connect(receiver, post())).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        b"hello\r\n\r\n",
        b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc",
        b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"POST /v1/traces HTTP/1.1\r\nhost: x\r\ntransfer-encoding: gzip\r\n\r\n",
        b"POST /v1/traces HTTP/1.1\r\ncontent-length: 0\r\n\r\n",
    ],
    ids=["TLS", "words", "two lengths", "negative", "no chunks", "no host"],
)
def test_what_is_no_request_is_refused_without_a_line_in_the_log(running, connect, sent, caplog) -> None:
    receiver = running()
    assert said(connect(receiver, sent)).split(b" ")[1] in (b"400", b"501")
    assert refusals(receiver) == {"other": 1}
    assert not caplog.records


def test_length_and_chunks_together_hide_no_second_request(running, connect, sink) -> None:
    """RFC 9112 section 6.3: the chunks count."""
    receiver = running()
    hidden = post(request(span(2)))
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(GOOD), GOOD)
    head = post(b"", "transfer-encoding: chunked", "connection: close", length=len(chunked + hidden))
    found = said(connect(receiver, head + chunked + hidden))
    assert found.count(b"HTTP/1.1 ") == 1
    receiver.flush()
    assert sink.ids <= {1}


def test_requests_in_one_packet_are_answered_in_order(running, connect, sink) -> None:
    receiver = running()
    packet = (
        post(request(span(1))) + post(b"bad") + post(request(span(2))) + post(request(span(3)), "connection: close")
    )
    found = said(connect(receiver, packet))
    assert re.findall(rb"HTTP/1.1 (\d+)", found) == [b"200", b"400", b"200", b"200"]
    receiver.flush()
    assert sink.ids == {1, 2, 3}


def test_who_does_not_take_its_answers_is_cut(running, connect) -> None:
    receiver = running(limits=Limits(body_seconds=0.3))
    connection = connect(receiver)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    request_line = b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n"

    def ask() -> None:
        try:
            while True:
                connection.sendall(request_line * 100)
        except OSError:
            pass

    asking = threading.Thread(target=ask)
    asking.start()
    until(lambda: refusals(receiver) == {"too_slow": 1})
    asking.join(20)
    assert not asking.is_alive()


def test_the_longest_waiting_makes_room_for_a_new_connection(running, connect) -> None:
    receiver = running(limits=Limits(connections=5))
    idle = [connect(receiver, b"POST" * (n % 2)) for n in range(12)]
    kept = connect(receiver)
    for _ in range(3):
        kept.sendall(post())
        assert answer(kept).startswith(b"HTTP/1.1 200 ")
    for connection in idle[:8]:
        assert said(connection) == b""
    assert refusals(receiver) == {"too_busy": 8}


def test_slow_bodies_give_way_to_others(running, connect, monkeypatch) -> None:
    monkeypatch.setattr(gate, "PATIENCE_S", 0.2)
    receiver = running(limits=Limits(requests=2))
    slow = [connect(receiver, post(length=1000)) for _ in range(2)]
    until(lambda: said_busy(connect(receiver, post())))  # both are there: for now there is no place
    until(lambda: answer(connect(receiver, post())).startswith(b"HTTP/1.1 200 "))
    assert said(slow[0]).startswith(b"HTTP/1.1 429 ")
    slow[1].sendall(b" " * (1000 - len(GOOD)))
    assert answer(slow[1])[9:12] in (b"200", b"429")


def said_busy(connection: socket.socket) -> bool:
    found = answer(connection)
    return found.startswith(b"HTTP/1.1 429 ") and b"retry-after: 1" in found


def test_an_answer_before_the_end_of_a_body_arrives(running, connect) -> None:
    """The client goes on sending, more than the buffers of both sides hold, and only then looks."""
    receiver = running(max_request_bytes=1_000_000)
    size = 30_000_000
    for more in ((), ("connection: close",)):
        connection = connect(receiver, post(b"", *more, length=size))
        for _ in range(size // 1_000_000):
            connection.sendall(b" " * 1_000_000)
        assert said(connection).startswith(b"HTTP/1.1 413 ")


def test_who_never_stops_sending_is_cut(running, connect, monkeypatch) -> None:
    monkeypatch.setattr(http_protocol, "_LINGER_S", 0.2)
    receiver = running(max_request_bytes=1000)
    connection = connect(receiver, post(b"", length=10**12))
    pieces = itertools.repeat(b" " * 100_000)
    with pytest.raises(OSError):
        list(map(connection.sendall, pieces))


def test_while_a_large_body_is_inflated_others_are_answered(running, connect, monkeypatch) -> None:
    started, go_on = threading.Event(), threading.Event()

    def held(body: bytes, *args) -> bytes:
        started.set()
        assert go_on.wait(20)
        return decompress(body, *args)

    monkeypatch.setattr("otel_toolselect.receive.inflater.decompress", held)
    noise = random.Random(1).randbytes(30_000).hex()  # so that it stays large
    large = gzip.compress(request(span(2, name=noise)))
    receiver = running()
    waiting = connect(receiver, post(large, "content-encoding: gzip"))
    assert started.wait(20)
    assert answer(connect(receiver, post())).startswith(b"HTTP/1.1 200 ")
    go_on.set()
    assert answer(waiting).startswith(b"HTTP/1.1 200 ")


def test_stopping_waits_for_no_slow_sender(running, connect, monkeypatch) -> None:
    monkeypatch.setattr(gate, "PATIENCE_S", 0.2)
    receiver = running(stop_s=60.0)
    for sent in (b"", b"POST /v1", post(length=1000), post()):
        connect(receiver, sent)
    until(lambda: receiver.counters.snapshot()["spans"] == 1)
    done = threading.Thread(target=receiver.stop)
    done.start()
    done.join(20)
    assert not done.is_alive()
