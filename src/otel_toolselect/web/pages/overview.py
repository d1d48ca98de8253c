"""The first page: how agents do in the window, what changed against the one before, how the program is."""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.app.browse import facet_list, overview
from otel_toolselect.app.browse.figure_models import Measure
from otel_toolselect.app.parts import Part
from otel_toolselect.model.signals import SIGNALS
from otel_toolselect.store.browse_api import Facet
from otel_toolselect.web.call import Call
from otel_toolselect.web.page import Answer, Page, Section, Show

_CHOICES: tuple[Facet, ...] = ("suite", "agent", "model")
_SERVICES_SHOWN = 20


def first(call: Call) -> Answer:
    found = overview(call.reader, call.filters)
    facets = facet_list(call.reader, call.filters, (*_CHOICES, "service"))
    values = {
        "found": found,
        "choices": facets.values,
        "services": facets.values.get("service", ())[:_SERVICES_SHOWN],
        "parts": parts(call),
        "signals": SIGNALS,
        "measures": [shown(one) for one in found.measures if one.now],
    }
    return Show("overview.html.j2", values, title="Overview")


@dataclass(frozen=True, slots=True)
class Tile:
    """A quantity as (number, unit)."""

    title: str
    now: tuple[str, str]
    before: tuple[str, str] | None
    n: int


_TITLES = {
    "latency_p50": "Duration, median",
    "latency_p95": "Duration, 95th percentile",
    "tokens": "Tokens",
    "cost": "Cost",
}


def shown(measure: Measure) -> Tile:
    before = None if not measure.before else _quantity(measure.before, measure.unit)
    return Tile(_TITLES.get(measure.name, measure.name), _quantity(measure.now or 0, measure.unit), before, measure.n)


def _quantity(value: float, unit: str) -> tuple[str, str]:
    if unit == "seconds":
        return (f"{value:,.2f}", "s") if value >= 1 else (f"{1000 * value:.3g}", "ms")
    return (f"{value:,.2f}" if unit == "USD" else f"{value:,.0f}", unit)


def parts(call: Call) -> list[Part]:
    """How the program is, for those who see all of it: figures of the whole are no business of one tenant."""
    return [] if call.who.tenant is not None else [part() for part in call.site.parts]


PLUGIN = Section("overview", "Overview", (Page("/", first),), order=10)
