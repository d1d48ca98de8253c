"""How values read. An undefined one is `n/a` with its count, never 0, NaN or Inf."""

from __future__ import annotations

from datetime import UTC, datetime

from otel_toolselect.model.alerting import SECOND_NS


def shown(value: float | None, unit: str, *, n: int, numerator: int | None = None) -> str:
    """A value with what it rests on: `15.0 % (3/20)`, `4.2 seconds (20)`, `7 calls`, `n/a (0)`."""
    if value is None:
        return f"n/a ({n})"
    if unit == "share":
        return f"{percent(value)} ({n if numerator is None else f'{numerator}/{n}'})"
    return f"{amount(value, unit)} ({n})" if unit in ("seconds", "effect") else amount(value, unit)


def amount(value: float, unit: str) -> str:
    """A bare value in its unit."""
    if unit == "share":
        return percent(value)
    number = f"{value:,.3f}".rstrip("0").rstrip(".")
    return number if unit == "effect" else f"{number} {unit}"


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def instant(time_ns: int) -> str:
    return f"{datetime.fromtimestamp(time_ns // SECOND_NS, UTC):%Y-%m-%dT%H:%M:%SZ}"
