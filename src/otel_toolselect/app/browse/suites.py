"""Suites and rules, their cases with history and flips (R41)."""

from __future__ import annotations

from collections import Counter

from otel_toolselect.app.browse.figure_models import CaseRow, SuiteRow, SuiteView
from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.model.figures import Rate
from otel_toolselect.model.verdicts import Layer, LayerVerdict, RunVerdict, Status
from otel_toolselect.stats.rates import rate
from otel_toolselect.stats.repeats import repeats
from otel_toolselect.store.browse_api import CaseHistory, CaseRun, SuiteSummary

RECENT = 50
"""Runs of each case that flips are looked for in."""


def suite_list(reader: Reader, filters: Filters) -> tuple[SuiteRow, ...]:
    """Every suite and rule with decisions in the window; of the filters only the window and the suite matter."""
    window = filters.runs(reader.now_ns)
    found = reader.store.browse.suites(tenant=reader.tenant, since_ns=window.since_ns, until_ns=window.until_ns)
    return tuple(SuiteRow(one, _passed(one)) for one in found if not filters.suite or one.suite in filters.suite)


def suite_view(reader: Reader, suite: str, filters: Filters, after: str | None = None) -> SuiteView:
    """A page of cases. A suite without decisions in the window has none, and no summary."""
    window = filters.runs(reader.now_ns)
    browse, tenant, since, until = reader.store.browse, reader.tenant, window.since_ns, window.until_ns
    summaries = list(browse.suites(tenant=tenant, since_ns=since, until_ns=until, suite=suite))
    found = browse.cases(
        suite, tenant=tenant, since_ns=since, until_ns=until, after=after, limit=filters.size + 1, recent=RECENT
    )
    shown = found[: filters.size]
    rows = tuple(case_row(history) for history in shown)
    return SuiteView(
        filters=filters,
        suite=suite,
        summary=_together(suite, summaries),
        cases=rows,
        flip_rate=rate(sum(row.flips for row in rows), sum(row.repeated for row in rows)),
        next=shown[-1].case_id if len(found) > len(shown) else None,
    )


def case_view(reader: Reader, suite: str, case_id: str, filters: Filters) -> CaseRow | None:
    """One case with up to 500 runs. None when it has none in the window."""
    window = filters.runs(reader.now_ns)
    found = reader.store.browse.case(
        suite, case_id, tenant=reader.tenant, since_ns=window.since_ns, until_ns=window.until_ns
    )
    return None if found is None else case_row(found)


def case_row(history: CaseHistory) -> CaseRow:
    figures = repeats([_verdict(history, run) for run in history.recent])
    case = figures.cases[0] if figures.cases else None
    passed = figures.observations if case is not None and case.n else rate(0, 0)
    told = [run for run in history.recent if run.status in ("pass", "fail")]
    return CaseRow(
        history=history,
        passed=passed,
        repeated=case is not None and case.repeated,
        flips=case is not None and case.flips,
        changed=len(told) > 1 and told[-1].status != told[-2].status,
        actions=() if case is None else case.actions,
    )


def _verdict(history: CaseHistory, run: CaseRun) -> RunVerdict:
    """As much of a verdict as `stats.repeats` counts."""
    known: dict[str, Status] = {"pass": "pass", "fail": "fail", "needs_review": "needs_review"}
    layers: dict[Layer, LayerVerdict] = {}
    if run.selection in known:
        layers["selection"] = LayerVerdict(known[run.selection], "")
    return RunVerdict(
        run_id=run.run_id,
        trace_id="",
        suite=history.suite,
        case_id=history.case_id,
        first_action=run.first_action,
        observed_class="",
        layers=layers,
        label=run.label,
        excluded=run.excluded,  # type: ignore[arg-type]
        model=run.model,
    )


def _passed(summary: SuiteSummary) -> Rate:
    passed = summary.statuses.get("pass", 0)
    return rate(passed, passed + summary.statuses.get("fail", 0))


def _together(suite: str, found: list[SuiteSummary]) -> SuiteSummary | None:
    """A rule file as a whole: its rules added up."""
    if len(found) < 2:
        return found[0] if found else None
    statuses: Counter[str] = Counter()
    for one in found:
        statuses.update(one.statuses)
    return SuiteSummary(
        suite=suite,
        rule="",
        runs=sum(one.runs for one in found),
        cases=sum(one.cases for one in found),
        statuses=dict(sorted(statuses.items())),
        first_ns=min(one.first_ns for one in found),
        last_ns=max(one.last_ns for one in found),
        origin=found[0].origin,
    )
