"""One window under one condition: breached, good, or not for us to say.

`empty`: a ratio, quantile or test without observations; there is no value. `held`: there is one, but on too few
observations, or with nothing to compare it with; such a window neither fires nor resolves. A count is never empty.

Limits and shares are compared as exact fractions: 3 of 30 is not above 0.1, whatever floating point makes of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Literal, TypeAlias

from otel_toolselect.model.alerting import Alert, Change, Drift, Limit, Observed, Reference
from otel_toolselect.model.signals import SIGNALS, Signal
from otel_toolselect.monitor.alerts.wording import amount, percent, shown
from otel_toolselect.stats.drift import rate_change_p, share_change

Kind: TypeAlias = Literal["breach", "good", "held", "empty"]


@dataclass(frozen=True, slots=True)
class Outcome:
    kind: Kind
    says: str


def decide(alert: Alert, observed: Observed) -> Outcome:
    """Pure. `says` is a sentence with the numbers that the outcome rests on."""
    signal = SIGNALS[alert.signal]
    value = 0.0 if observed.value is None and signal.empty_is_zero else observed.value
    if observed.n == 0 and not signal.empty_is_zero:
        return Outcome("empty", f"no data: no {signal.of.split(' (')[0]} in the window")
    if value is None:
        return Outcome("held", "held: nothing to compare with")
    if observed.n < alert.min_count:
        return Outcome("held", f"held: {observed.n} observations, {alert.min_count} are needed")
    head = f"{signal.name} is {shown(value, signal.unit, n=observed.n, numerator=observed.numerator)}"
    if isinstance(alert.condition, Limit):
        return _limit(alert.condition, signal, observed, value, head)
    if isinstance(alert.condition, Drift):
        return _drift(alert.condition, observed, value, head)
    return _change(alert.condition, alert.min_count, signal, observed, value, head)


def _limit(limit: Limit, signal: Signal, observed: Observed, value: float, head: str) -> Outcome:
    seen, bound = _exact(value, observed.numerator, observed.n, signal), Fraction(str(limit.value))
    breached = seen > bound if limit.side == "above" else seen < bound
    return _outcome(breached, f"{head}, {'' if breached else 'not '}{limit.side} {amount(limit.value, signal.unit)}")


def _drift(drift: Drift, observed: Observed, value: float, head: str) -> Outcome:
    if observed.p is None:
        return Outcome("held", "held: nothing to compare with")
    against = _named(observed.reference, drift.against)
    breached = value >= drift.effect and observed.p < drift.significance
    bounds = f"effect from {drift.effect:g}, p below {drift.significance:g}"
    return _outcome(breached, f"{head} against {against}, p = {observed.p:.2g} ({bounds})")


def _change(change: Change, min_count: int, signal: Signal, observed: Observed, value: float, head: str) -> Outcome:
    reference = observed.reference
    if reference is None or reference.value is None or reference.n < min_count:
        return Outcome("held", f"held: nothing to compare with ({change.against})")
    moved = _moved(signal, observed, value, reference, reference.value)
    toward = moved if change.direction == "rise" else -moved
    p = _p(signal, observed, value, reference, reference.value) if change.significance is not None else None
    enough = toward >= (Fraction(str(change.least)) if isinstance(toward, Fraction) else change.least)
    breached = enough and (p is None or change.significance is None or p < change.significance)
    was = shown(reference.value, signal.unit, n=reference.n, numerator=reference.numerator)
    said = f"{head}, {was} in {_named(reference, change.against)}: {_size(moved, signal)}"
    said += f", p = {p:.2g}" if p is not None else ""
    wanted = f"{change.direction} of {_least(change.least, signal)} or more"
    return _outcome(breached, f"{said} ({wanted}{f', p below {change.significance:g}' if p is not None else ''})")


def _outcome(breached: bool, says: str) -> Outcome:
    return Outcome("breach" if breached else "good", says)


def _exact(value: float, numerator: int | None, n: int, signal: Signal) -> Fraction:
    if signal.kind == "ratio" and numerator is not None and n:
        return Fraction(numerator, n)
    return Fraction(str(value))


def _moved(signal: Signal, observed: Observed, value: float, reference: Reference, was: float) -> Fraction | float:
    """In points of share for a ratio, else relative to what the reference makes one expect."""
    if signal.kind == "ratio":
        before = _exact(was, reference.numerator, reference.n, signal)
        return _exact(value, observed.numerator, observed.n, signal) - before
    expected = was * (reference.length if signal.kind == "count" else 1)
    if expected == 0:
        return inf if value > 0 else 0.0
    return (value - expected) / expected


def _p(signal: Signal, observed: Observed, value: float, reference: Reference, was: float) -> float:
    if signal.kind == "count":
        return rate_change_p(round(was), round(value), length=reference.length)
    before = (round(was * reference.n) if reference.numerator is None else reference.numerator, reference.n)
    after = (round(value * observed.n) if observed.numerator is None else observed.numerator, observed.n)
    found = share_change(before, after)
    return 1.0 if found is None else found.p


def _size(moved: Fraction | float, signal: Signal) -> str:
    if moved == inf:
        return "from nothing"
    return f"{100 * float(moved):+.1f} {'points' if signal.kind == 'ratio' else '%'}"


def _least(least: float, signal: Signal) -> str:
    return f"{100 * least:g} points" if signal.kind == "ratio" else percent(least)


def _named(reference: Reference | None, against: str) -> str:
    return reference.name if reference is not None and reference.name else f"the {against}"
