"""OTLP in: gRPC and HTTP servers, a spool that keeps what was acknowledged, a drain into whatever sink is
given.

Importing this package loads no server: grpc, starlette and uvicorn are imported when a receiver starts.
"""

from otel_toolselect.receive.counters import Counters
from otel_toolselect.receive.facade import Receiver
from otel_toolselect.receive.service import AsyncReceiver
from otel_toolselect.receive.settings import Settings, Sink

__all__ = ["AsyncReceiver", "Counters", "Receiver", "Settings", "Sink"]
