"""What a person asks a monitor: where alerts stand, what they would have done (issue F points 2 and 5).

Times are UTC nanoseconds. Values come as text, too, written as notifications write them.
"""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.model.alerting import Series


@dataclass(frozen=True, slots=True)
class AlertStatus:
    """One series of one alert. `state`: that of `AlertState`, or "new" where nothing was evaluated yet. `value`, `n`:
    of the latest window, which ended at `through_ns`. `waiting`: notifications that are not delivered yet, `withheld`:
    that a silence holds back. `defined`: the alert is in one of the files.
    """

    alert: str
    series: Series
    state: str
    since_ns: int = 0
    through_ns: int = 0
    shown: str = "n/a (0)"
    value: float | None = None
    numerator: int | None = None
    n: int = 0
    says: str = ""
    severity: str = ""
    owner: str | None = None
    waiting: int = 0
    withheld: int = 0
    defined: bool = True


@dataclass(frozen=True, slots=True)
class Episode:
    """A stretch in which an alert would have fired, or its data would have been missing (`kind` "no_data").

    `began_ns`, `ended_ns`: ends of the windows that decided; None: it had not ended. `last_ns`: the end of what was
    looked at. `shown`, `n`, `says`: of the window in which it began.
    """

    alert: str
    series: Series
    kind: str
    began_ns: int
    ended_ns: int | None
    last_ns: int
    shown: str
    n: int
    says: str
    severity: str

    @property
    def lasted_ns(self) -> int:
        return (self.last_ns if self.ended_ns is None else self.ended_ns) - self.began_ns


@dataclass(frozen=True, slots=True)
class Replayed:
    """An alert carried out on history: how many windows of how many series came to what, and its episodes in order.

    `held`: too few observations, or nothing to compare with; `empty`: no data.
    """

    alert: str
    series: int
    windows: int
    breached: int
    good: int
    held: int
    empty: int
    episodes: tuple[Episode, ...]


@dataclass(frozen=True, slots=True)
class RuleDay:
    """One rule on one day of the zone: `runs` that it matched, of which these failed or need a person's review."""

    file: str
    rule: str
    severity: str
    day: str
    runs: int
    failed: int
    needs_review: int
    excluded: int
