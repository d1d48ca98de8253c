"""Senders that do what exporters do: the same request again until it is acknowledged."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

EXPORT = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
SPANS = 5
"""Per request: small ones, so that many are under way at any moment."""
_TIMEOUT_S = 10.0
_PAUSE_S = 0.02


class Load:
    """Runs `senders` threads until it is closed. `address` is asked before each attempt; "" means nobody listens."""

    def __init__(self, address: Callable[[], str], senders: int = 4) -> None:
        self.acknowledged: set[str] = set()
        """Span ids of requests whose sender was told that they are kept."""
        self.repeated = 0
        """Attempts beyond the first of a request."""
        self.refused: set[str] = set()
        """Status codes of answers that were no success."""
        self._address = address
        self._changed = threading.Condition()
        self._stopping = False
        self._threads = [threading.Thread(target=self._send, args=(n,), daemon=True) for n in range(senders)]

    @contextlib.contextmanager
    def running(self) -> Iterator[Load]:
        for thread in self._threads:
            thread.start()
        try:
            yield self
        finally:
            self.finish()

    def finish(self) -> None:
        """Begins nothing new; returns when what was under way is acknowledged or given up."""
        self._stopping = True
        for thread in self._threads:
            thread.join(3 * _TIMEOUT_S)

    def wait_for_more(self, spans: int, timeout_s: float = 60.0) -> None:
        """Until so many more are acknowledged."""
        with self._changed:
            target = len(self.acknowledged) + spans
            assert self._changed.wait_for(lambda: len(self.acknowledged) >= target, timeout_s), self.refused

    def _send(self, sender: int) -> None:
        number = 0
        while not self._stopping:
            number += 1
            ids = [sender << 48 | number * SPANS + i for i in range(SPANS)]
            if self._until_acknowledged(request(ids, time.time_ns())):
                with self._changed:
                    self.acknowledged |= {f"{i:016x}" for i in ids}
                    self._changed.notify_all()

    def _until_acknowledged(self, body: bytes) -> bool:
        address, channel = "", None
        end = None
        while True:
            if self._stopping:  # one more chance for what is under way
                end = end or time.monotonic() + _TIMEOUT_S
                if time.monotonic() > end:
                    return False
            wanted = self._address()
            if wanted != address:
                if channel is not None:
                    channel.close()
                address, channel = wanted, grpc.insecure_channel(wanted) if wanted else None
            if channel is None:
                if self._stopping:
                    return False
                time.sleep(_PAUSE_S)
                continue
            try:
                channel.unary_unary(EXPORT)(body, timeout=_TIMEOUT_S)
            except grpc.RpcError as error:
                self.refused.add(error.code().name)
                self.repeated += 1
                time.sleep(_PAUSE_S)
            else:
                channel.close()
                return True


def request(ids: list[int], now_ns: int, name: str = "execute_tool f") -> bytes:
    """Spans of one trace."""
    message = ExportTraceServiceRequest()
    resource = message.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = "faults"
    scope = resource.scope_spans.add()
    for number in ids:
        found = scope.spans.add(
            trace_id=ids[0].to_bytes(16, "big"),
            span_id=number.to_bytes(8, "big"),
            name=name,
            start_time_unix_nano=now_ns,
            end_time_unix_nano=now_ns + 1,
        )
        found.attributes.add(key="gen_ai.tool.name").value.string_value = "f"
    return message.SerializeToString()
