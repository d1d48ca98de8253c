"""What pages may cost the receiver beside which they run: requests at a time, bodies, seconds, sizes of answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from otel_toolselect.errors import InputError, OverloadError, TooLargeError
from otel_toolselect.web.problems import TooLongError

BODY_BYTES = 1 << 20
BODY_S = 30.0
ANSWER_BYTES = 16 << 20
WAITING_PER_THREAD = 8
ANSWER_S = 30.0
"""How long an answer may take beyond the time of one query."""

Message = MutableMapping[str, Any]
Refuse = Callable[[Scope, Receive, Send, Exception], Awaitable[None]]


class Bounds:
    """The application behind it finds the whole body, and no more than so many requests are in it at the same time.
    `refuse` answers what is over a bound.
    """

    def __init__(self, app: ASGIApp, refuse: Refuse, *, threads: int, seconds: float) -> None:
        self._app = app
        self._refuse = refuse
        self._most = threads * WAITING_PER_THREAD
        self._seconds = seconds + ANSWER_S
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = _Answer(send)
        try:
            if self._inside >= self._most:
                raise OverloadError("too many pages are being made at the moment: try again", retry_after_s=2.0)
            self._inside += 1
            try:
                body = await _body(scope, receive)
                async with asyncio.timeout(self._seconds):
                    await self._app(scope, replayed(body, receive), answer.send)
            finally:
                self._inside -= 1
        except TimeoutError:
            error = TooLongError("the answer was not there in time: choose a shorter window or more filters")
            await self._told(scope, receive, send, answer, error)
        except (OverloadError, InputError) as error:
            await self._told(scope, receive, send, answer, error)

    async def _told(self, scope: Scope, receive: Receive, send: Send, answer: _Answer, error: Exception) -> None:
        if answer.began:
            raise error
        await self._refuse(scope, receive, send, error)


class _Answer:
    """What is sent, until it would be too much."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.began = False

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            size = Headers(raw=message.get("headers", ())).get("content-length", "0")
            if int(size) > ANSWER_BYTES:
                raise InputError(f"the answer has more than {ANSWER_BYTES >> 20} MiB: choose a smaller page", where="")
            self.began = True
        await self._send(message)


def replayed(body: bytes, receive: Receive) -> Receive:
    """The body once, then what comes after it: the end of the connection."""
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


async def _body(scope: Scope, receive: Receive) -> bytes:
    if scope["method"] in ("GET", "HEAD"):
        return b""
    pieces, size, more = [], 0, True
    async with asyncio.timeout(BODY_S):
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            piece = message.get("body", b"")
            size += len(piece)
            if size > BODY_BYTES:
                raise TooLargeError(f"more than {BODY_BYTES >> 20} MiB", where="body")
            pieces.append(piece)
            more = message.get("more_body", False)
    return b"".join(pieces)
