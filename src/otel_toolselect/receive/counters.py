"""What a receiver counts of itself; whoever shows metrics reads a snapshot.

The one place where the receiver counts. Reasons are a fixed set, so that no sender can make a metric grow.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from typing import Literal, get_args

from otel_toolselect.telemetry.histogram import Histogram

OTHER = "other"

REFUSALS = (
    "unauthenticated",  # no token, an unknown one, no client certificate
    "forbidden",  # known, but not for this
    "quota",  # over what its token may send
    "not_otlp",  # cannot be decoded
    "unsupported_type",  # content type or content coding
    "too_large",  # a body, before or after inflating
    "too_many",  # spans or records in one request
    "too_deep",  # nesting of values
    "too_slow",  # a body that did not arrive in time
    "too_busy",  # connections, streams or requests at the same time
    "spool_full",
    "spool_broken",  # the disk cannot be written
    "stopping",
    "internal",  # a mistake of ours
    OTHER,
)
"""Why a request as a whole was not taken."""

REJECTIONS = (
    "invalid",  # ids, times or shapes that the protocol does not allow
    "too_many",  # beyond the limit of spans, attributes, events or links
    "too_large",  # a value beyond its limit
    "too_deep",
    "too_old",  # before the retention
    "quota",
    OTHER,
)
"""Why a span or log record was left out of a request that was otherwise kept."""

ALTERATIONS = ("value", "key", "attributes", "events", "links", "clock_skew", "redacted", OTHER)
"""What was done to records that were kept: values and keys cut, lists shortened, marked as of the future, redacted."""

Protocol = Literal["grpc", "http"]
Outcome = Literal["accepted", "refused", "overloaded", "failed"]
"""Of a request: kept; an error of the sender's; "come back later"; an error of ours."""

ACK_BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""The promise is 99 % under 0.05."""
LAG_BOUNDS_S = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0, 7200.0)
"""Usual is the delay of an insert; what is beyond a minute was an outage of the store."""

SENDERS_SHOWN = 50
"""Names of tokens that are told apart; those that come later are counted as "other"."""


# zeros from the start: a rate over a counter that appears with its first event misses that event
_ANSWERS: dict[tuple[Protocol, Outcome], int] = dict.fromkeys(product(get_args(Protocol), get_args(Outcome)), 0)


@dataclass(frozen=True, slots=True)
class ByLabel:
    """Copies of the counts that have labels."""

    answers: Mapping[tuple[Protocol, Outcome], int]
    refusals: Mapping[str, int]
    rejections: Mapping[str, int]
    over_quota: Mapping[str, int]
    """By name of a token."""
    alterations: Mapping[str, int]


@dataclass(slots=True)
class Counters:
    """All only grow. Added to from several threads."""

    requests: int = 0
    refused: int = 0
    """Requests answered with an error that is the sender's."""
    overloaded: int = 0
    """Requests answered with "come back later"."""
    failed: int = 0
    """Requests answered with an error that is ours."""
    spans: int = 0
    logs: int = 0
    rejected: int = 0
    """Spans and log records left out of a request that was otherwise kept."""
    warnings: int = 0
    inserts: int = 0
    insert_failures: int = 0
    replayed: int = 0
    """Requests found in the spool at the start."""
    torn_bytes: int = 0
    """Bytes at the end of spool segments that were no whole record."""
    dead_letters: int = 0
    dead_letters_not_kept: int = 0
    dead_letters_by_age: int = 0
    """Of the dead letters, those that the store did not take for longer than they may wait."""
    delivered_spans: int = 0
    """Spans that the sink took; repeats of a sender count each time."""
    delivered_logs: int = 0
    reload_failures: int = 0
    """Files of tokens or certificates that changed and could not be used; what was read before stays in force."""
    ack_s: Histogram = field(default_factory=lambda: Histogram(ACK_BOUNDS_S), repr=False)
    """From a request that arrived in full to its acknowledgement; kept requests only."""
    lag_s: Histogram = field(default_factory=lambda: Histogram(LAG_BOUNDS_S), repr=False)
    """From acknowledgement to stored, one observation a request."""
    _answers: Counter[tuple[Protocol, Outcome]] = field(default_factory=lambda: Counter(_ANSWERS), repr=False)
    _refusals: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(REFUSALS, 0)), repr=False)
    _rejections: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(REJECTIONS, 0)), repr=False)
    _over_quota: Counter[str] = field(default_factory=Counter, repr=False)
    _alterations: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(ALTERATIONS, 0)), repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, **amounts: int) -> None:
        with self._lock:
            for name, amount in amounts.items():
                setattr(self, name, getattr(self, name) + amount)

    def refuse(self, reason: str, n: int = 1) -> None:
        """Requests that were not taken, by one of REFUSALS; any other word counts as "other".

        Every error that is answered is counted by `Intake.failure`, with the reason that `status.failure_of` gives it:
        call this only for what ends without such an answer (a connection that is cut).
        """
        with self._lock:
            self._refusals[reason if reason in self._refusals else OTHER] += n

    def reject(self, reason: str, n: int = 1) -> None:
        """Spans and log records left out of a request, by one of REJECTIONS; any other word counts as "other".

        It adds to `rejected` too. Everything that the answer's notes tell is counted by `Intake.accept`, by the `kind`
        of its Rejection: call this only for what is left out without a note.
        """
        with self._lock:
            self._rejections[reason if reason in self._rejections else OTHER] += n
            self.rejected += n

    def alter(self, what: str, n: int = 1) -> None:
        """Something in records that were kept, by one of ALTERATIONS; any other word counts as "other"."""
        with self._lock:
            self._alterations[what if what in self._alterations else OTHER] += n

    def over_quota(self, sender: str, n: int = 1) -> None:
        """Requests of a token, by the name that the configuration gives it, that were over its quota."""
        with self._lock:
            known = sender in self._over_quota or len(self._over_quota) < SENDERS_SHOWN
            self._over_quota[sender if known else OTHER] += n

    def answer(self, protocol: Protocol, outcome: Outcome) -> None:
        """One request, answered."""
        with self._lock:
            self._answers[protocol, outcome] += 1

    def snapshot(self) -> dict[str, int]:
        with self._lock:
            return {f.name: getattr(self, f.name) for f in fields(self) if f.type == "int"}

    def by_label(self) -> ByLabel:
        with self._lock:
            return ByLabel(
                dict(self._answers),
                dict(self._refusals),
                dict(self._rejections),
                dict(self._over_quota),
                dict(self._alterations),
            )
