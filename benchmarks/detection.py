"""How long alerts take to fire, and how often they fire for nothing: alerts as they are written, evaluated as the
monitor does (`monitor.alerts`), on figures that are drawn instead of stored.

Each month draws how often something was expected in each hour (Poisson, a rhythm of day and week) and how often it
failed (binomial). A change begins at a random hour of the first day. All alerts of one month see the same figures. A
week that nobody watches lies before it, for windows to reach back to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import pi, sin
from typing import Any

import numpy as np

from otel_toolselect.model.alerting import Alert, Observed, Query, Reference, Series, Window
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.monitor.alerts import evaluate
from otel_toolselect.rules.alertfiles import parse_alerts
from otel_toolselect.stats.windows import Windows

HOUR_NS = 3_600 * 10**9
DAY_NS = 24 * HOUR_NS
BEGIN_NS = 1_791_158_400 * 10**9
"""A Monday, midnight in UTC: when somebody begins to watch."""
LEAD_DAYS = 7
WATCHED_DAYS, QUIET_DAYS = 7, 30
BASELINE_DAYS = 7
_DAYTIME = [0.1 + max(0.0, sin(pi * (hour - 6) / 16)) * (6 <= hour <= 22) for hour in range(24)]
_WEEK = np.array([w * (0.6 if day >= 5 else 1.0) for day in range(7) for w in _DAYTIME])
RHYTHM = _WEEK / _WEEK.mean() / 24
"""Share of a mean day that falls into each hour of the week."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An alert, as YAML, and what it is called in a table."""

    name: str
    alert: str

    def parse(self) -> Alert:
        (found,) = parse_alerts(f"alerts: drawn\nlist:\n  - {{id: a, {self.alert}}}\n", path="drawn.yaml").alerts
        return found


@dataclass(frozen=True, slots=True)
class Case:
    """A share of `per_day` observations that is `usual` and becomes `changed`. Of drops: of successes."""

    per_day: int
    usual: float
    changed: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """Figures by hour; a `Source` by brute force. `n`, `hits`: running sums from the lead on, one more than hours."""

    n: Any
    hits: Any
    reference: Reference

    def observe(self, query: Query, windows: Sequence[Window]) -> Mapping[Series, tuple[Observed, ...]]:
        return {(): tuple(self._one(query, window) for window in windows)}

    def _one(self, query: Query, window: Window) -> Observed:
        first, last = ((t - BEGIN_NS) // HOUR_NS + LEAD_DAYS * 24 for t in (window.start_ns, window.end_ns))
        n, hits = (int(sums[last] - sums[first]) for sums in (self.n, self.hits))
        reference = self.reference if query.against else None
        if SIGNALS[query.signal].empty_is_zero:
            return Observed(window.start_ns, window.end_ns, float(hits), n, hits)
        return Observed(window.start_ns, window.end_ns, hits / n if n else None, n, hits, reference)


def drawn(case: Case, days: int, random: np.random.Generator, change_hour: int | None) -> Drawn:
    """The share changes at the beginning of `change_hour` of the watched days; never when that is None."""
    rates = np.resize(RHYTHM, (LEAD_DAYS + days) * 24) * case.per_day
    n = random.poisson(rates)
    shares = np.full(len(n), case.usual)
    if change_hour is not None:
        shares[LEAD_DAYS * 24 + change_hour :] = case.changed
    hits = random.binomial(n, shares)
    base = random.poisson(case.per_day * BASELINE_DAYS)
    good = int(random.binomial(base, case.usual))
    reference = Reference(good / base if base else None, int(base), good, "the baseline")
    return Drawn(np.concatenate([[0], n.cumsum()]), np.concatenate([[0], hits.cumsum()]), reference)


def fires(alert: Alert, source: Drawn, days: int) -> Iterator[int]:
    """When it fires: the ends of the windows, in ns since the beginning."""
    state = None
    for window in Windows(alert.window).closed(BEGIN_NS, BEGIN_NS + days * DAY_NS + alert.window.lateness_ns):
        state, news = evaluate(alert, state, source.observe(alert.query, [window])[()], window.end_ns)
        yield from (n.at_ns - BEGIN_NS for n in news if n.kind == "fire")


@dataclass(frozen=True, slots=True)
class Outcome:
    """`delays`: hours from the change to the alert, of the months in which it came within `WATCHED_DAYS`."""

    months: int
    delays: tuple[float, ...]

    @property
    def share(self) -> float:
        return len(self.delays) / self.months


def detections(settings: Sequence[Setting], case: Case, seeds: Sequence[int]) -> list[Outcome]:
    """Of each setting."""
    return [Outcome(len(seeds), tuple(d)) for d in _by_setting(settings, case, seeds, _delay, WATCHED_DAYS + 1)]


def false_alarms(settings: Sequence[Setting], case: Case, seeds: Sequence[int]) -> list[float]:
    """Alarms per month of 30 days in which nothing changes, of each setting."""
    return [sum(found) / len(seeds) for found in _by_setting(settings, case, seeds, _count, QUIET_DAYS)]


def _by_setting(
    settings: Sequence[Setting],
    case: Case,
    seeds: Sequence[int],
    figure: Callable[[Alert, Case, int, int], Iterator[float]],
    days: int,
) -> list[list[float]]:
    alerts = [setting.parse() for setting in settings]
    return [[value for seed in seeds for value in figure(alert, case, seed, days)] for alert in alerts]


def _delay(alert: Alert, case: Case, seed: int, days: int) -> Iterator[float]:
    random = np.random.default_rng([seed, case.per_day])
    change = int(random.integers(24))
    source = drawn(case, days, random, change)
    for at_ns in fires(alert, source, days):
        if change * HOUR_NS < at_ns <= change * HOUR_NS + WATCHED_DAYS * DAY_NS:
            yield at_ns / HOUR_NS - change
            return


def _count(alert: Alert, case: Case, seed: int, days: int) -> Iterator[float]:
    source = drawn(case, days, np.random.default_rng([seed, case.per_day, 0]), None)
    yield float(sum(1 for _ in fires(alert, source, days)))
