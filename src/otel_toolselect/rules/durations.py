"""Lengths and points of time in users' files: `90s`, `5m`, `1h`, `1d`, `1w`; `2026-11-02T10:00:00Z`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import cast

from otel_toolselect.model.alerting import Span, SpanUnit
from otel_toolselect.rules._nodes import Node, clip
from otel_toolselect.rules.problems import Problems

_SPAN = re.compile(r"(\d{1,9})([smhdw])")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_WAY = "write 90s, 5m, 1h, 1d or 1w"
_MOST = Span(3660, "d")


def parse_span(node: Node, what: str, problems: Problems, *, least: int = 1) -> Span | None:
    """A length; of no time at all only with `least` 0."""
    text = problems.text(node, what)
    if text is None:
        return None
    span = span_of(text)
    if span is None:
        problems.add(node, f"{what} cannot be {clip(text, 40)!r}", _WAY)
        return None
    if not least <= span.count or span.ns > _MOST.ns:
        problems.add(node, f"{what} cannot be {text}", f"from {least} on, at most ten years")
        return None
    return span


def span_of(text: str) -> Span | None:
    """None for what is no length."""
    found = _SPAN.fullmatch(text)
    return Span(int(found[1]), cast("SpanUnit", found[2])) if found else None


def parse_length(node: Node, what: str, problems: Problems) -> int | None:
    """A length in nanoseconds, a day being 24 hours; 0s is one too."""
    span = parse_span(node, what, problems, least=0)
    return None if span is None else span.ns


def parse_moment(node: Node, what: str, problems: Problems) -> int | None:
    """A point in time in nanoseconds; UTC unless it names another offset."""
    text = problems.text(node, what)
    if text is None:
        return None
    found = moment_of(text)
    if found is None:
        problems.add(node, f"{what} cannot be {clip(text, 40)!r}", "write 2026-11-02T10:00:00Z")
    return found


def moment_of(text: str) -> int | None:
    """None for what is no ISO 8601 date or time, or lies before 1970."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    found = (when - _EPOCH) // timedelta(microseconds=1) * 1000
    return found if found >= 0 else None
