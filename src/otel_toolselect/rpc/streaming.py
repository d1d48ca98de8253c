"""`toolselect.v1.VerdictService`: the store is asked again and again, less often while nothing comes.

The next page is read when the last message was taken: a client that reads slowly holds up nobody but itself, and costs
no memory. A stream ends when its client goes, since its task is cancelled.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from otel_toolselect.app.backing import Backing
from otel_toolselect.errors import InputError
from otel_toolselect.receive.access import CALLER
from otel_toolselect.receive.status import BusyError
from otel_toolselect.rpc.feed import Feed, Filters, Turn
from otel_toolselect.rpc.gen import verdict_service_pb2 as pb
from otel_toolselect.rpc.gen.verdict_service_pb2_grpc import VerdictServiceServicer
from otel_toolselect.rpc.places import Place, parse
from otel_toolselect.rpc.rooms import Clock, Room
from otel_toolselect.rpc.words import STATUS
from otel_toolselect.store import Cursor

_MOST_FILTERS = 1_000
_READ_S = 30.0
_RETRY_S = 5.0


@dataclass(frozen=True, slots=True)
class Rhythm:
    """Pauses in seconds between two looks: the first while something comes, longer and longer up to `longest`. A
    message without decisions every `beat`; a stream ends after `life`, so that who was locked out does not listen on.
    """

    first: float = 0.25
    longest: float = 2.0
    growth: float = 1.5
    beat: float = 20.0
    life: float = 600.0


class VerdictService(VerdictServiceServicer):
    """`streams`: how many at the same time."""

    def __init__(self, backing: Backing, room: Room, streams: int, rhythm: Rhythm) -> None:
        self._backing = backing
        self._room = room
        self._most = streams
        self._rhythm = rhythm
        self.open = 0

    async def StreamVerdicts(
        self, request: pb.StreamVerdictsRequest, context: Any
    ) -> AsyncIterator[pb.StreamVerdictsResponse]:
        feed = Feed(self._backing.store, CALLER.get().tenant, _filters(request))
        with self._place():
            place = await self._start(request)
            yield pb.StreamVerdictsResponse(cursor=str(place))
            async for message in self._follow(feed, place):
                yield message

    @contextmanager
    def _place(self) -> Iterator[None]:
        if self.open >= self._most:
            raise BusyError(f"{self.open} streams of verdicts are open", retry_after_s=_RETRY_S)
        self.open += 1
        try:
            yield
        finally:
            self.open -= 1

    async def _start(self, request: pb.StreamVerdictsRequest) -> Place:
        if request.cursor:
            return parse(request.cursor)
        if request.start == pb.STREAM_START_BEGINNING:
            return Place(Cursor())
        return Place(Cursor(await self._room.run(lambda _: self._backing.store.crews.now(), _READ_S)))

    async def _follow(self, feed: Feed, place: Place) -> AsyncIterator[pb.StreamVerdictsResponse]:
        rhythm, now = self._rhythm, asyncio.get_running_loop().time
        pause, told_at, end = rhythm.first, now(), now() + rhythm.life
        while now() < end:
            turn = await self._room.run(partial(_turn, feed, place), _READ_S)
            place = turn.place
            for message in turn.messages:
                yield message
            if turn.messages:
                told_at = now()
            elif now() - told_at >= rhythm.beat:
                yield pb.StreamVerdictsResponse(cursor=str(place))
                told_at = now()
            if not turn.more:
                await asyncio.sleep(pause)
            pause = rhythm.first if turn.moved else min(pause * rhythm.growth, rhythm.longest)


def _turn(feed: Feed, place: Place, _: Clock) -> Turn:
    return feed.turn(place)


def _filters(request: pb.StreamVerdictsRequest) -> Filters:
    for name in ("suites", "agents", "statuses"):
        if len(getattr(request, name)) > _MOST_FILTERS:
            raise InputError(f"more than {_MOST_FILTERS} values", where=name)
    return Filters(
        frozenset(request.suites),
        frozenset(request.agents),
        frozenset(STATUS.word(number) for number in request.statuses),
    )
