"""The floor under any receiver in Python: a bare gRPC server that counts bytes, or parses each request and forgets it.

    python -m benchmarks.limit count|parse      # prints its port

Everything between this and what a receiver costs is what the receiver does with spans.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import grpc.aio
from benchmarks.sender import Target
from benchmarks.server import Server, process
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

_SERVICE = "opentelemetry.proto.collector.trace.v1.TraceService"


@contextmanager
def floor(mode: str) -> Iterator[Server]:
    """The bare server in a process of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="toolselect-bench-") as name,
        process([sys.executable, "-m", "benchmarks.limit", mode], Path(name) / "log") as running,
    ):
        assert running.stdout is not None
        yield Server(f"bare gRPC, {mode}", running.pid, Target(f"127.0.0.1:{int(running.stdout.readline())}"))


async def serve(mode: str) -> None:
    got = 0

    async def count(body: bytes, _: object) -> bytes:
        nonlocal got
        got += len(body)
        return b""

    async def parse(body: bytes, _: object) -> bytes:
        nonlocal got
        message = ExportTraceServiceRequest()
        message.ParseFromString(body)
        got += sum(len(scope.spans) for group in message.resource_spans for scope in group.scope_spans)
        return b""

    handler = grpc.unary_unary_rpc_method_handler({"count": count, "parse": parse}[mode])
    server = grpc.aio.server(options=[("grpc.max_receive_message_length", -1)])
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(_SERVICE, {"Export": handler}),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
