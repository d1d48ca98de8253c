"""From pages of the store to the messages of a stream: what fits its filters, each with its place. No network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from otel_toolselect.model.decisions import Decision
from otel_toolselect.rpc import encoding
from otel_toolselect.rpc.gen import verdict_service_pb2 as pb
from otel_toolselect.rpc.places import Part, Place, key_of
from otel_toolselect.store import Cursor, Kept, Store

PAGE = 1_000
PER_MESSAGE = 200
_ALL = 2**62
"""Rows of an insert that is so old that no more come."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Without suites everything but plain traffic."""

    suites: frozenset[str] = frozenset()
    agents: frozenset[str] = frozenset()
    statuses: frozenset[str] = frozenset()

    def fit(self, decision: Decision) -> bool:
        if decision.suite not in self.suites if self.suites else not decision.suite:
            return False
        if self.agents and (decision.agent or "") not in self.agents:
            return False
        return not self.statuses or decision.status in self.statuses


@dataclass(frozen=True, slots=True)
class Turn:
    """`moved`: something was kept, whether it fits or not. `more`: there is another page already."""

    messages: tuple[pb.StreamVerdictsResponse, ...]
    place: Place
    moved: bool
    more: bool


@dataclass(slots=True)
class Feed:
    """One stream's reading. Not safe for threads; one turn after the other."""

    store: Store
    tenant: str | None
    filters: Filters
    _told: dict[int, set[int]] = field(default_factory=dict)

    def turn(self, place: Place) -> Turn:
        """The next page. Raises StoreError."""
        page = self.store.judged_since(place.cursor, PAGE, tenant=self.tenant)
        self._told = {at: told for at, told in self._told.items() if at > page.cursor.settled_ns}
        messages: list[pb.StreamVerdictsResponse] = []
        at = place
        for kept_ns, group in groupby(page.kept, lambda kept: kept.version):
            rows = sorted(group, key=lambda kept: key_of(kept.decision))
            after = Place(_past(at.cursor, kept_ns, page.cursor), at.part)
            messages += self._messages(rows, at, after)
            at = after
        return Turn(tuple(messages), Place(page.cursor), bool(page.kept), page.more)

    def _messages(self, rows: Sequence[Kept], before: Place, after: Place) -> Iterator[pb.StreamVerdictsResponse]:
        """Of one insert: the last message bears the place after all of it."""
        fresh = [kept for kept in rows if self._is_news(kept, len(rows), before)]
        fitting = [kept for kept in fresh if self.filters.fit(kept.decision)]
        for start in range(0, len(fitting), PER_MESSAGE):
            part = fitting[start : start + PER_MESSAGE]
            message = pb.StreamVerdictsResponse()
            for kept in part:
                suffix = str(Part(kept.version, len(rows), key_of(kept.decision)))
                made = encoding.decision(kept.decision)
                message.verdicts.add(decision=made, kept_unix_nano=kept.version, cursor_suffix=suffix)
            last = start + PER_MESSAGE >= len(fitting)
            here = Part(part[-1].version, len(rows), key_of(part[-1].decision))
            message.cursor = str(after if last else Place(before.cursor, here))
            yield message

    def _is_news(self, kept: Kept, rows: int, place: Place) -> bool:
        key = key_of(kept.decision)
        told = self._told.setdefault(kept.version, set())
        if hash(key) in told:
            return False
        told.add(hash(key))
        return not place.told_of(kept.version, rows, key)


def _past(cursor: Cursor, kept_ns: int, later: Cursor) -> Cursor:
    """The cursor after all of an insert; `later` is the one after the whole page."""
    return Cursor(cursor.settled_ns, {**cursor.seen, kept_ns: later.seen.get(kept_ns, _ALL)})
