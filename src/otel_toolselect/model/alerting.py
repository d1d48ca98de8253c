"""Alerts: their definition, what is observed for them, their state, what is sent (R48, R53; design section 10).

Times are UTC nanoseconds; durations in nanoseconds end in `_ns`. All of it is frozen and can be written as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Literal, TypeAlias

SpanUnit: TypeAlias = Literal["s", "m", "h", "d", "w"]
Against: TypeAlias = Literal["baseline", "release", "previous"]
Track: TypeAlias = Literal["inactive", "pending", "firing", "resolved"]
StateWord: TypeAlias = Literal["inactive", "pending", "firing", "resolved", "no_data"]
NotificationKind: TypeAlias = Literal["fire", "resolve", "no_data", "data_back"]
Series: TypeAlias = tuple[tuple[str, str], ...]
"""The values of an alert's `by`, as (name, value) in the order of `by`; () for an alert without `by`."""

SECOND_NS = 1_000_000_000
UNIT_NS: Mapping[str, int] = {
    "s": SECOND_NS,
    "m": 60 * SECOND_NS,
    "h": 3_600 * SECOND_NS,
    "d": 86_400 * SECOND_NS,
    "w": 604_800 * SECOND_NS,
}
DIMENSIONS = ("suite", "policy", "tool", "agent", "service", "model", "prompt", "catalog", "tenant", "origin")
SEVERITIES = ("info", "warning", "critical")
AGAINST: tuple[Against, ...] = ("baseline", "release", "previous")


@dataclass(frozen=True, slots=True)
class Span:
    """A length as people write it: 5m, 1h, 1d. Days and weeks are those of a calendar where a time zone cuts them."""

    count: int
    unit: SpanUnit

    @property
    def calendar(self) -> bool:
        return self.unit in ("d", "w")

    @property
    def days(self) -> int:
        return self.count * (7 if self.unit == "w" else 1)

    @property
    def ns(self) -> int:
        """The nominal length: a day as 24 hours."""
        return self.count * UNIT_NS[self.unit]

    def __str__(self) -> str:
        return f"{self.count}{self.unit}"


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """How event time is cut. `slide` equal to `size`: tumbling. A window is closed `lateness_ns` after its end."""

    size: Span
    slide: Span
    zone: str = "UTC"
    lateness_ns: int = 0

    @property
    def problem(self) -> str | None:
        """Why windows cannot be cut like this, None when they can."""
        if self.size.calendar != self.slide.calendar:
            return "days and weeks slide by days or weeks, hours and less by hours or less"
        if self.slide.ns > self.size.ns:
            return "a slide longer than the window would leave out what lies between two windows"
        return None


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """[start_ns, end_ns) in event time."""

    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Limit:
    """Breached strictly above, or strictly below."""

    side: Literal["above", "below"]
    value: float


@dataclass(frozen=True, slots=True)
class Change:
    """Breached when the value moved by `least` or more in `direction`, and by more than chance does.

    Of a ratio `least` is in points of share (0.05: from 90 % to 85 %), of a count or quantile it is relative (0.5: by
    half). `significance` bounds the two-sided p-value; None for quantiles, of which only the size of a change is known.
    `period`: with `previous`, how far back the compared window lies.
    """

    against: Against
    direction: Literal["drop", "rise"]
    least: float
    significance: float | None = 0.01
    period: Span | None = None


@dataclass(frozen=True, slots=True)
class Drift:
    """For signals of kind `test`: breached when effect >= `effect` and p < `significance`."""

    against: Against
    effect: float
    significance: float = 0.01
    period: Span | None = None


Condition: TypeAlias = Limit | Change | Drift


@dataclass(frozen=True, slots=True)
class Scope:
    """What an alert is about; an empty tuple does not limit. `pair`: (expected, observed). `origin`: who said what was
    expected (`model.decisions.Origin`).
    """

    suite: tuple[str, ...] = ()
    policy: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    service: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    prompt: tuple[str, ...] = ()
    catalog: tuple[str, ...] = ()
    tenant: tuple[str, ...] = ()
    origin: tuple[str, ...] = ()
    pair: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What a source is asked for. `least`: observations a tool needs to compete in `worst_recall`."""

    signal: str
    of: Scope = field(default_factory=Scope)
    by: tuple[str, ...] = ()
    against: Against | None = None
    period: Span | None = None
    least: int = 0


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert. `min_count` observations are needed to decide; `no_data_after_ns` None: gaps are nobody's business."""

    id: str
    signal: str
    window: WindowSpec
    condition: Condition
    of: Scope = field(default_factory=Scope)
    by: tuple[str, ...] = ()
    min_count: int = 0
    no_data_after_ns: int | None = None
    for_ns: int = 0
    keep_firing_ns: int = 0
    severity: str = "warning"
    owner: str | None = None
    runbook: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    line: int = 0

    @property
    def query(self) -> Query:
        reference = None if isinstance(self.condition, Limit) else self.condition
        return Query(
            self.signal,
            self.of,
            self.by,
            reference.against if reference else None,
            reference.period if reference else None,
            self.min_count,
        )


