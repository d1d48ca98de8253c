"""What a store promises to workers that share the judging of it (issue F point 9). Their clock is the store's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker says of itself. `joined_ns`: since when it has reported without a gap. `view`: the workers among
    which it shares. `place`: text of a cursor, before which everything of its share is judged.
    """

    name: str
    joined_ns: int
    view: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class TraceBonds:
    """What a trace offers and wants (`assemble.Bonds`), as hashes of 64 bits."""

    trace_id: str
    offers: tuple[int, ...] = ()
    wants: tuple[int, ...] = ()


class Crews(Protocol):
    """The part of a `Store` that serves workers: `Store.crews`. Every method may raise `StoreError`."""

    def now(self) -> int:
        """The store's clock, in nanoseconds since the epoch."""
        ...

    def report(self, crew: str, worker: Worker) -> None:
        """Keep what a worker says; it replaces what it said before. Every reader sees it on return."""
        ...

    def leave(self, crew: str, name: str) -> None:
        """The worker is gone, at once; it may report again."""
        ...

    def present(self, crew: str, within_s: float) -> tuple[Worker, ...]:
        """Workers that reported within so many seconds and did not leave, in order of name."""
        ...

    def publish(self, crew: str, name: str, number: int, bonds: Sequence[TraceBonds]) -> None:
        """Tell the others of a crew of these traces; they see it on return. `number` grows from call to call."""
        ...

    def runs(self, trace_ids: Sequence[str]) -> Mapping[str, int]:
        """The runs that stand of these traces, each with the mark or time of its writing."""
        ...

    def published(self, crew: str, known: Mapping[str, int], since_ns: int) -> tuple[dict[str, int], list[TraceBonds]]:
        """What was told after the known number of each worker, of the others after `since_ns`; and the numbers now."""
        ...
