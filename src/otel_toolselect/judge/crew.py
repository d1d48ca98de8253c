"""One worker of a crew that shares the judging of one store, without a coordinator (issue F point 9).

Each worker reports to the store every few seconds where it stands. Who reported within `lease_s`, by the store's clock,
is there; the traces are shared among those (`judge.shares`). That no trace is lost rests on no clock: the bookmark of
the crew moves only when every worker that shares says, under the same view, that its share is judged up to there, and
whoever gets a new share begins at the bookmark. That hardly any trace is judged twice rests on clocks: one that joins
holds back, and one that could not report for `lease_s` stops judging, before another takes its share.

Where two do judge the same run, the one that read later wins (`Store.mark`). What was judged while the view changed is
judged once more. What was written is looked at again where a group has traces of another share, or where another worker
told of a trace that is tied to it meanwhile: if other runs stand than were made, or some that were read later, the
group is judged again. Each tells of its traces before it reads what stands of them, so at least one of two sees the
other's.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from functools import reduce

from otel_toolselect.assemble import Bonds
from otel_toolselect.judge.bonding import told
from otel_toolselect.judge.shares import View, acting
from otel_toolselect.store import Cursor, Store
from otel_toolselect.store.crew_api import TraceBonds, Worker

log = logging.getLogger(__name__)
_REMEMBERED_NS = 3_600 * 10**9
"""Bonds that others told of before this worker came, for traces that arrive now."""


class Crew:
    """`beat` is called by one thread, `meet` and the questions by any. `name` "": one that no other process has."""

    def __init__(
        self,
        store: Store,
        crew: str,
        *,
        lease_s: float = 15.0,
        name: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._crew = crew
        self._lease_s = lease_s
        self._clock = clock
        self.name = name or f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._joined_ns = 0
        self._held_until = float("-inf")
        self._known: dict[str, int] = {}
        self._meeting = threading.Lock()
        self._since_ns = 0
        self.view = View()
        self.changes = 0

    @property
    def held(self) -> bool:
        """Whether the others count on this worker, as far as it knows."""
        return self._clock() < self._held_until

    @property
    def acts(self) -> bool:
        """Whether this worker may judge now."""
        return self.name in self.view.names and self.held

    def owns(self, trace_id: str) -> bool:
        return self.view.owner(trace_id) == self.name

    # reporting

    def beat(self, place: Cursor) -> bool:
        """Report, and see who else is there; `place`: everything of this worker's share is judged before. Whether the
        view changed: then the share has to be taken up at `bookmark`. Raises StoreError.
        """
        began = self._clock()
        crews, old = self._store.crews, self.view
        if began >= self._held_until:  # a beginner, or one that the others have given up
            self.view = View()
            self._joined_ns = crews.now()
        crews.report(self._crew, Worker(self.name, self._joined_ns, self.view.key, str(place)))
        present = crews.present(self._crew, self._lease_s)
        self.view = acting(present, crews.now(), round(self._lease_s * 1e9))
        self._held_until = began + self._lease_s
        if self.view != old:
            self.changes += 1
            log.info("%d workers share the judging", len(self.view.names))
            return True
        self._advance(present)
        return False

    def leave(self) -> None:
        """Others take the share over at once. Raises StoreError."""
        self._store.crews.leave(self._crew, self.name)
        self._held_until = float("-inf")

    @property
    def _bookmark(self) -> str:
        return f"judged/{self._crew}"

    def bookmark(self) -> Cursor | None:
        """Everything that arrived before is judged; None: nothing was ever."""
        found = self._store.bookmark(self._bookmark)
        return None if found is None else Cursor.parse(found)

    def begin_at(self, place: Cursor) -> None:
        """For a crew that never began."""
        self._store.set_bookmark(self._bookmark, str(place))

    def _advance(self, present: tuple[Worker, ...]) -> None:
        """The first of those that share moves the bookmark once all of them share alike."""
        sharing = [w for w in present if w.name in self.view.names]
        if not sharing or sharing[0].name != self.name or any(w.view != self.view.key for w in sharing):
            return
        reached = reduce(Cursor.meet, (Cursor.parse(w.place) for w in sharing))
        if reached != self.bookmark():
            self._store.set_bookmark(self._bookmark, str(reached))

    # ties across shares

    def meet(self, bonds: Mapping[str, Bonds]) -> tuple[int, list[TraceBonds]]:
        """Tell the others what these traces offer and want; the mark for what is judged now, and what they told. Of two
        workers that tell at once at least one hears of the other, and that one has the later mark.
        """
        with self._meeting:
            crews = self._store.crews
            number = self._store.mark()
            self._since_ns = self._since_ns or number - _REMEMBERED_NS
            crews.publish(self._crew, self.name, number, [told(trace_id, own) for trace_id, own in bonds.items()])
            self._known[self.name] = max(number, self._known.get(self.name, 0))
            mark = self._store.mark()
            return mark, self._hear()

    def hear(self) -> list[TraceBonds]:
        """What others told since."""
        with self._meeting:
            return self._hear()

    def _hear(self) -> list[TraceBonds]:
        self._known, others = self._store.crews.published(self._crew, self._known, self._since_ns)
        return others
