"""What pages and the read API ask: pure functions of a `Reader` (store, tenant, time) and `Filters` to view models.

    run_list(reader, filters) -> RunList                          a page of runs
    facet_list(reader, filters, names) -> FacetList               values to filter by, and how many runs fit
    run_timeline(reader, run_id, filters) -> RunTimeline | None   one run in order, with verdicts and raw spans
    matrix(reader, filters) -> Matrix                             confusion over the window
    suite_list(reader, filters) -> tuple[SuiteRow, ...]
    suite_view(reader, suite, filters, after) -> SuiteView        cases with history and flips
    case_view(reader, suite, case_id, filters) -> CaseRow | None
    catalog_list(reader, filters) -> CatalogList
    catalog_view(reader, catalog_id, filters) -> CatalogView | None
    catalog_diff(reader, before, after, filters) -> CatalogDiffView | None
    label_queue(reader, desk, day, by, limit) -> QueueView
    label_disputes(reader, filters, limit) -> tuple[DisputeRow, ...]
    label_card(reader, desk, run_id, by) -> LabelCard | None
    alerts_view(reader) -> AlertsView
    doctor_view(reader, filters) -> DoctorView
    overview(reader, filters) -> Overview

All raise `UsageError` for what is asked wrongly (a bad cursor, a window that ends before it begins) and `StoreError`.
What belongs to another tenant is not there: lists leave it out, single things are None.

The view models are frozen: those of runs are in `run_models`, of what is counted in `figure_models`, of what stands
around the runs in `state_models`. Texts are as the trace has them: whoever writes HTML escapes them. Times are UTC
nanoseconds, shares between 0 and 1 or None where nothing was counted.
"""

from otel_toolselect.app.browse.alerting import alerts_view
from otel_toolselect.app.browse.catalogs import catalog_diff, catalog_list, catalog_view
from otel_toolselect.app.browse.changes import overview
from otel_toolselect.app.browse.coverage import doctor_view
from otel_toolselect.app.browse.filters import Filters
from otel_toolselect.app.browse.labelling import label_card, label_disputes, label_queue
from otel_toolselect.app.browse.matrix import matrix
from otel_toolselect.app.browse.reader import Reader
from otel_toolselect.app.browse.runs import facet_list, run_list
from otel_toolselect.app.browse.suites import case_view, suite_list, suite_view
from otel_toolselect.app.browse.timeline import run_timeline

__all__ = [
    "Filters",
    "Reader",
    "alerts_view",
    "case_view",
    "catalog_diff",
    "catalog_list",
    "catalog_view",
    "doctor_view",
    "facet_list",
    "label_card",
    "label_disputes",
    "label_queue",
    "matrix",
    "overview",
    "run_list",
    "run_timeline",
    "suite_list",
    "suite_view",
]
