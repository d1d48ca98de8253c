"""Whether the receiver works (liveness) and whether it can take more (readiness), in one word each.

Nothing is remembered that would have to be reset: the words follow from what is so at the moment. Only a disk that
could not be written is tried again here, since nobody sends to a receiver that is not ready.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable
from typing import Literal, Protocol

from otel_toolselect.receive.drain import Drainer
from otel_toolselect.receive.spool import Spool

Readiness = Literal["ready", "spool_full", "spool_broken", "stopping"]
TICK_S = 0.5


class Tell(Protocol):
    def __call__(self, *, ready: bool) -> Awaitable[None]: ...


class Health:
    """Read from the event loop and from scrapes."""

    def __init__(self, spool: Spool, drainer: Drainer) -> None:
        self._spool = spool
        self._drainer = drainer
        self.stopping = False
        self._trying: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        """False when a thread that must run has ended: only a restart helps then."""
        return self.stopping or (self._spool.alive and self._drainer.alive)

    @property
    def readiness(self) -> Readiness:
        if self.stopping:
            return "stopping"
        if self._spool.broken:
            return "spool_broken"
        return "spool_full" if self._spool.full else "ready"

    async def watch(self, tell: Tell) -> None:
        """Says whether the receiver is ready, at the start and whenever that changes. Runs until cancelled."""
        told: bool | None = None
        while True:
            if self._spool.broken and not (self._trying and self._trying.is_alive()):
                # a thread that nothing waits for: a disk that hangs may not hold up the loop, nor a stop
                self._trying = threading.Thread(target=self._spool.try_disk, name="toolselect-try-disk", daemon=True)
                self._trying.start()
            ready = self.readiness == "ready"
            if ready != told:
                await tell(ready=ready)
                told = ready
            await asyncio.sleep(TICK_S)
