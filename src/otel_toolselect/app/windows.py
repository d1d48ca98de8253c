"""Figures over windows of event time, from the store's decisions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.app.times import moment
from otel_toolselect.errors import UsageError

if TYPE_CHECKING:
    from otel_toolselect.model.alerting import Scope, Series, Span, Window
    from otel_toolselect.model.verdicts import Cell
    from otel_toolselect.stats.windowed import Windowed
    from otel_toolselect.store import Store

MOST_WINDOWS = 10_000
WINDOWS_BACK = 24
WINDOWS_PER_QUERY = 250  # their bounds travel in the address of a request


@dataclass(frozen=True, slots=True)
class Cut:
    """Which windows of which decisions, as people type it. Every method raises UsageError for what cannot be."""

    window: str
    slide: str | None = None
    zone: str = "UTC"
    since: str | None = None
    until: str | None = None
    suite: str | None = None
    """A name, or the file of a suite."""
    policy: Sequence[str] | None = None
    by: Sequence[str] | None = None

    def windows(self) -> list[Window]:
        size = length_named("--window", self.window)
        slide = size if self.slide is None else length_named("--slide", self.slide)
        until = moment(self.until) or time.time_ns()
        since = moment(self.since)
        if since is not None and since >= until:
            raise UsageError("--until is not after --since")
        try:
            return windows_within(size, slide, self.zone, since, until)
        except ValueError as error:
            raise UsageError(f"--window {self.window}: {error}") from error

    def scope(self) -> Scope:
        from otel_toolselect.model.alerting import Scope

        name = suite_name(self.suite)
        return Scope(suite=() if name is None else (name,), policy=tuple(self.policy or ()))

    def dimensions(self) -> tuple[str, ...]:
        from otel_toolselect.model.alerting import DIMENSIONS

        names = tuple(name.strip() for given in self.by or () for name in given.split(","))
        for name in names:
            if name not in DIMENSIONS:
                raise UsageError(f"--by {name!r} is not one of {', '.join(DIMENSIONS)}")
        return tuple(dict.fromkeys(names))


def suite_name(suite: str | None) -> str | None:
    """The name of a suite that is given by name or by file."""
    if suite is None or not Path(suite).is_file():
        return suite
    from otel_toolselect.rules import load_suite

    return load_suite(suite).name


def confusion_over(store: Store, of: Scope, by: Sequence[str], windows: Sequence[Window]) -> tuple[Windowed, ...]:
    """In order of the window, then of what it is cut by. Raises StoreError."""
    from otel_toolselect.stats.windowed import windowed

    counts: dict[Series, list[dict[Cell, int]]] = {}
    for start in range(0, len(windows), WINDOWS_PER_QUERY):
        part = windows[start : start + WINDOWS_PER_QUERY]
        for series, cells in store.confusion(of, by, part).items():
            listed = counts.setdefault(series, [{} for _ in windows])
            listed[start : start + len(part)] = [dict(one) for one in cells]
    return windowed(counts, windows)


def windows_within(size: Span, slide: Span, zone: str, since_ns: int | None, until_ns: int) -> list[Window]:
    """The windows that hold a time in [since, until), without a since the last `WINDOWS_BACK`. Raises UsageError for
    too many, ValueError for such as cannot be cut.
    """
    from otel_toolselect.model.alerting import WindowSpec
    from otel_toolselect.stats.windowed import windows_between

    since = max(0, until_ns - WINDOWS_BACK * size.ns) if since_ns is None else since_ns
    if (until_ns - since) // slide.ns > MOST_WINDOWS:
        raise UsageError(f"more than {MOST_WINDOWS:,} windows; take larger ones, or a shorter time")
    return windows_between(WindowSpec(size, slide, zone), since, until_ns)


def length_named(option: str, text: str) -> Span:
    """A length like 5m, by the name of the option or field that it stands in. Raises UsageError."""
    from otel_toolselect.rules.durations import span_of

    span = span_of(text)
    if span is None or not span.count:
        raise UsageError(f"{option} {text!r} is no length; write 90s, 5m, 1h, 1d or 1w")
    return span
