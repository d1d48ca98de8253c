"""A scripted model behind the chat completions API of OpenAI. Standard library only; also a program of its own.

The script is by prompt: a list of attempts, each a list of steps; step N answers the request that follows N answers of
the model. A step is `{"call": NAME, "args": {...}}` (or `"calls": [...]`), `{"say": TEXT}`, `{"status": 429}`, or
`{"hang": SECONDS}`. Which attempt a request belongs to is counted at its first step, and carried in the call ids after
that. An attempt beyond the script repeats its last one.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Step = Mapping[str, Any]
Script = Mapping[str, Sequence[Sequence[Step]]]
Decide = Callable[[Mapping[str, Any]], Step]
"""A model that decides by the whole request: the tools that it is offered, say."""


@dataclass
class Model:
    """`requests` are the bodies as they came, `headers` beside them."""

    script: Script | Decide
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    released: threading.Event = field(default_factory=threading.Event)
    _begun: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def step(self, body: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, int, Step]:
        """(attempt, turn, step); attempts and turns count from 0."""
        if callable(self.script):
            with self._lock:
                self.requests.append(dict(body))
            return 0, 0, self.script(body)
        messages = body["messages"]
        prompt = next(text_of(m) for m in reversed(messages) if m["role"] == "user" and text_of(m) in self.script)
        after = messages[max(i for i, m in enumerate(messages) if m["role"] == "user") :]
        turn = sum(m["role"] == "assistant" for m in after)
        told = next((m["tool_call_id"] for m in reversed(after) if m["role"] == "tool"), None)
        attempts = self.script[prompt]
        with self._lock:
            self.requests.append(dict(body))
            self.headers.append({k.lower(): v for k, v in headers.items()})
            if told is None:
                attempt = self._begun[prompt]
                self._begun[prompt] += 1
            else:
                attempt = int(told.split("_")[1])
        steps = attempts[min(attempt, len(attempts) - 1)]
        return attempt, turn, steps[min(turn, len(steps) - 1)]


def text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return content or ""


def completion(body: Mapping[str, Any], attempt: int, turn: int, step: Step) -> dict[str, Any]:
    wanted = step.get("calls") or ([step] if "call" in step else [])
    calls = [
        {
            "id": f"call_{attempt}_{turn}_{n}",
            "type": "function",
            "function": {"name": call["call"], "arguments": json.dumps(call.get("args", {}))},
        }
        for n, call in enumerate(wanted)
    ]
    message = {"role": "assistant", "content": step.get("say"), **({"tool_calls": calls} if calls else {})}
    return {
        "id": f"chatcmpl-{attempt}-{turn}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body.get("model", "scripted"),
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
    }


def handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            attempt, turn, step = model.step(body, dict(self.headers.items()))
            if "hang" in step:
                model.released.wait(step["hang"])
            status = step.get("status", 200)
            answer = completion(body, attempt, turn, step) if status == 200 else {"error": {"message": "scripted"}}
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on stderr."""

    return Handler


@contextmanager
def serving(script: Script | Decide) -> Iterator[tuple[str, Model]]:
    """(base URL, the model); on a free port of loopback."""
    model = Model(script)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(model))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", model
    finally:
        model.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    with serving(json.loads(Path(sys.argv[1]).read_text("utf-8"))) as (url, _):
        print(url, flush=True)
        threading.Event().wait()
