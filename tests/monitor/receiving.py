"""A real HTTP server on loopback that notes what it gets and answers as it is told; and notifications to send."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from otel_toolselect.model.alerting import Notification

T0 = 1_748_736_000_000_000_000  # 2025-06-01T00:00:00Z
MINUTE = 60 * 10**9

FIRE = Notification(
    key='wrong-tool{"tool": "search"}#1',
    alert="wrong-tool",
    series=(("tool", "search"),),
    change=1,
    kind="fire",
    at_ns=T0 + 5 * MINUTE,
    since_ns=T0 + 4 * MINUTE,
    start_ns=T0,
    end_ns=T0 + 5 * MINUTE,
    signal="wrong_tool",
    unit="share",
    value=0.15,
    numerator=3,
    n=20,
    says="15.0 % (3/20) is above 10.0 %",
    severity="critical",
    owner="payments",
    runbook="https://example.org/runbooks/wrong-tool",
    labels={
        "alert": "wrong-tool",
        "signal": "wrong_tool",
        "severity": "critical",
        "owner": "payments",
        "tool": "search",
    },
    annotations={"summary": "15.0 % of the runs chose a wrong tool", "team": "shop"},
)
RESOLVE = replace(
    FIRE,
    key='wrong-tool{"tool": "search"}#2',
    change=2,
    kind="resolve",
    at_ns=T0 + 10 * MINUTE,
    value=0.0,
    numerator=0,
    says="0.0 % (0/20)",
)


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Endpoint:
    """`answers`: status and headers, one a request, then 200. `hang`: no answer at all until the end."""

    server: ThreadingHTTPServer
    got: list[Request] = field(default_factory=list)
    answers: list[tuple[int, Mapping[str, str]]] = field(default_factory=list)
    hang: bool = False
    drip: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        return self.server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            made.got.append(Request(self.path, headers, body))
            if made.hang:
                made.over.wait(60)
                return
            status, given = made.answers.pop(0) if made.answers else (200, {})
            self.send_response(status)
            for name, value in given.items():
                self.send_header(name, value)
            self.end_headers()
            while made.drip and not made.over.wait(0.02):
                try:
                    self.wfile.write(b".")
                except OSError:
                    return

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        made = Endpoint(server)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield made
        finally:
            made.over.set()
            server.shutdown()
            thread.join()
