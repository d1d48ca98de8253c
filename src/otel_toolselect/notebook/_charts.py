"""Charts by altair. Counts stand in the cells and intervals are drawn: no chart says more than its n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from otel_toolselect.errors import UsageError
from otel_toolselect.model.figures import Confusion
from otel_toolselect.notebook import _frames

if TYPE_CHECKING:
    import altair
    import pandas as pd

    from otel_toolselect.stats.windowed import Windowed

_CELL = 34  # pixels
_BLUE, _ORANGE = "#2f74b8", "#c65a10"


def _altair() -> Any:
    try:
        import altair
    except ImportError as error:
        raise UsageError("charts need altair: pip install 'otel-toolselect[notebook]'") from error
    return altair


def heat_map(confusion: Confusion) -> altair.LayerChart:
    """Expected down, observed across; colour by the share of the row, blue where right and orange where wrong."""
    alt = _altair()
    frame = _frames.cells(confusion)
    frame["right"] = frame["expected"] == frame["observed"]
    square = _frames.matrix(confusion)
    rows, columns = list(square.index), list(square.columns)
    base = alt.Chart(frame).encode(
        x=alt.X("observed:N", sort=columns, title="observed", axis=alt.Axis(orient="top", labelAngle=-45)),
        y=alt.Y("expected:N", sort=rows, title="expected"),
        tooltip=["expected:N", "observed:N", "n:Q", alt.Tooltip("share:Q", format=".1%")],
    )
    colour = alt.Color("right:N", scale=alt.Scale(domain=[True, False], range=[_BLUE, _ORANGE]), legend=None)
    tiles = base.mark_rect().encode(
        color=colour, opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1]), legend=None)
    )
    chart: altair.LayerChart = tiles + base.mark_text().encode(text="n:Q")
    sized: altair.LayerChart = chart.properties(width=_CELL * max(1, len(columns)), height=_CELL * max(1, len(rows)))
    return sized


def bars(frame: pd.DataFrame, name: str) -> altair.LayerChart:
    """Rates with their 95 % intervals; the rows of `frame` have `rate`, `low`, `high` and `n`."""
    alt = _altair()
    shown = frame.reset_index().dropna(subset=["rate"])
    order = list(shown[name])
    base = alt.Chart(shown).encode(y=alt.Y(f"{name}:N", sort=order, title=None))
    share = alt.X("rate:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"), title=None)
    bar = base.mark_bar(color=_BLUE, opacity=0.6).encode(
        x=share, tooltip=[f"{name}:N", alt.Tooltip("rate:Q", format=".1%"), "passed:Q", "n:Q"]
    )
    chart: altair.LayerChart = bar + base.mark_rule().encode(x="low:Q", x2="high:Q")
    return chart


def over_time(found: Sequence[Windowed], zone: str) -> altair.LayerChart:
    """The share of right first actions by window, a line for each combination; empty windows are gaps."""
    alt = _altair()
    frame = _frames.windows(found, zone)
    names = [name for name, _ in found[0].series] if found else []
    frame["series"] = frame[names].agg(" / ".join, axis=1) if names else "all"
    colour = alt.Color("series:N", legend=None if not names else alt.Legend(title=" / ".join(names)))
    base = alt.Chart(frame).encode(x=alt.X("start:T", title=None), color=colour)
    share = alt.Y("rate:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"), title="as expected")
    tips = ["start:T", "series:N", alt.Tooltip("rate:Q", format=".1%"), "passed:Q", "n:Q"]
    band = base.mark_area(opacity=0.15).encode(y="low:Q", y2="high:Q")
    chart: altair.LayerChart = band + base.mark_line(point=True).encode(y=share, tooltip=tips)
    return chart
