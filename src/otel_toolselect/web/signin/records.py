"""Sign-ins in the audit log. Failures are kept too, though not all of a flood: an attack must not fill the store."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool

from otel_toolselect.app.audit import Origin, note
from otel_toolselect.errors import StoreError
from otel_toolselect.web.person import Person
from otel_toolselect.web.site import Site

log = logging.getLogger(__name__)
KEPT_PER_MINUTE = 20
STRANGER = "somebody"


class Records:
    """Called on the event loop; the store is asked in a thread."""

    def __init__(self, site: Site, clock: Callable[[], float] = time.monotonic) -> None:
        self._site = site
        self._clock = clock
        self._minute = 0.0
        self._kept = 0
        self._left_out = 0

    async def signed_in(self, address: str, who: Person) -> None:
        """Raises StoreError: nobody signs in unseen."""
        await self._note(address, who, "sign-in", {"role": who.role})

    async def signed_out(self, address: str, who: Person) -> None:
        try:
            await self._note(address, who, "sign-out", {})
        except StoreError:  # whoever wants to go is not held back
            log.warning("a sign-out could not be kept in the audit log")

    async def refused(self, address: str, why: str, who: Person | None = None) -> None:
        """A sign-in that failed."""
        log.warning("a sign-in failed: %s", why, extra={"address": address, "actor": who.name if who else STRANGER})
        now = self._clock()
        if now - self._minute >= 60:
            self._minute, self._kept = now, 0
        if self._kept >= KEPT_PER_MINUTE:
            self._left_out += 1
            return
        self._kept += 1
        detail: dict[str, object] = {"why": why}
        if self._left_out:
            detail["left_out_before"], self._left_out = self._left_out, 0
        try:
            await self._note(address, who, "sign-in refused", detail)
        except StoreError:
            log.warning("a failed sign-in could not be kept in the audit log")

    async def _note(self, address: str, who: Person | None, action: str, detail: dict[str, object]) -> None:
        if who is None:
            origin = Origin(STRANGER, "", address)
        else:
            origin = Origin(who.name, who.via, address, who.tenant)
        await run_in_threadpool(note, self._site.store, origin, [("", action, "", detail)])
