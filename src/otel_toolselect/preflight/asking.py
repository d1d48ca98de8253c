"""Asking the servers: what they offer, and the calls of the checks. The only part with processes and a network.

Servers are asked at the same time, the calls of one in the order of the file, each within the time limit. A server that
cannot be reached, or that stops answering, costs its own answers and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from otel_toolselect.model.preflight import Answer, Offer, OfferedTool
from otel_toolselect.preflight.files import Check, Plan, Server


class Line(Protocol):
    """An open connection to a server."""

    async def tools(self) -> tuple[OfferedTool, ...]: ...

    async def call(self, tool: str, args: dict[str, Any]) -> tuple[bool, Any]:
        """Whether the tool reports success, and its value. Raises whatever means that there is no answer."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """One server's offer, and the answers to its checks, by position in the plan: as many as `repeat` says."""

    offer: Offer
    answers: dict[int, tuple[Answer, ...]] = field(default_factory=dict)


def ask(plan: Plan, told: Callable[[str], None] = lambda name: None) -> tuple[Asked, ...]:
    """Ask every server; `told` hears the name of each that is done. Raises UsageError without the MCP SDK."""
    return asyncio.run(_ask(plan, told))


async def _ask(plan: Plan, told: Callable[[str], None]) -> tuple[Asked, ...]:
    async def one(server: Server) -> Asked:
        found = await _server(server, plan)
        told(server.name)
        return found

    return tuple(await asyncio.gather(*(one(server) for server in plan.servers)))


async def _server(server: Server, plan: Plan) -> Asked:
    started = time.monotonic()
    asked = Asked(Offer(server.name))
    try:
        async with asyncio.timeout(plan.timeout_s) as limit, _line(server, plan.timeout_s) as line:
            tools = await line.tools()
            limit.reschedule(None)  # from here on each call has its own
            offer = Offer(server.name, tools, seconds=time.monotonic() - started)
            asked = Asked(offer)
            for position, check in enumerate(plan.checks):
                if _meant(check, server, offer):
                    asked.answers[position] = await _calls(line, check, plan.timeout_s)
    except BaseExceptionGroup as error:
        return _ended(asked, _first(error), server, plan)
    except (Exception, asyncio.CancelledError) as error:
        if isinstance(error, asyncio.CancelledError) and (task := asyncio.current_task()) and task.cancelling():
            raise
        return _ended(asked, error, server, plan)
    return asked


def _ended(asked: Asked, error: BaseException, server: Server, plan: Plan) -> Asked:
    """A connection that broke: before the offer the server is out of reach, after it checks are left without answer."""
    said = _said(error, plan.timeout_s)
    if not asked.offer.tools:
        return replace(asked, offer=Offer(asked.offer.server, failure=said))
    left = {
        i: (Answer(False, None, 0.0, failure=said),)
        for i, c in enumerate(plan.checks)
        if _meant(c, server, asked.offer)
    }
    return replace(asked, answers=left | asked.answers)


def _meant(check: Check, server: Server, offer: Offer) -> bool:
    return check.server in ("", server.name) and any(tool.name == check.tool for tool in offer.tools)


async def _calls(line: Line, check: Check, timeout_s: float) -> tuple[Answer, ...]:
    return tuple([await _timed(lambda: line.call(check.tool, check.args), timeout_s) for _ in range(check.repeat)])


async def _timed(call: Callable[[], Awaitable[tuple[bool, Any]]], timeout_s: float) -> Answer:
    started = time.monotonic()
    try:
        async with asyncio.timeout(timeout_s):
            ok, value = await call()
    except Exception as error:  # noqa: BLE001 - whatever a tool does, it is told
        return Answer(False, None, time.monotonic() - started, failure=_said(_first(error), timeout_s))
    return Answer(ok, value, time.monotonic() - started)


def _said(error: BaseException, timeout_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"nothing came within {timeout_s:g} s"
    if isinstance(error, ConnectionError) and error.__cause__ is not None:
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"the command was not found: {error.filename or error}"
    return f"{type(error).__name__}: {error}".removesuffix(": ").splitlines()[0]


def _first(error: BaseException) -> BaseException:
    """The cause in a group of one task's errors."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def _line(server: Server, timeout_s: float) -> AbstractAsyncContextManager[Line]:
    if server.python:
        from otel_toolselect.preflight.functions import functions

        return functions(server)
    from otel_toolselect.preflight.mcp import connected

    return connected(server, timeout_s)
