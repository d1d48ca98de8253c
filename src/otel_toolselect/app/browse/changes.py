"""The front page: how things stand, and what changed against the window before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from otel_toolselect.app.browse.alerting import alerts_view
from otel_toolselect.app.browse.figure_models import Arrived, Change, Measure, Overview
from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.matrix import closed, course, worst_pairs
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.windows import confusion_over
from otel_toolselect.model.alerting import Query, Scope, Window
from otel_toolselect.model.figures import Rate
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.stats.drift import share_change
from otel_toolselect.stats.rates import rate
from otel_toolselect.store.browse_api import Facet, FacetValue, RunFilter

CUT_BY = (("agent", "model", "prompt", "catalog"), ("tool",))
"""What may have changed: asked for together where few combinations occur."""
NEW: tuple[Facet, ...] = ("agent", "model", "prompt", "catalog", "called")
FIGURES = ("accuracy", "argument_accuracy", "over_eager_abstention", "under_eager_abstention", "infra_rate")
MEASURES = ("latency_p95", "tokens", "cost")
CHANGES_SHOWN = 12
LATEST_SHOWN = 10
PAIRS_SHOWN = 8
VALUES = 200


def overview(reader: Reader, filters: Filters) -> Overview:
    """Of the filters' window and of the one of the same length before it."""
    window = closed(reader, filters.window(reader.now_ns))
    earlier = Window(max(0, 2 * window.start_ns - window.end_ns), window.start_ns)
    both = [earlier, window] if earlier.start_ns < earlier.end_ns else [window, window]
    scope = filters.scope(reader.tenant)
    before, now = confusion_over(reader.store, scope, (), both)
    runs = _runs(reader, scope, both)
    facets, old = (_facets(reader, filters, one) for one in (window, earlier))
    failed = filters.changed(status="fail", sort="-start")
    return Overview(
        filters=filters,
        window=window,
        runs=runs[1],
        before=runs[0] if both[0] is earlier else 0,
        right=now.right,
        right_before=before.right if both[0] is earlier else rate(0, 0),
        figures=tuple(_figures(reader, filters, scope, both)),
        measures=tuple(_measure(reader, name, scope, both) for name in MEASURES),
        changes=tuple(_changes(reader, filters, scope, both)),
        arrived=tuple(_arrived(filters, facets, old)),
        course=course(reader, scope, window),
        confused=tuple(worst_pairs(now.confusion, filters, PAIRS_SHOWN)),
        failures=facets.get("failure", ()),
        firing=tuple(row for row in alerts_view(reader, 1).alerts if row.status.state in ("firing", "no_data")),
        latest_failed=reader.store.browse.runs(
            failed.runs(reader.now_ns), tenant=reader.tenant, limit=LATEST_SHOWN
        ).rows,
    )


def _facets(reader: Reader, filters: Filters, window: Window) -> Mapping[Facet, tuple[FacetValue, ...]]:
    if window.start_ns >= window.end_ns:
        return {}
    end = window.end_ns if filters.until or window.end_ns < reader.now_ns else None
    of = RunFilter(since_ns=window.start_ns, until_ns=end)
    return reader.store.browse.facets(of, tenant=reader.tenant, names=[*NEW, "failure"], limit=VALUES)


def _runs(reader: Reader, scope: Scope, both: Sequence[Window]) -> list[int]:
    return [int(one.value or 0) for one in reader.store.observe(Query("decisions", _traffic(scope)), both)[()]]


def _traffic(scope: Scope) -> Scope:
    """The same runs, whatever was expected of them: each once."""
    return replace(scope, suite=(), policy=(), origin=())


def _figures(reader: Reader, filters: Filters, scope: Scope, both: Sequence[Window]) -> list[Change]:
    found = []
    for name in FIGURES:
        sides = reader.store.observe(Query(name, scope), both)[()]
        before, now = (rate(one.numerator or 0, one.n) for one in sides)
        found.append(_change("", "", name, now, before, filters.query()))
    return found


def _measure(reader: Reader, name: str, scope: Scope, both: Sequence[Window]) -> Measure:
    before, now = reader.store.observe(Query(name, _traffic(scope)), both)[()]
    return Measure(name, SIGNALS[name].unit, now.value, before.value, now.n)


def _changes(reader: Reader, filters: Filters, scope: Scope, both: Sequence[Window]) -> list[Change]:
    """Right first actions, cut by what may have changed; the surest first."""
    counts: dict[tuple[str, str], list[list[int]]] = {}
    for names in CUT_BY:
        for series, sides in reader.store.observe(Query("recall", scope, names), both).items():
            for key in series:
                for total, one in zip(counts.setdefault(key, [[0, 0], [0, 0]]), sides, strict=True):
                    total[0] += one.numerator or 0
                    total[1] += one.n
    found = []
    for (name, value), (before, now) in counts.items():
        link = filters.query(**{"expected" if name == "tool" else name: value}) if value else filters.query()
        figure = "recall" if name == "tool" else "accuracy"
        found.append(_change(name, value, figure, rate(*now), rate(*before), link))
    moved = [one for one in found if one.difference]
    moved.sort(key=lambda c: (c.p if c.p is not None else 1.0, -abs(c.difference or 0), c.dimension, c.value))
    return moved[:CHANGES_SHOWN]


def _change(dimension: str, value: str, figure: str, now: Rate, before: Rate, query: str) -> Change:
    tested = share_change((before.passed, before.n), (now.passed, now.n))
    return Change(dimension, value, figure, now, before, None if tested is None else tested.p, query)


def _arrived(
    filters: Filters, now: Mapping[Facet, Sequence[FacetValue]], before: Mapping[Facet, Sequence[FacetValue]]
) -> list[Arrived]:
    """Where the window before holds anything at all: else everything would be new."""
    found = []
    for name in NEW:
        known = {one.value for one in before.get(name, ())}
        for one in now.get(name, ()) if known else ():
            if one.value not in known:
                found.append(Arrived(name, one.value, one.n, filters.query(**{name: one.value})))
    return found
