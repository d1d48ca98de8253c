"""What pages may cost: requests at a time, seconds, sizes; how guessing is slowed; how the key of sessions is kept."""

from __future__ import annotations

import asyncio
import stat
import threading
from collections.abc import MutableMapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from otel_toolselect.errors import EnvironmentProblem, UsageError
from otel_toolselect.web import bounds
from otel_toolselect.web.bounds import Bounds
from otel_toolselect.web.problems import TooOftenError, problem_of
from otel_toolselect.web.signin.keys import FILE_NAME, session_key
from otel_toolselect.web.signin.throttle import ADDRESSES, FORGET_S, FREE, LONGEST_S, Throttle


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


async def told(scope: Scope, receive: Receive, send: Send, error: Exception) -> None:
    await PlainTextResponse("", problem_of(error).status)(scope, receive, send)


async def asked(app: Bounds, method: str = "GET", body: bytes = b"") -> int:
    """The status of the answer."""
    statuses: list[int] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await app({"type": "http", "method": method, "path": "/", "headers": []}, receive, send)
    (status,) = statuses
    return status


def test_so_many_requests_and_no_more() -> None:
    async def run() -> list[int]:
        go_on = asyncio.Event()

        async def slow(scope: Scope, receive: Receive, send: Send) -> None:
            await go_on.wait()
            await PlainTextResponse("")(scope, receive, send)

        app = Bounds(slow, told, threads=1, seconds=60)
        waiting = [asyncio.create_task(asked(app)) for _ in range(bounds.WAITING_PER_THREAD)]
        await asyncio.sleep(0)
        beyond = await asked(app)
        go_on.set()
        return [beyond, *await asyncio.gather(*waiting), await asked(app)]

    beyond, *rest = asyncio.run(run())
    assert beyond == 503
    assert set(rest) == {200}


def test_an_answer_that_does_not_come_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "ANSWER_S", 0.0)

    async def never(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.Event().wait()

    assert asyncio.run(asked(Bounds(never, told, threads=1, seconds=0.01))) == 504


def test_an_answer_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "ANSWER_BYTES", 10)
    app = Bounds(PlainTextResponse("x" * 10), told, threads=1, seconds=60)
    assert asyncio.run(asked(app)) == 200
    app = Bounds(PlainTextResponse("x" * 11), told, threads=1, seconds=60)
    assert asyncio.run(asked(app)) == 400


def test_a_body_that_is_too_large() -> None:
    app = Bounds(PlainTextResponse("x"), told, threads=1, seconds=60)
    assert asyncio.run(asked(app, "POST", b"x" * bounds.BODY_BYTES)) == 200
    assert asyncio.run(asked(app, "POST", b"x" * (bounds.BODY_BYTES + 1))) == 413


def test_waiting_grows_and_is_forgotten() -> None:
    clock = Clock()
    throttle = Throttle(clock)
    for _ in range(FREE):
        throttle.check("10.0.0.1")
        throttle.failed("10.0.0.1")
    waits = []
    for _ in range(12):
        with pytest.raises(TooOftenError) as refused:
            throttle.check("10.0.0.1")
        waits.append(refused.value.retry_after_s)
        clock.now += refused.value.retry_after_s
        throttle.check("10.0.0.1")
        throttle.failed("10.0.0.1")
    assert waits[:4] == [1, 2, 4, 8]
    assert waits[-1] == LONGEST_S
    throttle.check("10.0.0.2")
    clock.now += FORGET_S + 1
    throttle.failed("10.0.0.1")
    throttle.check("10.0.0.1")


def test_a_customer_is_one_address() -> None:
    throttle = Throttle(Clock())
    for i in range(FREE):
        throttle.failed(f"2001:db8:1:2::{i}")
    with pytest.raises(TooOftenError):
        throttle.check("2001:db8:1:2:ffff::1")
    throttle.check("2001:db8:1:3::1")
    for _ in range(FREE):
        throttle.failed("::ffff:10.0.0.1")
    throttle.check("::ffff:10.0.0.2")


def test_memory_for_addresses_is_bounded() -> None:
    throttle = Throttle(Clock())
    for i in range(ADDRESSES + 100):
        throttle.failed(f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}")
    assert len(throttle._failed) == ADDRESSES


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    made = session_key(tmp_path / "spool")
    path = tmp_path / "spool" / FILE_NAME
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(made) >= 32
    assert session_key(tmp_path / "spool") == made
    assert [found.name for found in path.parent.iterdir()] == [FILE_NAME]


def test_of_many_that_start_at_once_all_have_one_key(tmp_path: Path) -> None:
    start = threading.Barrier(8)

    def one(_: int) -> bytes:
        start.wait()
        return session_key(tmp_path)

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(one, range(8)))) == 1


def test_a_key_that_cannot_be_trusted(tmp_path: Path) -> None:
    session_key(tmp_path)
    path = tmp_path / FILE_NAME
    path.chmod(0o640)
    with pytest.raises(EnvironmentProblem, match="chmod 600"):
        session_key(tmp_path)
    path.chmod(0o600)
    path.write_bytes(b"")
    with pytest.raises(EnvironmentProblem, match="a new one is made"):
        session_key(tmp_path)
    with pytest.raises(UsageError, match="32 are the least"):
        session_key(tmp_path, "short")
    assert session_key(tmp_path, "k" * 32) == b"k" * 32
