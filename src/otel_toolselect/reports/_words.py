"""How figures are said in text: a percentage never stands without its counts (R44)."""

from __future__ import annotations

from otel_toolselect.model.figures import Rate


def percent(share: float | None) -> str:
    return "n/a" if share is None else f"{100 * share:.1f} %"


def interval(rate: Rate) -> str:
    if rate.ci95 is None:
        return ""
    low, high = rate.ci95
    return f"{100 * low:.1f} to {100 * high:.1f} %"


def counted(share: float | None, part: int, whole: int) -> str:
    """`76.2 % (16/21)`, or `n/a (0)`."""
    return f"{percent(share)} ({part}/{whole})" if whole else "n/a (0)"


def count(n: int, noun: str) -> str:
    """`1 run`, `3 runs`."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