@dataclass(frozen=True, slots=True)
class AlertFile:
    name: str
    alerts: tuple[Alert, ...]
    version: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a value is compared with; `name` says which baseline, release or window. `length`: of counts, the window's
    length in units of the reference's.
    """

    value: float | None
    n: int
    numerator: int | None = None
    name: str = ""
    length: float = 1.0


@dataclass(frozen=True, slots=True)
class Observed:
    """One window of one series. `value` None: undefined, for want of observations. Raises ValueError on NaN and
    infinity, which are no values and must not get any further.

    `n`: the denominator (ratio), the number of values (quantile), of observations on the window's side (test). `p`: of
    a test. `detail`: evidence for people, already in words.
    """

    start_ns: int
    end_ns: int
    value: float | None
    n: int
    numerator: int | None = None
    reference: Reference | None = None
    p: float | None = None
    detail: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for number in (self.value, self.p, self.reference.value if self.reference else None):
            if number is not None and not isfinite(number):
                raise ValueError(f"{number} is no observation: a figure without observations is None")


@dataclass(frozen=True, slots=True)
class Course:
    """Where an alert stands, on two tracks that do not disturb each other: is its condition met, and are there data?

    `since_ns`: since when `track` holds. `pending_since_ns`, `good_since_ns`: when breach, or recovery while firing,
    began. `empty_since_ns`: start of the first of the empty windows that lead up to now. `silent`: no data, announced.
    """

    track: Track = "inactive"
    since_ns: int = 0
    pending_since_ns: int | None = None
    good_since_ns: int | None = None
    empty_since_ns: int | None = None
    silent: bool = False

    @property
    def word(self) -> StateWord:
        return "no_data" if self.silent else self.track


@dataclass(frozen=True, slots=True)
class Notification:
    """One change to tell, with all that a notifier needs. The same `key` means the same message: a receiver may drop
    the second. `at_ns`: end of the window that decided. `since_ns`: since when the alert fires, or data are missing.
    `value` None is shown as n/a. `labels`: all by which the series is known, those of `series` among them. `late`: the
    window was closed before these data came. `silenced_by`: a silence held it back.
    """

    key: str
    alert: str
    series: Series
    change: int
    kind: NotificationKind
    at_ns: int
    since_ns: int
    start_ns: int
    end_ns: int
    signal: str
    unit: str
    value: float | None
    numerator: int | None
    n: int
    says: str
    severity: str = "warning"
    owner: str | None = None
    runbook: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    detail: tuple[str, ...] = ()
    late: bool = False
    silenced_by: str | None = None


@dataclass(frozen=True, slots=True)
class Seen:
    """A window that was decided on, kept so that late data can correct it. `raised`: the alert fired then, as told."""

    observed: Observed
    raised: bool = False


@dataclass(frozen=True, slots=True)
class AlertState:
    """The whole memory of one series of one alert: stored in one piece, together with what is still to be sent.

    `recent`: the last windows, oldest first; `base`: the course before them as the data have it. `changes` counts the
    notifications ever made, so a state is kept for good: numbering from 1 again would make old keys new. `said`: what
    came of the latest window. `fire`, `gap`: what was made when the alert began to fire, or its data to miss, while
    that lasts. `told_*`: what receivers believe once the outbox is empty. `withheld`: silenced, in order.
    """

    alert: str
    series: Series = ()
    definition: str = ""
    course: Course = field(default_factory=Course)
    base: Course = field(default_factory=Course)
    recent: tuple[Seen, ...] = ()
    through_ns: int = 0
    changes: int = 0
    said: str = ""
    fire: Notification | None = None
    gap: Notification | None = None
    told_firing: bool = False
    told_silent: bool = False
    outbox: tuple[Notification, ...] = ()
    withheld: tuple[Notification, ...] = ()

    @property
    def word(self) -> StateWord:
        return self.course.word

    @property
    def last(self) -> Observed | None:
        """The latest window, as corrected."""
        return self.recent[-1].observed if self.recent else None


@dataclass(frozen=True, slots=True)
class Matcher:
    """`name` is a label of the alert (see `monitor.alerts.silences`); `pattern`: RE2, found in the value."""

    name: str
    equals: str | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """Holds back notifications of alerts that all matchers fit, in [from_ns, until_ns)."""

    id: str
    matchers: tuple[Matcher, ...]
    from_ns: int
    until_ns: int
    by: str
    comment: str = ""
