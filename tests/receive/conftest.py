"""A receiver on free ports with a recording sink."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from receive_samples import RecordingSink

from otel_toolselect.receive import Receiver, Settings


@pytest.fixture
def sink() -> RecordingSink:
    return RecordingSink()


@pytest.fixture
def settings(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., Settings]:
    """Quick settings; a test module that needs one port only says so in its `PORTS`."""
    ports = {"grpc_port": 0, "http_port": 0} | getattr(request.module, "PORTS", {})

    def make(**changes: Any) -> Settings:
        quick = {"insert_delay_s": 0.01, "stop_s": 5.0, "store_backoff_s": 0.05}
        return Settings(**{"spool": tmp_path / "spool"} | ports | quick | changes)

    return make


@pytest.fixture
def running(settings: Callable[..., Settings], sink: RecordingSink) -> Iterator[Callable[..., Receiver]]:
    """Starts receivers; all are stopped at the end."""
    started: list[Receiver] = []

    def run(extra_routes: Any = (), collectors: Any = (), **changes: Any) -> Receiver:
        started.append(Receiver(settings(**changes), sink, extra_routes=extra_routes, collectors=collectors).start())
        return started[-1]

    yield run
    for receiver in started:
        receiver.stop()


@pytest.fixture
def post() -> Iterator[Callable[..., httpx.Response]]:
    """Sends one HTTP export to a receiver."""
    with httpx.Client(timeout=20) as client:

        def send(receiver: Receiver, content: Any, *, path: str = "/v1/traces", **headers: str) -> httpx.Response:
            named = {"content-type": "application/json", "connection": "close"} | {
                k.replace("_", "-"): v for k, v in headers.items()
            }
            return client.post(f"http://127.0.0.1:{receiver.http_port}{path}", content=content, headers=named)

        yield send
