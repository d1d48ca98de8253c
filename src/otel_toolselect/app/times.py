"""Points in time as people type them, in commands and in the Python API."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

from otel_toolselect.errors import UsageError

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def moment(text: str | None, *, now_ns: int | None = None) -> int | None:
    """Nanoseconds since the epoch: `24h` is that long ago; else an ISO 8601 date or time, in UTC unless it
    names another zone. None stays None.
    """
    if text is None:
        return None
    ago = re.fullmatch(r"(\d+)([smhdw])", text.strip())
    if ago:
        now = time.time_ns() if now_ns is None else now_ns
        return now - int(ago[1]) * UNITS[ago[2]] * 1_000_000_000
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(f"{text!r} is no time; write 30m, 24h, 7d or 2026-01-31T12:00:00Z") from error
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return (when - EPOCH) // timedelta(microseconds=1) * 1000


def length(text: str) -> int:
    """Nanoseconds of `30m`, `2h`, `1d`. Raises UsageError."""
    found = re.fullmatch(r"(\d+)([smhdw])", text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no length of time; write 30m, 2h or 1d")
    return int(found[1]) * UNITS[found[2]] * 1_000_000_000
