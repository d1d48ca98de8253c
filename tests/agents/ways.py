"""The ways in which a runner reaches an agent: a program with the prompt as its argument, or a server."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry import context, propagate, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor


def search_orders(customer_id: str) -> str:
    """Search the orders of a customer. Changes nothing."""
    return json.dumps([{"order_id": "A-1", "customer_id": customer_id}])


def refund_order(order_id: str) -> str:
    """Refund an order. Moves money."""
    return json.dumps({"order_id": order_id, "state": "refunded"})


def traced() -> TracerProvider:
    """The global provider, exporting to where the environment says."""
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider


def run(answer: Callable[[str], str]) -> None:
    """`AGENT PROMPT` answers and ends, `AGENT --serve` prints its port and answers until it is ended."""
    if sys.argv[1] != "--serve":
        print(answer(sys.argv[1]))
        return

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            prompt = json.loads(self.rfile.read(int(self.headers["content-length"])))["prompt"]
            token = context.attach(propagate.extract(dict(self.headers)))
            try:
                data = json.dumps({"answer": answer(prompt)}).encode()
            finally:
                context.detach(token)
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()
