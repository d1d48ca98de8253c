"""What a store promises to a monitor of alerts (issue F points 1, 5; design sections 9 and 10). See `api` for the rest.

States come and go as texts: what is in them is the monitor's business.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from otel_toolselect.model.alerting import Observed, Query, Series, Silence, Window

Outcome: TypeAlias = Literal["delivered", "dead", "silenced", "unrouted"]
OUTCOMES: tuple[Outcome, ...] = ("delivered", "dead", "silenced", "unrouted")


@dataclass(frozen=True, slots=True)
class AlertRecord:
    """One series of one alert. `record` is the whole state; the rest repeats parts of it for readers of the table."""

    alert: str
    series: str
    record: str
    state: str = "inactive"
    since_ns: int = 0
    through_ns: int = 0
    says: str = ""


@dataclass(frozen=True, slots=True)
class Sending:
    """What became of one notification at one receiver ("" where it went to none). `at_ns`: of the notification;
    `settled_ns`: when this was known. `record`: the notification as JSON.
    """

    key: str
    receiver: str
    outcome: Outcome
    alert: str
    kind: str
    at_ns: int
    settled_ns: int
    record: str
    says: str = ""
    attempts: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class Touched:
    """Event times, as [start, end), of decisions that were written after a version: a time of writing, by the store's
    clock. `version`: the newest there is.
    """

    spans: tuple[tuple[int, int], ...]
    version: int


@dataclass(frozen=True, slots=True)
class Sighting:
    """When a combination of what makes a release (model, prompt, catalog, label) was first seen, in event time."""

    model: str
    prompt: str
    catalog: str
    label: str
    first_ns: int
    n: int


class Alerts(Protocol):
    """The part of a `Store` that serves alerts: `Store.alerts`. Every method may raise `StoreError`."""

    def records(self) -> tuple[AlertRecord, ...]:
        """The states as written last, in order of (alert, series). Who wrote it before does not matter: what is written
        from here on replaces it, whatever the clocks of other machines say.
        """
        ...

    def write_records(self, records: Sequence[AlertRecord]) -> None:
        """Keep states, each in one piece; on disk and visible on return. They replace those of the same key."""
        ...

    def silences(self) -> tuple[Silence, ...]:
        """All silences in order of id, ended ones too."""
        ...

    def write_silence(self, silence: Silence) -> None:
        """Keep a silence; it replaces the one of its id."""
        ...

    def add_sendings(self, sendings: Iterable[Sending]) -> None:
        """Keep what became of notifications; of one key and receiver what was said last counts."""
        ...

    def sendings(
        self,
        *,
        since_ns: int | None = None,
        until_ns: int | None = None,
        alert: str | None = None,
        outcome: Outcome | None = None,
        limit: int = 1000,
    ) -> tuple[Sending, ...]:
        """The latest by `at_ns`, newest first."""
        ...

    def settled(self, keys: Collection[str]) -> frozenset[tuple[str, str]]:
        """(key, receiver) of those notifications that were delivered or given up."""
        ...

    def claim(self, name: str, owner: str, seconds: float) -> bool:
        """Ask for a lease, or for more time: whether the owner holds it for so long from now on, by the store's clock.
        Of several owners the one that has asked without a gap for longest holds it.
        """
        ...

    def release(self, name: str, owner: str) -> None:
        """Give a lease back at once. One that is not held is none."""
        ...

    def touched(self, after_version: int | None, *, since_ns: int) -> Touched:
        """Which event times from `since_ns` on decisions were written for after a version; None: only the newest
        version. Hours are whole where a decision was withdrawn.
        """
        ...

    def sightings(self, query: Query, *, since_ns: int, until_ns: int) -> Mapping[Series, tuple[Sighting, ...]]:
        """By the query's `by` without the tool: what was seen in its scope, in order of `first_ns`."""
        ...

    def lag(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Observed, ...]]:
        """Of `ingest_lag_p95`: seconds from the end of a span to its being stored, over windows of when it was stored.
        Without a value where a table does not say when. InputError for anything but services in scope or `by`.
        """
        ...
