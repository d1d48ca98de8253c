"""So much work at once, so much that waits, and none for longer than it may take."""

from __future__ import annotations

import asyncio
import threading

import pytest

from otel_toolselect.receive.status import BusyError, SlowAnswerError
from otel_toolselect.rpc.rooms import Room


def test_places_and_queue() -> None:
    async def scene() -> None:
        room, go = Room("test", 1, queue=1), threading.Event()
        try:
            under_way = [asyncio.ensure_future(room.run(lambda _: go.wait(60), 60.0)) for _ in range(2)]
            await asyncio.sleep(0)
            with pytest.raises(BusyError, match="2 test requests"):
                await room.run(lambda _: None, 60.0)
            go.set()
            assert await asyncio.gather(*under_way) == [True, True]
            assert await room.run(lambda _: "done", 60.0) == "done"
            assert room.under_way == 0
        finally:
            room.close()

    asyncio.run(scene())


def test_work_that_nobody_waits_for_notices_and_gives_its_place_back() -> None:
    async def scene() -> None:
        room, begun, noticed = Room("test", 1, queue=0), threading.Event(), threading.Event()

        def work(clock) -> None:
            begun.set()
            try:
                while True:
                    clock.check()
            finally:
                noticed.set()

        with pytest.raises(SlowAnswerError, match=r"not done after 0\.05 s"):
            await room.run(work, 0.05)
        assert await asyncio.to_thread(noticed.wait, 60)
        while room.under_way:
            await asyncio.sleep(0.01)
        begun.clear()
        noticed.clear()
        task = asyncio.ensure_future(room.run(work, 3600.0))
        assert await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        assert await asyncio.to_thread(noticed.wait, 60)
        with pytest.raises(asyncio.CancelledError):
            await task
        room.close()

    asyncio.run(scene())
