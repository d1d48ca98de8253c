"""Suites and rules, their cases with history and flips (R41)."""

from __future__ import annotations

from otel_toolselect.app import browse
from otel_toolselect.web.call import Call
from otel_toolselect.web.page import Answer, Page, Section, Show
from otel_toolselect.web.problems import NotFoundError
from otel_toolselect.web.tables import Column, Table

_SUITES = (
    Column("Suite or rule"),
    Column("Passed"),
    Column("Runs", numeric=True),
    Column("Cases", numeric=True),
    Column("Failed", numeric=True),
    Column("To review", numeric=True),
    Column("Excluded", numeric=True),
    Column("Latest", numeric=True),
)
_CASES = (
    Column("Case"),
    Column("History, latest right"),
    Column("Selection passed"),
    Column("First actions"),
    Column("Runs", numeric=True),
    Column("Last failure", numeric=True),
)
_RUNS = (
    Column("Run"),
    Column("Stands"),
    Column("Wanted"),
    Column("First action"),
    Column("Model, label"),
    Column("Start", numeric=True),
)
HISTORY = 40
"""Runs of a case that a list shows."""


def suites(call: Call) -> Answer:
    rows = browse.suite_list(call.reader, call.filters)
    table = Table("Suites and rules with runs in this window", _SUITES, rows)
    return Show("suites.html.j2", {"table": table}, title="Suites")


def suite(call: Call) -> Answer:
    after = call.query.get("after") or None
    found = browse.suite_view(call.reader, call.params["suite"], call.filters, after)
    following = call.here(after=found.next) if found.next else None
    table = Table("Cases in order of their id", _CASES, found.cases, next=following)
    return Show("suite.html.j2", {"found": found, "table": table, "shown": HISTORY}, title=found.suite)


def case(call: Call) -> Answer:
    name, case_id = call.params["suite"], call.params["case"]
    found = browse.case_view(call.reader, name, case_id, call.filters)
    if found is None:
        raise NotFoundError(f"{name} has no run of the case {case_id} in this window; choose a longer one")
    table = Table("Runs, the latest first", _RUNS, found.history.recent[::-1])
    return Show("case.html.j2", {"found": found, "table": table}, title=case_id)


PAGES = (Page("/suites", suites), Page("/suites/{suite}", suite), Page("/suites/{suite}/{case:path}", case))
PLUGIN = Section("suites", "Suites", PAGES, order=40)
