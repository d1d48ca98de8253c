"""`toolselect confusion --window`: confusion over windows of event time, counted by the store."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_toolselect.app.times import moment
from otel_toolselect.errors import TooFewError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from otel_toolselect.model.alerting import Scope, Span, Window

MOST_WINDOWS = 10_000
WINDOWS_BACK = 24


@dataclass(frozen=True, slots=True)
class Cut:
    """What is asked for, as it was typed."""

    window: str
    slide: str | None
    zone: str
    since: str | None
    until: str | None
    suite: str | None
    policy: Sequence[str] | None
    by: Sequence[str] | None

    def windows(self) -> list[Window]:
        from otel_toolselect.model.alerting import WindowSpec
        from otel_toolselect.stats.windowed import windows_between

        size = _span("--window", self.window)
        slide = size if self.slide is None else _span("--slide", self.slide)
        until = moment(self.until) or time.time_ns()
        since = moment(self.since)
        since = max(0, until - WINDOWS_BACK * size.ns) if since is None else since
        if since >= until:
            raise UsageError("--until is not after --since")
        if (until - since) // slide.ns > MOST_WINDOWS:
            raise UsageError(f"more than {MOST_WINDOWS:,} windows; take larger ones, or a shorter time")
        try:
            return windows_between(WindowSpec(size, slide, self.zone), since, until)
        except ValueError as error:
            raise UsageError(f"--window {self.window}: {error}") from error

    def scope(self) -> Scope:
        from otel_toolselect.cli._reports_in import suite_name
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


def show(cut: Cut, store: str | None, form: str, output: str | None) -> None:
    """Raises UsageError, StoreError, and TooFewError when no window holds a decision."""
    from otel_toolselect import reports
    from otel_toolselect.app.windows import confusion_over
    from otel_toolselect.cli._output import wants_colour, width, write
    from otel_toolselect.cli._store import opened
    from otel_toolselect.config import load

    windows, scope, by = cut.windows(), cut.scope(), cut.dimensions()
    with opened(load({"store": store}).dsn, create=False) as held:
        found = confusion_over(held, scope, by, windows)
    if form == "json":
        write([reports.windows_json(found, cut.zone)], output)
    else:
        write([reports.windows_table(found, cut.zone, colour=wants_colour(output), width=width(output))], output)
    if not any(one.right.n for one in found):
        raise TooFewError("no window holds a judged decision; `serve`, `monitor judge` and `eval` make them")


def _span(option: str, text: str) -> Span:
    from otel_toolselect.rules.durations import span_of

    span = span_of(text)
    if span is None or not span.count:
        raise UsageError(f"{option} {text!r} is no length; write 90s, 5m, 1h, 1d or 1w")
    return span
