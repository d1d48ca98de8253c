"""A scripted OpenAI-compatible endpoint on loopback: real HTTP, answers as told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, "dict[str, str]", "bytes | str"]


def says(text: Any) -> Reply:
    return 200, {}, json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]})


class Endpoint:
    """`script` gives the reply to the n-th request (from 0); `seen` holds the requests' bodies, `headers` theirs."""

    def __init__(self, script: Callable[[int, dict[str, Any]], Reply]) -> None:
        self.script = script
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.url = ""


@contextmanager
def endpoint(script: Callable[[int, dict[str, Any]], Reply]) -> Iterator[Endpoint]:
    told = Endpoint(script)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                number = len(told.seen)
                told.seen.append(body)
                told.headers.append({k.lower(): v for k, v in self.headers.items()})
                told.paths.append(self.path)
            status, headers, text = told.script(number, body)
            data = text.encode() if isinstance(text, str) else text
            self.send_response(status)
            for name, value in {"content-length": str(len(data)), "connection": "close", **headers}.items():
                self.send_header(name, value)
            with suppress(ConnectionError):  # the client had enough
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    told.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
