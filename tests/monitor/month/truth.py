"""What must be told of a month, worked out from the plain decisions with numpy, pandas and scipy, without the product's
store, windows, statistics and states. docs/alerts.md is where the rules come from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from tests.monitor.month.plan import DAYS, MINUTE, ZONE, Plan, at
from tests.monitor.month.traffic import Arrival

Kind: TypeAlias = Literal["breach", "good", "held", "empty"]
Series: TypeAlias = tuple[tuple[str, str], ...]
CORRECTABLE = 96
LATENESS = 5 * MINUTE
NEVER = 2**63 - 1


class Told(NamedTuple):
    """A notification: `at_ns` the end of the window that it is about, `round_ns` when it went out."""

    alert: str
    series: Series
    kind: str
    at_ns: int
    round_ns: int
    late: bool
    numerator: int | None
    n: int


class Seen(NamedTuple):
    kind: Kind
    numerator: int | None
    n: int


Rows: TypeAlias = Any
"""A record array of numpy in order of `start`; its columns are those of `table`."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known at a time."""

    rows: Rows
    now_ns: int

    def between(self, start: int, end: int) -> Rows:
        first, last = np.searchsorted(self.rows.start, [start, end])
        found = self.rows[first:last]
        return found[(found.came <= self.now_ns) & (self.now_ns < found.gone)]


Measure: TypeAlias = Callable[[Known, int, int], dict[Series, Seen]]
"""(what is known, start, end of a window) -> what each series shows."""


@dataclass(frozen=True, slots=True)
class Watch:
    """One alert as this module understands it."""

    alert: str
    windows: Sequence[tuple[int, int]]
    measure: Measure
    for_ns: int = 0
    keep_ns: int = 0
    no_data_ns: int | None = None


def table(arrivals: Sequence[Arrival]) -> Rows:
    """A row per decision and version of it, valid in [came, gone); one that comes again unchanged is there already."""
    rows: dict[str, list[dict[str, object]]] = {}
    for arrival in arrivals:
        for d in arrival.decisions:
            versions = rows.setdefault(d.run_id, [])
            if versions and not arrival.again:
                continue
            if versions:
                versions[-1]["gone"] = arrival.at_ns
            cell = d.cells[0] if d.cells else None
            versions.append({
                "came": arrival.at_ns, "gone": NEVER, "start": d.start_ns, "agent": d.agent, "model": d.model,
                "expected": cell.expected if cell else "", "observed": cell.observed if cell else "",
                "first": d.first_action, "judged": d.excluded is None, "passed": d.status == "pass",
                "infra": d.excluded == "infra", "cost": d.cost_usd, "forbidden": len(d.forbidden),
            })  # fmt: skip
    made = pd.DataFrame([row for versions in rows.values() for row in versions]).sort_values("start")
    texts = dict.fromkeys(("agent", "model", "expected", "observed", "first"), "U24")
    return made.to_records(index=False, column_dtypes=texts)


