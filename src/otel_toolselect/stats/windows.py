"""Windows over event time: tumbling and sliding, days and weeks in a named time zone (design section 10).

A window is [start, end). Starts lie on the grid of the slide; with a slide equal to the size windows tumble, with a
smaller one they overlap.

- Seconds, minutes and hours are counted from the epoch in UTC: an hour of a zone with a half-hour offset begins at :30.
- Days begin at local midnight, weeks on Monday; several of them are grouped from Monday, 0001-01-01 on. A day has 23 or
  25 hours when the clocks change. Midnight that the clocks skip is the instant of the change, one that comes twice is
  the first. A date that a zone never had is no window.

A window is closed once the watermark, the time up to which data are taken to be there, has reached its end:
now - lateness. Data that come later correct it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from otel_toolselect.model.alerting import SECOND_NS, Span, Window, WindowSpec

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MONDAY = datetime(1, 1, 1)  # noqa: DTZ001  a date of the calendar, in no zone yet
_LAST_DAY = datetime(9999, 12, 31)  # noqa: DTZ001


def zone_named(name: str) -> tzinfo:
    """Raises ValueError on a zone that the time zone database does not have. UTC needs no database."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"no time zone is called {name!r}") from error


@dataclass(frozen=True, slots=True)
class Grid:
    """Numbered boundaries, `count` units apart."""

    span: Span
    zone: str = "UTC"

    def boundary(self, index: int) -> int:
        """Never falls as the index grows; equal neighbours enclose a date that the zone skipped."""
        if not self.span.calendar:
            return index * self.span.ns
        return _midnight(index * self.span.days, self.zone)

    def index(self, time_ns: int) -> int:
        """The last boundary that is not after the time."""
        if not self.span.calendar:
            return time_ns // self.span.ns
        local = datetime.fromtimestamp(time_ns // SECOND_NS, zone_named(self.zone))
        index = (local.toordinal() - 1) // self.span.days
        # where midnight is skipped or comes twice, the date on the wall may be ahead of the boundary or behind it
        while self.boundary(index) > time_ns:
            index -= 1
        while self.boundary(index + 1) <= time_ns:
            index += 1
        return index


@lru_cache(maxsize=4096)
def _midnight(day: int, zone: str) -> int:
    """The instant at which a day begins, counted from the first Monday."""
    wall = min(_FIRST_MONDAY + timedelta(days=day), _LAST_DAY)
    begins = wall.replace(tzinfo=zone_named(zone))
    return (begins.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1) * 1000


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a specification. Raises ValueError on one that cannot be cut, or an unknown zone."""

    spec: WindowSpec

    def __post_init__(self) -> None:
        if self.spec.problem is not None:
            raise ValueError(self.spec.problem)
        zone_named(self.spec.zone)

    @property
    def grid(self) -> Grid:
        return Grid(self.spec.slide, self.spec.zone)

    def containing(self, time_ns: int) -> tuple[Window, ...]:
        """Every window that holds a time, earliest first: one when windows tumble."""
        found: list[Window] = []
        index = self.grid.index(time_ns)
        while True:
            window = self._starting(index)
            if window.end_ns <= time_ns:
                return tuple(reversed(found))
            if self._counts(index):
                found.append(window)
            index -= 1

    def closed(self, after_ns: int, now_ns: int) -> Iterator[Window]:
        """The windows that end after `after_ns` and are closed at `now_ns`, in order of their end."""
        watermark = now_ns - self.spec.lateness_ns
        if watermark <= after_ns:
            return
        first = self.containing(after_ns)[0]
        index = self.grid.index(first.start_ns)
        while (window := self._starting(index)).end_ns <= watermark:
            if window.end_ns > after_ns and self._counts(index):
                yield window
            index += 1

    def boundaries(self, start_ns: int, end_ns: int) -> Iterator[int]:
        """The starts of windows in [start_ns, end_ns), in order."""
        grid = self.grid
        index = grid.index(start_ns)
        if grid.boundary(index) < start_ns:
            index += 1
        before = None
        while (boundary := grid.boundary(index)) < end_ns:
            if boundary != before:
                yield boundary
            before = boundary
            index += 1

    def back(self, window: Window, period: Span | None = None) -> Window:
        """The window that lies a period (without one: its own size) before: the same hours of an earlier day where the
        period is of days, whatever the clocks did between.
        """
        period = period or self.spec.size
        return Window(self._shifted(window.start_ns, period), self._shifted(window.end_ns, period))

    def _starting(self, index: int) -> Window:
        start = self.grid.boundary(index)
        if not self.spec.size.calendar:
            return Window(start, start + self.spec.size.ns)
        return Window(start, _midnight(index * self.spec.slide.days + self.spec.size.days, self.spec.zone))

    def _counts(self, index: int) -> bool:
        """Not where a date was skipped: no window begins on it, and of two that end together the longer one stands, so
        that a window is known by its start and by its end.
        """
        if not self.spec.size.calendar:
            return True
        window = self._starting(index)
        skipped = window.start_ns == self.grid.boundary(index + 1)
        return not skipped and window.end_ns != self._starting(index - 1).end_ns

    def _shifted(self, time_ns: int, period: Span) -> int:
        if not period.calendar:
            return time_ns - period.ns
        local = datetime.fromtimestamp(time_ns // SECOND_NS, zone_named(self.spec.zone))
        earlier = local - timedelta(days=period.days)  # of the wall clock, as arithmetic within one zone is
        seconds = (earlier.astimezone(UTC) - _EPOCH) // timedelta(seconds=1)
        return seconds * SECOND_NS + time_ns % SECOND_NS
