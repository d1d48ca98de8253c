"""What may be under way at the same time, without a server."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from otel_toolselect.config import Limits
from otel_toolselect.receive import gate as module
from otel_toolselect.receive.gate import Gate
from otel_toolselect.receive.status import BusyError, SlowBodyError, failure_of

LIMITS = Limits(requests=3, in_flight_bytes=4000, body_seconds=5.0)
MOST = 1000


@pytest.fixture(autouse=True)
def quick(monkeypatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.02)
    monkeypatch.setattr(module, "WAIT_S", 5.0)


def run(scenario, limits: Limits = LIMITS) -> None:
    async def inside() -> None:
        gate = Gate(limits, MOST)
        await scenario(gate)
        assert (gate.requests, gate.used_bytes) == (0, 0)  # whatever happened, nothing stays behind

    asyncio.run(inside())


async def _body(size: int = 10) -> bytes:
    return b"x" * size


async def _never() -> bytes:
    await asyncio.get_running_loop().create_future()
    raise AssertionError


def test_a_body_counts_with_its_size_until_its_request_ends() -> None:
    async def scenario(gate: Gate) -> None:
        with gate.enter() as visit:
            assert await visit.read(500, _body, len) == b"x" * 10
            assert (gate.requests, gate.used_bytes) == (1, 10)
            assert await visit.inflate(lambda: _body(400)) == b"x" * 400
            assert gate.used_bytes == 400

    run(scenario)


def test_a_message_of_unknown_size_counts_as_the_largest_while_it_is_read() -> None:
    async def scenario(gate: Gate) -> None:
        async def look() -> bytes:
            assert gate.used_bytes == MOST
            return await _body()

        with gate.enter() as visit:
            await visit.read(None, look, len)

    run(scenario)


def test_there_are_so_many_places() -> None:
    async def scenario(gate: Gate) -> None:
        with gate.enter(), gate.enter(), gate.enter():
            with pytest.raises(BusyError) as caught:
                gate.enter()
            failure = failure_of(caught.value)
            assert (failure.http_status, failure.reason, failure.retry_after_s) == (429, "too_busy", 1.0)
        with gate.enter():
            pass
        async with gate.stream(), gate.stream(), gate.stream():
            with pytest.raises(BusyError):
                await gate.stream().__aenter__()

    run(scenario)


def test_a_slow_body_is_given_up() -> None:
    async def scenario(gate: Gate) -> None:
        with gate.enter() as visit, pytest.raises(SlowBodyError) as caught:
            await visit.read(10, _never, len)
        failure = failure_of(caught.value)
        assert (failure.http_status, failure.grpc_code, failure.reason) == (408, 4, "too_slow")

    run(scenario, Limits(in_flight_bytes=4000, body_seconds=0.01))


def test_the_slowest_makes_room_for_those_who_wait_for_memory() -> None:
    """Three large ones hold three quarters of the memory, and would for the five seconds of `body_seconds`."""

    async def scenario(gate: Gate) -> None:
        async def slow() -> None:
            with gate.enter() as visit:
                await visit.read(None, _never, len)

        async def good() -> None:
            with gate.enter() as visit:
                await visit.read(None, _body, len)

        slows = [asyncio.create_task(slow()) for _ in range(3)]
        await asyncio.sleep(0)
        async with asyncio.timeout(3):
            await good()
        with pytest.raises(BusyError, match="others waited"):
            await slows[0]
        assert not slows[1].done()
        for task in slows[1:]:
            task.cancel()
        await asyncio.gather(*slows, return_exceptions=True)

    run(scenario, Limits(requests=9, in_flight_bytes=4000, body_seconds=5.0))


def test_the_slowest_makes_room_for_another_request() -> None:
    async def scenario(gate: Gate) -> None:
        async def slow() -> None:
            with gate.enter() as visit:
                await visit.read(10, _never, len)

        slows = [asyncio.create_task(slow()) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            gate.enter()
        async with asyncio.timeout(3):
            while True:
                with contextlib.suppress(BusyError), gate.enter():
                    break
                await asyncio.sleep(0.005)
        with pytest.raises(BusyError):
            await slows[0]
        for task in slows:
            task.cancel()
        await asyncio.gather(*slows, return_exceptions=True)

    run(scenario)


def test_who_has_its_body_can_always_inflate_it() -> None:
    """Readers alone cannot fill the memory: no circle of requests that wait for each other."""

    async def scenario(gate: Gate) -> None:
        async def exchange() -> None:
            with gate.enter() as visit:
                await visit.read(MOST, lambda: _body(MOST), len)
                await asyncio.sleep(0)
                assert gate.used_bytes <= gate.limits.in_flight_bytes
                await visit.inflate(lambda: _body(MOST))

        async with asyncio.timeout(5):
            await asyncio.gather(*(exchange() for _ in range(60)))

    run(scenario, Limits(requests=100, in_flight_bytes=4000))


def test_waiting_ends_and_so_does_the_queue(monkeypatch) -> None:
    monkeypatch.setattr(module, "WAIT_S", 0.01)
    monkeypatch.setattr(module, "PATIENCE_S", 60.0)
    monkeypatch.setattr(module, "_QUEUE", 2)

    async def scenario(gate: Gate) -> None:
        async def hold(result) -> None:
            with gate.enter() as visit:
                await visit.read(None, result, len)

        held = [asyncio.create_task(hold(_never)) for _ in range(3)]
        await asyncio.sleep(0)
        said = await asyncio.gather(*(hold(_body) for _ in range(4)), return_exceptions=True)
        assert [type(s) for s in said] == [BusyError] * 4
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)

    run(scenario, Limits(requests=100, in_flight_bytes=4000))


def test_a_waiting_request_may_be_cancelled() -> None:
    async def scenario(gate: Gate) -> None:
        async def hold(result) -> None:
            with gate.enter() as visit:
                await visit.read(None, result, len)

        tasks = [asyncio.create_task(hold(_never)) for _ in range(6)]
        await asyncio.sleep(0)
        for task in reversed(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(scenario, Limits(requests=100, in_flight_bytes=4000))
