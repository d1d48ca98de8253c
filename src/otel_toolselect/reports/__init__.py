"""Reports: one file per format, found by name (design section 2). Input is a result, output is text.

Besides the formats of a report this package writes runs and events for people (`_timeline`) and for programs
(`_records`), which `toolselect events` and the demo use.
"""

from __future__ import annotations

from typing import Protocol

from otel_toolselect.model.figures import Report
from otel_toolselect.registry import discover
from otel_toolselect.reports._arrivals import Arrivals, arrivals_json, arrivals_table
from otel_toolselect.reports._records import event_lines, run_lines
from otel_toolselect.reports._timeline import run_table, timelines
from otel_toolselect.reports._traced import traced_failures
from otel_toolselect.reports._worst import worst_failures

__all__ = [
    "Arrivals",
    "Writer",
    "arrivals_json",
    "arrivals_table",
    "event_lines",
    "run_lines",
    "run_table",
    "timelines",
    "traced_failures",
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
