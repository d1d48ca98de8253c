"""A stream on the side of the server: it reads no further than its client, asks less and less often, leaves nothing."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from otel_toolselect.receive.status import BusyError
from otel_toolselect.rpc.gen import verdict_service_pb2 as pb
from otel_toolselect.rpc.rooms import Room
from otel_toolselect.rpc.streaming import Rhythm, VerdictService
from tests.rpc.test_feed import NOW, Shelf, decision

BEGINNING = pb.StreamVerdictsRequest(start=pb.STREAM_START_BEGINNING)


def service(shelf: Shelf, rhythm: Rhythm, room: Room, streams: int = 1) -> VerdictService:
    backing: Any = SimpleNamespace(store=shelf)
    return VerdictService(backing, room, streams, rhythm)


def scene(play: Any) -> None:
    room = Room("stream", 1, queue=8)
    try:
        asyncio.run(play(room))
    finally:
        room.close()


def test_the_store_is_asked_again_when_all_was_taken() -> None:
    async def play(room: Room) -> None:
        shelf = Shelf((NOW, [decision(i) for i in range(450)]))
        verdicts = service(shelf, Rhythm(first=0.0, longest=0.0), room)
        stream = verdicts.StreamVerdicts(BEGINNING, None)
        assert not (await anext(stream)).verdicts
        assert len(shelf.asked) == 0
        for size in (200, 200, 50):
            assert len((await anext(stream)).verdicts) == size
            assert len(shelf.asked) == 1
        shelf.inserts[NOW + 1] = [decision(999)]
        assert len((await anext(stream)).verdicts) == 1
        assert len(shelf.asked) == 2
        await stream.aclose()

    scene(play)


def test_a_stream_that_is_left_gives_its_place_back() -> None:
    async def play(room: Room) -> None:
        verdicts = service(Shelf(), Rhythm(), room)
        stream = verdicts.StreamVerdicts(BEGINNING, None)
        await anext(stream)
        assert verdicts.open == 1
        with pytest.raises(BusyError, match="1 streams"):
            await anext(verdicts.StreamVerdicts(BEGINNING, None))
        waiting = asyncio.ensure_future(anext(stream))
        for _ in range(3):
            await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert verdicts.open == 0
        while room.under_way:
            await asyncio.sleep(0.01)

    scene(play)


def test_pauses_grow_while_nothing_comes_and_the_stream_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a clock that each pause moves."""
    pauses: list[float] = []

    async def play(room: Room) -> None:
        loop, sleep = asyncio.get_running_loop(), asyncio.sleep
        real = loop.time

        async def passing(seconds: float) -> None:
            pauses.append(seconds)
            await sleep(0)

        monkeypatch.setattr(loop, "time", lambda: real() + sum(pauses))
        monkeypatch.setattr(asyncio, "sleep", passing)
        verdicts = service(Shelf(), Rhythm(first=1.0, longest=4.0, growth=2.0, beat=9.0, life=30.0), room)
        stream = verdicts.StreamVerdicts(BEGINNING, None)
        messages = [message async for message in stream]
        assert 3 <= len(messages) <= 5  # the first, and a sign of life now and then
        assert all(message.cursor and not message.verdicts for message in messages)

    scene(play)
    assert pauses[:4] == [1.0, 2.0, 4.0, 4.0]
    assert 28.0 <= sum(pauses) <= 36.0
