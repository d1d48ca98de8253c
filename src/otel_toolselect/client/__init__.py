"""A typed client of the gRPC service of `toolselect serve` (docs/grpc.md).

    with Client("127.0.0.1:4317", token="...") as client:
        evaluation = client.evaluate_run(trace_id=trace_id, suite="support-agent")
        hours = client.confusion(window="1h", by=["agent"])
        with client.stream_verdicts(statuses=["fail"]) as stream:
            for item in stream:
                handle(item.decision)
                remember(item.cursor)

Data of `otel_toolselect.model` go in and come out. What fails raises errors of `otel_toolselect.errors`, each of which
says by `retryable` whether the same call may succeed later; the few that only a client meets are here. Imports neither
the store nor the server.
"""

from __future__ import annotations

from otel_toolselect.client._async import AsyncClient
from otel_toolselect.client._channel import Tls
from otel_toolselect.client._failures import RefusedError, ServerAwayError, TimedOutError
from otel_toolselect.client._stream import AsyncVerdictStream, VerdictStream
from otel_toolselect.client._sync import Client

__all__ = [
    "AsyncClient",
    "AsyncVerdictStream",
    "Client",
    "RefusedError",
    "ServerAwayError",
    "TimedOutError",
    "Tls",
    "VerdictStream",
]
