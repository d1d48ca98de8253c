"""The client: sends requests that are serialized already to a receiver on this machine, and times each answer.

Closed loop: as many requests under way as asked for, each worker sends its next one when the last was answered. Open
loop: requests leave at fixed times, and an answer is timed from when its request was due, so that a receiver that
stalls is charged for the requests that wait behind the stall. Overload and broken connections are tried again with a
growing pause, as the SDKs' exporters do; everything else counts as a failure.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field

import grpc
from benchmarks.load import Request

_METHOD = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
_AGAIN_GRPC = (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE)
_AGAIN_HTTP = (429, 502, 503, 504)
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 5.0
_ANSWER_S = 60.0
_GIVE_UP_S = 300.0
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

Send = Callable[[bytes], bool]
"""One attempt: True when it was taken, False when it is to be tried again. Raises for everything else."""


@dataclass(slots=True)
class Sent:
    """What came of a list of requests. Latencies are seconds, one per request that was taken, retries included."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    retries: int = 0
    failures: list[str] = field(default_factory=list)

    def latency_ms(self, share: float) -> float:
        """The latency that `share` of the requests did not exceed, in milliseconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] * 1000 if ordered else float("nan")


@dataclass(frozen=True, slots=True)
class Target:
    """`address` is host:port on loopback; nothing else is ever sent to."""

    address: str
    protocol: str = "grpc"
    path: str = "/v1/traces"

    def __post_init__(self) -> None:
        if self.address.rpartition(":")[0] not in _LOOPBACK:
            raise ValueError(f"{self.address} is not on this machine: a load is sent to loopback only")

    def connect(self) -> AbstractContextManager[Send]:
        """A connection of its own, closed at the end."""
        return _grpc(self) if self.protocol == "grpc" else _http(self)


@contextmanager
def _grpc(target: Target) -> Iterator[Send]:
    options = [("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)]
    channel = grpc.insecure_channel(target.address, options=options)
    grpc.channel_ready_future(channel).result(_ANSWER_S)
    call = channel.unary_unary(_METHOD, request_serializer=None, response_deserializer=None)

    def send(body: bytes) -> bool:
        try:
            call(body, timeout=_ANSWER_S)
        except grpc.RpcError as error:
            if error.code() in _AGAIN_GRPC:
                return False
            raise
        return True

    with channel:
        yield send


@contextmanager
def _http(target: Target) -> Iterator[Send]:
    connection = http.client.HTTPConnection(target.address, timeout=_ANSWER_S)

    def send(body: bytes) -> bool:
        try:
            connection.request("POST", target.path, body, {"content-type": "application/x-protobuf"})
            answer = connection.getresponse()
            text = answer.read()
        except (ConnectionError, http.client.HTTPException):
            connection.close()  # the next request opens it again
            return False
        if answer.status in _AGAIN_HTTP:
            return False
        if answer.status != 200:
            raise RuntimeError(f"HTTP {answer.status}: {text[:200]!r}")
        return True

    with closing(connection):
        yield send


def closed_loop(target: Target, requests: Sequence[Request], in_flight: int) -> Sent:
    """Sends all of them, `in_flight` at a time."""
    begin = time.perf_counter()
    return _run(target, requests, in_flight, due=lambda number: None, begin=begin)


def open_loop(target: Target, requests: Sequence[Request], spans_per_s: float, in_flight: int = 64) -> Sent:
    """Sends all of them at a fixed rate; `in_flight` bounds what may be under way when the receiver falls behind."""
    begin = time.perf_counter() + 0.05
    spans, due = 0, []
    for request in requests:
        due.append(begin + spans / spans_per_s)
        spans += request.spans
    return _run(target, requests, in_flight, due=due.__getitem__, begin=begin)


def _run(
    target: Target, requests: Sequence[Request], workers: int, due: Callable[[int], float | None], begin: float
) -> Sent:
    sent, lock, numbers = Sent(), threading.Lock(), iter(range(len(requests)))

    def work() -> None:
        with target.connect() as send:
            while (number := _next(numbers, lock)) is not None:
                start = due(number) or time.perf_counter()
                if (early := start - time.perf_counter()) > 0:
                    time.sleep(early)
                _timed(send, requests[number].body, start, sent, lock)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(workers, len(requests)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sent.seconds = time.perf_counter() - begin
    return sent


def _timed(send: Send, body: bytes, start: float, sent: Sent, lock: threading.Lock) -> None:
    try:
        retries = _until_taken(send, body)
    except Exception as error:  # noqa: BLE001 - counted and told, whatever it is
        with lock:
            sent.failures.append(f"{type(error).__name__}: {error}"[:300])
        return
    with lock:
        sent.latencies.append(time.perf_counter() - start)
        sent.retries += retries


def _next(numbers: object, lock: threading.Lock) -> int | None:
    with lock:
        return next(numbers, None)  # type: ignore[call-overload,no-any-return]


def _until_taken(send: Send, body: bytes) -> int:
    retries, pause, end = 0, _FIRST_PAUSE_S, time.monotonic() + _GIVE_UP_S
    while not send(body):
        if time.monotonic() > end:
            raise TimeoutError(f"not taken within {_GIVE_UP_S} s")
        retries += 1
        time.sleep(pause)
        pause = min(pause * 1.7, _LONGEST_PAUSE_S)
    return retries
