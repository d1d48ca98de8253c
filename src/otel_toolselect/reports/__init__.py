"""Reports: one file per format, found by name (design section 2). Input is a result, output is text.

Besides the formats of a report this package writes runs and events for people (`_timeline`) and for programs
(`_records`), which `toolselect events` and the demo use.
"""

from __future__ import annotations

from typing import Protocol

from otel_toolselect.model.figures import Report
from otel_toolselect.registry import discover
from otel_toolselect.reports._arrivals import Arrivals, arrivals_json, arrivals_table
from otel_toolselect.reports._catalogs import (
    catalogs_json,
    catalogs_table,
    diff_json,
    diff_table,
    suspicions_json,
    suspicions_table,
)
from otel_toolselect.reports._comparing import comparison_json, comparison_markdown, comparison_table
from otel_toolselect.reports._diagnosis import diagnosis_json, diagnosis_table
from otel_toolselect.reports._experiment import experiment_json, experiment_markdown, experiment_table
from otel_toolselect.reports._experiment_chart import experiment_html, experiment_svg
from otel_toolselect.reports._gating import gate_json, gate_markdown, gate_table
from otel_toolselect.reports._labels import (
    agreement_json,
    agreement_table,
    figures_json,
    figures_table,
    label_says,
    labels_table,
    queue_json,
    queue_table,
    run_card,
)
from otel_toolselect.reports._material import NOTHING, Illustrated, Material
from otel_toolselect.reports._monitoring import (
    backtest_json,
    backtest_table,
    sendings_json,
    sendings_table,
    silences_json,
    silences_table,
    statuses_json,
    statuses_table,
)
from otel_toolselect.reports._plain import jsonable
from otel_toolselect.reports._preflight import preflight_json, preflight_junit, preflight_table
from otel_toolselect.reports._reading import parse_report, read_report
from otel_toolselect.reports._records import event_lines, event_records, run_lines, run_records
from otel_toolselect.reports._ruletests import outcomes_json, outcomes_junit, outcomes_table
from otel_toolselect.reports._rulings import Checked, checked_json, checked_table, rulings_json, rulings_table
from otel_toolselect.reports._spread import confusion_json, confusion_table, flips_json, flips_table
from otel_toolselect.reports._text import visible
from otel_toolselect.reports._timeline import run_table, timelines
from otel_toolselect.reports._traced import traced_failures
from otel_toolselect.reports._triage import triage_json, triage_markdown, triage_table
from otel_toolselect.reports._windows import windows_json, windows_table
from otel_toolselect.reports._worst import worst_failures

__all__ = [
    "Arrivals",
    "Checked",
    "Material",
    "Writer",
    "agreement_json",
    "agreement_table",
    "arrivals_json",
    "arrivals_table",
    "backtest_json",
    "backtest_table",
    "catalogs_json",
    "catalogs_table",
    "checked_json",
    "checked_table",
    "comparison_json",
    "comparison_markdown",
    "comparison_table",
    "confusion_json",
    "confusion_table",
    "diagnosis_json",
    "diagnosis_table",
    "diff_json",
    "diff_table",
    "event_lines",
    "event_records",
    "experiment_html",
    "experiment_json",
    "experiment_markdown",
    "experiment_svg",
    "experiment_table",
    "figures_json",
    "figures_table",
    "flips_json",
    "flips_table",
    "gate_json",
    "gate_markdown",
    "gate_table",
    "jsonable",
    "label_says",
    "labels_table",
    "outcomes_json",
    "outcomes_junit",
    "outcomes_table",
    "parse_report",
    "preflight_json",
    "preflight_junit",
    "preflight_table",
    "queue_json",
    "queue_table",
    "read_report",
    "render",
    "rulings_json",
    "rulings_table",
    "run_card",
    "run_lines",
    "run_records",
    "run_table",
    "sendings_json",
    "sendings_table",
    "silences_json",
    "silences_table",
    "statuses_json",
    "statuses_table",
    "suspicions_json",
    "suspicions_table",
    "timelines",
    "traced_failures",
    "triage_json",
    "triage_markdown",
    "triage_table",
    "visible",
    "windows_json",
    "windows_table",
    "worst_failures",
    "writers",
]


class Writer(Protocol):
    """One report format. `render` is pure: the same report gives the same text."""

    @property
    def name(self) -> str: ...

    def render(self, report: Report, *, colour: bool, width: int) -> str:
        """The whole report, ending in a newline. `colour`: for a terminal; formats for programs ignore
        both.
        """
        ...


def writers() -> dict[str, Writer]:
    """All formats by name."""
    return dict(discover(__name__))


def render(form: str, report: Report, material: Material = NOTHING, *, colour: bool = False, width: int = 110) -> str:
    """The report in the form of that name, with whatever more of the material that form can show."""
    writer = writers()[form]
    if isinstance(writer, Illustrated):
        return writer.render_with(report, material, colour=colour, width=width)
    return writer.render(report, colour=colour, width=width)
