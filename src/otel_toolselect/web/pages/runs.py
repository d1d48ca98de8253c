"""Runs: a list with search, and one run as a timeline with its verdicts, their evidence in place, and raw spans."""

from __future__ import annotations

from otel_toolselect.app import browse
from otel_toolselect.app.browse.run_models import Evidence, RunTimeline
from otel_toolselect.reports import jsonable
from otel_toolselect.store.browse_api import MARKS, Facet
from otel_toolselect.web.call import Call
from otel_toolselect.web.document import document
from otel_toolselect.web.page import Answer, Page, Section, Show
from otel_toolselect.web.problems import NotFoundError
from otel_toolselect.web.steps import steps_of
from otel_toolselect.web.tables import Column, Table

_FACETS: tuple[Facet, ...] = (
    "suite", "agent", "model", "service", "catalog", "status", "failure", "first_action", "called",
)  # fmt: skip
_COLUMNS = (
    Column("Request"),
    Column("Stands"),
    Column("First action"),
    Column("Agent, model"),
    Column("Start", "start", numeric=True),
    Column("Took", "duration", numeric=True),
    Column("Calls", "calls", numeric=True),
    Column("Tokens", "tokens", numeric=True),
    Column("Cost", "cost", numeric=True),
)


def listed(call: Call) -> Answer:
    found = browse.run_list(call.reader, call.filters)
    names = _FACETS if call.who.tenant is not None else (*_FACETS, "tenant")
    facets = browse.facet_list(call.reader, call.filters, names)
    count = facets.count
    table = Table(
        "Runs of the window",
        _COLUMNS,
        found.rows,
        call.filters.sort,
        next=call.at(found.next),
        previous=call.at(found.previous),
        total=f"{'' if count.exact else 'more than '}{count.n:,}",
    )
    values = {"table": table, "choices": facets.values, "marks": MARKS}
    return Show("runs.html.j2", values, title="Runs")


def one(call: Call) -> Answer:
    found = browse.run_timeline(call.reader, call.params["run_id"], call.filters)
    if found is None:
        raise NotFoundError("there is no such run here; it may be another store's, or another tenant's")
    anchors = {finding.key: f"f{number}" for number, finding in enumerate(_findings(found), 1)}
    details = {finding.key: document(jsonable(finding.evidence)) for finding in _findings(found) if finding.evidence}
    steps = steps_of(found)
    shown = {span.span_id for step in steps for span, _ in step.spans}
    rest = [(span, document(jsonable(span))) for i, span in found.spans.items() if i not in shown]
    values = {"found": found, "run": found.run, "steps": steps, "anchors": anchors, "details": details, "rest": rest}
    return Show("run.html.j2", values, title=(found.run.request or found.run.run_id)[:60])


def _findings(found: RunTimeline) -> list[Evidence]:
    return [finding for judgement in found.judgements for finding in judgement.findings]


PAGES = (Page("/runs", listed), Page("/runs/{run_id:path}", one))
PLUGIN = Section("runs", "Runs", PAGES, order=30)
