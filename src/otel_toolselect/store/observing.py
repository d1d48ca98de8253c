"""Figures over windows, answered by the store (R48): each query reads the hours of its windows and no more.

A figure is counted from decisions as they stand, so that late data correct it and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from otel_toolselect.model.alerting import Observed, Query, Scope, Series, Window
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.store import window_queries
from otel_toolselect.store.session import Session
from otel_toolselect.store.signal_figures import FIGURES, Figure

Mix = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Row:
    n: int
    hits: float
    value: float | None
    part: str = ""


def observe(session: Session, query: Query, windows: Sequence[Window]) -> dict[Series, tuple[Observed, ...]]:
    """One Observed per window and series; see `monitor.alerts.source.Source`. No reference: a source adds it.

    A query without `by` has the series () even when nothing was seen; with `by`, each combination that was seen.
    """
    figure = FIGURES[query.signal]
    found: dict[Series, dict[int, list[_Row]]] = {} if query.by else {(): {}}
    if windows:
        select = window_queries.figures(query, windows)
        rows = session.select(select.sql, select.params)
        for i, window in enumerate(rows.get("W", ())):
            values = [str(rows[f"B{k}"][i]) for k in range(len(query.by))]
            series: Series = tuple(zip(query.by, values, strict=True))
            row = _Row(
                n=int(rows["N"][i]),
                hits=rows["Hits"][i],
                value=rows["Value"][i] if figure.kind == "quantile" else None,
                part=str(rows[f"B{len(query.by)}"][i]) if figure.split else "",
            )
            found.setdefault(series, {}).setdefault(int(window) - 1, []).append(row)
    return {
        series: tuple(_observed(window, by_window.get(i, []), figure, query.least) for i, window in enumerate(windows))
        for series, by_window in found.items()
    }


def mixes(session: Session, query: Query, windows: Sequence[Window]) -> dict[Series, tuple[Mix, ...]]:
    """How often each value came in each window: first actions, or pairs of expected and observed as text."""
    counts: dict[Series, dict[int, dict[str, int]]] = {} if query.by else {(): {}}
    if windows:
        select = window_queries.mix(query, windows)
        rows = session.select(select.sql, select.params)
        for i, window in enumerate(rows.get("W", ())):
            values = [str(rows[f"B{k}"][i]) for k in range(len(query.by))]
            series: Series = tuple(zip(query.by, values, strict=True))
            what = str(rows[f"B{len(query.by)}"][i])
            counts.setdefault(series, {}).setdefault(int(window) - 1, {})[what] = int(rows["N"][i])
    return {series: tuple(by_window.get(i, {}) for i in range(len(windows))) for series, by_window in counts.items()}


def confusion(
    session: Session, of: Scope, by: Sequence[str], windows: Sequence[Window]
) -> dict[Series, tuple[Mapping[Cell, int], ...]]:
    """How often each cell came in each window; see `Store.confusion`."""
    counts: dict[Series, dict[int, dict[Cell, int]]] = {} if by else {(): {}}
    if windows:
        select = window_queries.confusion(of, by, windows)
        rows = session.select(select.sql, select.params)
        names = [rows.get(f"B{k}", []) for k in range(len(by) + 2)]
        for window, n, *values, expected, observed in zip(rows.get("W", ()), rows.get("N", ()), *names, strict=True):
            series: Series = tuple(zip(by, values, strict=True))
            counts.setdefault(series, {}).setdefault(int(window) - 1, {})[Cell(expected, observed)] = int(n)
    return {series: tuple(by_window.get(i, {}) for i in range(len(windows))) for series, by_window in counts.items()}


def _observed(window: Window, rows: Sequence[_Row], figure: Figure, least: int) -> Observed:
    if figure.split:
        return _worst(window, rows, least)
    (row,) = rows or [_Row(0, 0, None)]
    value: float | None
    if figure.kind == "count":
        value, numerator = float(row.hits), _whole(row.hits)
    elif figure.kind == "quantile":
        value, numerator = (row.value if row.n else None), None
    else:
        value, numerator = (row.hits / row.n if row.n else None), int(row.hits)
    return Observed(window.start_ns, window.end_ns, value, row.n, numerator)


def _worst(window: Window, rows: Sequence[_Row], least: int) -> Observed:
    """The lowest ratio of the parts with enough behind them; of equals the one with more, then the first by name."""
    known = [row for row in rows if row.n >= max(least, 1)]
    worst = min(known, key=lambda row: (row.hits / row.n, -row.n, row.part), default=None)
    if worst is None:
        return Observed(window.start_ns, window.end_ns, None, 0)
    detail = (f"tool {worst.part}",)
    return Observed(window.start_ns, window.end_ns, worst.hits / worst.n, worst.n, int(worst.hits), detail=detail)


def _whole(number: Any) -> int | None:
    return int(number) if float(number).is_integer() else None
