"""What arrives from which instrumentation, how complete it is, and which switch brings the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from otel_toolselect.app.browse import doctor_view, facet_list
from otel_toolselect.app.browse.state_models import DoctorView
from otel_toolselect.stats.arrivals import NEEDS
from otel_toolselect.web.call import Call
from otel_toolselect.web.page import Answer, Page, Section, Show
from otel_toolselect.web.tables import Column, Table

_COVERAGE = (
    Column("Service and dialect"),
    Column("Runs", numeric=True),
    Column("Calls", numeric=True),
    *(Column(need.capitalize(), numeric=True) for need in NEEDS),
)
_SCOPES = (
    Column("Service"),
    Column("Instrumentation scope"),
    Column("Spans", numeric=True),
    Column("Traces", numeric=True),
    Column("Read by dialect"),
)


@dataclass(frozen=True, slots=True)
class Switch:
    """What a service lacks, and what brings it; `how` "": no switch is known."""

    service: str
    dialect: str
    needs: tuple[str, ...]
    how: str


def doctor(call: Call) -> Answer:
    found = doctor_view(call.reader, call.filters)
    choices = facet_list(call.reader, call.filters, ("service", "agent"))
    values = {
        "found": found,
        "choices": choices.values,
        "coverage": Table(
            "How complete it is: request and catalog of runs, the rest of calls", _COVERAGE, found.coverage
        ),
        "scopes": Table("What the traces of these runs hold", _SCOPES, found.scopes),
        "switches": list(_switches(found)),
    }
    return Show("doctor.html.j2", values, title="Instrumentation")


def _switches(found: DoctorView) -> Iterator[Switch]:
    for row in found.coverage:
        by_switch: dict[str, list[str]] = {}
        for need in row.needs:
            if need.have < need.n:
                by_switch.setdefault(need.switch, []).append(need.need)
        for how, needs in by_switch.items():
            yield Switch(row.service, row.dialect, tuple(needs), how)


PLUGIN = Section("doctor", "Doctor", (Page("/doctor", doctor),), order=80)
