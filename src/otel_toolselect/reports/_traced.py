"""The worst failures with what the agent did: the verdict, then the run's events in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from otel_toolselect.model.figures import Report
from otel_toolselect.model.runs import Run
from otel_toolselect.reports._layout import Block, Heading, paint
from otel_toolselect.reports._timeline import happened
from otel_toolselect.reports._worst import worst_failures
from otel_toolselect.reports.table import failure


def traced_failures(report: Report, runs: Mapping[str, Run], limit: int, *, colour: bool, width: int) -> str:
    """At most `limit` failures, worst first; "" when there is none. `runs` by run id."""
    worst = worst_failures(report, limit)

    def blocks() -> Iterator[Block]:
        yield Heading(f"The {len(worst)} worst failures, with their traces")
        for number, verdict in enumerate(worst, start=1):
            yield from failure(number, verdict)
            run = runs.get(verdict.run_id)
            if run is not None:
                yield from happened(run, width, indent=5)

    return paint(blocks(), colour=colour, width=width) if worst else ""
