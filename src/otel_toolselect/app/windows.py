"""Figures over windows, from the store's decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from otel_toolselect.model.alerting import Scope, Series, Window
    from otel_toolselect.model.verdicts import Cell
    from otel_toolselect.stats.windowed import Windowed
    from otel_toolselect.store import Store

WINDOWS_PER_QUERY = 250  # their bounds travel in the address of a request


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
