"""`toolselect.v1.ConfusionService`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from otel_toolselect.app.backing import Backing
from otel_toolselect.app.windows import confusion_over, length_named, windows_within
from otel_toolselect.errors import InputError
from otel_toolselect.model.alerting import DIMENSIONS, Scope, Window
from otel_toolselect.model.answers import Windowed
from otel_toolselect.receive.access import CALLER
from otel_toolselect.rpc import decoding, encoding
from otel_toolselect.rpc.bounds import bounded
from otel_toolselect.rpc.gen import confusion_service_pb2 as pb
from otel_toolselect.rpc.gen.confusion_service_pb2_grpc import ConfusionServiceServicer
from otel_toolselect.rpc.rooms import Clock, Room, within


class ConfusionService(ConfusionServiceServicer):
    """Queries wait for each other in a room; `seconds`: how long each may take."""

    def __init__(self, backing: Backing, room: Room, seconds: float) -> None:
        self._backing = backing
        self._room = room
        self._seconds = seconds

    async def GetConfusion(self, request: pb.GetConfusionRequest, context: Any) -> pb.GetConfusionResponse:
        tenant = CALLER.get().tenant

        def work(clock: Clock) -> pb.GetConfusionResponse:
            windows, by = _windows(request), _dimensions(request.by)
            scope = _of_tenant(decoding.scope(request.scope), tenant)
            found = _nothing(windows, by) if scope is None else confusion_over(self._backing.store, scope, by, windows)
            made = pb.GetConfusionResponse()
            size = 0
            for one in found:
                clock.check()
                figures = encoding.windowed(one)
                size += figures.ByteSize()
                bounded(size)
                made.windows.append(figures)
            return made

        return await self._room.run(work, within(context, self._seconds))


def _windows(request: pb.GetConfusionRequest) -> list[Window]:
    size = length_named("window", request.window)
    slide = length_named("slide", request.slide) if request.slide else size
    until = request.until_unix_nano if request.HasField("until_unix_nano") else time.time_ns()
    since = request.since_unix_nano if request.HasField("since_unix_nano") else None
    if since is not None and since >= until:
        raise InputError("is not after since_unix_nano", where="until_unix_nano")
    if until > _LATEST:
        raise InputError("is later than the year 2262", where="until_unix_nano")
    try:
        return windows_within(size, slide, request.time_zone or "UTC", since, until)
    except (ValueError, OverflowError) as error:
        raise InputError(f"{request.window}: {error}", where="window") from error


_LATEST = 2**63 - 1


def _dimensions(names: Sequence[str]) -> tuple[str, ...]:
    for name in names:
        if name not in DIMENSIONS:
            raise InputError(f"{name[:40]!r} is not one of {', '.join(DIMENSIONS)}", where="by")
    return tuple(dict.fromkeys(names))


def _of_tenant(scope: Scope, tenant: str | None) -> Scope | None:
    """What of a scope a caller may see; None: nothing."""
    if tenant is None:
        return scope
    return replace(scope, tenant=(tenant,)) if not scope.tenant or tenant in scope.tenant else None


def _nothing(windows: Sequence[Window], by: Sequence[str]) -> tuple[Windowed, ...]:
    from otel_toolselect.stats.windowed import windowed

    return windowed({} if by else {(): [{} for _ in windows]}, windows)