def hours(size: int, slide: int) -> list[tuple[int, int]]:
    """Windows on the hours of UTC that end in the month; the first began before it where windows overlap."""
    ends = range((at(1) // slide + 1) * slide, at(DAYS + 1) + 1, slide)
    return [(end - size, end) for end in ends]


def days(count: int = 1) -> list[tuple[int, int]]:
    edges = pd.date_range("2026-10-12", periods=DAYS + 1, freq="D", tz=ZONE)[::count]
    whole = [int(edge.value) for edge in edges]
    return list(pairwise(whole))


def rounds_of(plan: Plan, every_ns: int) -> list[int]:
    return [*range(plan.begin_ns + every_ns + 10 * MINUTE, plan.end_ns, every_ns), plan.end_ns + 10 * MINUTE]


@dataclass(slots=True)
class _Course:
    """Of one series: the rules of docs/alerts.md, states."""

    watch: Watch
    firing: bool = False
    bad_since: int | None = None
    good_since: int | None = None
    gap_since: int | None = None
    silent: bool = False

    def step(self, kind: Kind, start: int, end: int) -> Iterator[str]:
        yield from self._data(kind, start, end)
        if kind == "breach":
            self.good_since = None
            if not self.firing:
                self.bad_since = end if self.bad_since is None else self.bad_since
                if end - self.bad_since >= self.watch.for_ns:
                    self.firing, self.bad_since = True, None
                    yield "fire"
        if kind == "good":
            self.bad_since = None
            if self.firing:
                self.good_since = end if self.good_since is None else self.good_since
                if end - self.good_since >= self.watch.keep_ns:
                    self.firing, self.good_since = False, None
                    yield "resolve"

    def _data(self, kind: Kind, start: int, end: int) -> Iterator[str]:
        if kind != "empty":
            if self.silent:
                yield "data_back"
            self.gap_since, self.silent = None, False
            return
        self.gap_since = start if self.gap_since is None else self.gap_since
        limit = self.watch.no_data_ns
        if limit is not None and not self.silent and end - self.gap_since >= limit:
            self.silent, self.bad_since, self.good_since = True, None, None
            yield "no_data"


@dataclass(slots=True)
class _Series:
    """One series of one alert through the month. `seen`: windows decided, `raised`: whether it fired then, as told."""

    watch: Watch
    name: Series
    course: _Course
    seen: list[tuple[int, int, Seen]] = field(default_factory=list)
    raised: list[bool] = field(default_factory=list)

    def decide(self, start: int, end: int, seen: Seen, now: int) -> Iterator[Told]:
        for kind in self.course.step(seen.kind, start, end):
            yield Told(self.watch.alert, self.name, kind, end, now, False, seen.numerator, seen.n)
        self.seen.append((start, end, seen))
        self.raised.append(self.course.firing)

    def correct(self, corrected: dict[int, Seen], now: int) -> Iterator[Told]:
        """Late data tell what was missed, once; they end a gap, and resolve nothing."""
        self.seen = [(start, end, corrected.get(end, seen)) for start, end, seen in self.seen]
        walk, stretches, before = _Course(self.watch), list[list[int]](), False
        for i, (start, end, seen) in enumerate(self.seen):
            list(walk.step(seen.kind, start, end))
            if walk.firing and not before:
                stretches.append([])
            if walk.firing:
                stretches[-1].append(i)
            before = walk.firing
        if self.course.silent and not walk.silent:
            _, end, seen = self.seen[-1]
            yield Told(self.watch.alert, self.name, "data_back", end, now, True, seen.numerator, seen.n)
        missed = [s for s in stretches if not any(self.raised[i] for i in s)]
        silent = self.course.silent and walk.silent
        was_firing = self.course.firing
        if not was_firing and not walk.firing:
            self.course = replace(walk)
        self.course.silent, self.course.gap_since = silent, walk.gap_since
        for i in (i for stretch in missed for i in stretch):
            self.raised[i] = True
        if missed and not was_firing:
            _, end, seen = self.seen[missed[-1][0]]
            self.course.firing, self.course.bad_since, self.course.good_since = True, None, None
            yield Told(self.watch.alert, self.name, "fire", end, now, True, seen.numerator, seen.n)


def told(watch: Watch, rows: Rows, rounds: Sequence[int]) -> list[Told]:
    """All notifications of an alert in order, if somebody looks at these times."""
    found: list[Told] = []
    series: dict[Series, _Series] = {}
    before, decided = 0, 0
    for now in rounds:
        known = Known(rows, now)
        done = watch.windows[:decided]
        fresh = [w for w in watch.windows[decided:] if w[1] + LATENESS <= now]
        came = rows.start[((rows.came > before) & (rows.came <= now)) | ((rows.gone > before) & (rows.gone <= now))]
        again = [w for w in done[-CORRECTABLE:] if ((came >= w[0]) & (came < w[1])).any()]
        corrections = {w: watch.measure(known, *w) for w in again}
        for one in series.values():
            mended = {end: by.get(one.name, _nothing(by)) for (_, end), by in corrections.items()}
            found += one.correct(mended, now) if mended else ()
        for start, end in fresh:
            by = watch.measure(known, start, end)
            for name in by:
                series.setdefault(name, _Series(watch, name, _Course(watch)))
            for name, one in series.items():
                found += one.decide(start, end, by.get(name, _nothing(by)), now)
        before, decided = now, decided + len(fresh)
    return found


def final(rows: Rows) -> Rows:
    """The month as it stands at its end, as if everything had come in time and right at once."""
    stands = rows[rows.gone == NEVER]
    stands.came = 0
    return stands


def _nothing(by: dict[Series, Seen]) -> Seen:
    return Seen("empty", 0, 0)
