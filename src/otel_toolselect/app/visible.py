"""Stored runs as one caller may see them: read anew from spans, of its own tenant alone.

Runs are assembled from the spans rather than taken from the store as they were kept: rules match on attributes, which
only spans have. Where the spans are gone (retention) the kept run stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_toolselect import app
from otel_toolselect.config import Settings
from otel_toolselect.errors import NotFoundError, TooLargeError
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import LogRecord, Span, tenant_of

if TYPE_CHECKING:
    from otel_toolselect.store import Store

_MOST_TRACES = 1_000
"""Traces that are assembled together at most, as in live judging."""
Check = Callable[[], None]
"""Raises when whoever asked does not wait any longer."""


def _patient() -> None:
    """The default of `Check`."""


@dataclass(frozen=True, slots=True)
class Visible:
    """What a caller may see: of one tenant, or (None) of all."""

    store: Store
    settings: Settings
    tenant: str | None = None

    def run(self, run_id: str, check: Check = _patient) -> tuple[Run, list[Run]]:
        """A kept run as its spans say it now, and all runs beside it. Raises NotFoundError, TooLargeError."""
        kept = list(self.store.runs(run_ids=[run_id]))
        if not kept:
            raise NotFoundError(
                f"no run {run_id!r}; runs are kept once they are judged, a trace can be asked for at once"
            )
        beside = self._assembled(kept[0].trace_ids, check)
        found = next((run for run in beside if run.run_id == run_id), None)
        if found is not None:
            return found, beside
        if self._owns(kept[0]):
            return kept[0], [*beside, *kept]
        raise NotFoundError(f"no run {run_id!r}; runs are kept once they are judged, a trace can be asked for at once")

    def trace(self, trace_id: str, check: Check = _patient) -> tuple[list[Run], list[Run]]:
        """The runs that hold spans of a trace, and all runs beside them. Raises NotFoundError, TooLargeError."""
        run_ids = self.store.runs_of_traces([trace_id]).get(trace_id, ())
        kept = list(self.store.runs(run_ids=run_ids)) if run_ids else []
        tied = dict.fromkeys([trace_id, *(other for run in kept for other in run.trace_ids)])
        beside = self._assembled(list(tied), check)
        found = [run for run in beside if trace_id in run.trace_ids]
        if not found:
            found = [run for run in kept if self._owns(run)]
            beside = [*beside, *found]
        if not found:
            raise NotFoundError(f"no trace {trace_id!r}")
        return found, beside

    def _assembled(self, trace_ids: Sequence[str], check: Check) -> list[Run]:
        spans: list[Span] = []
        logs: list[LogRecord] = []
        most = self.settings.limits.spans
        for trace_spans, trace_logs in self.store.traces(trace_ids=list(trace_ids)[:_MOST_TRACES]):
            check()
            spans += [span for span in trace_spans if self._of_tenant(span)]
            logs += [log for log in trace_logs if self._of_tenant(log)]
            if len(spans) + len(logs) > most:
                raise TooLargeError(f"more than {most} spans and log records; `toolselect eval` takes any number")
        return app.runs_of(spans, logs, self.settings) if spans else []

    def _of_tenant(self, record: Span | LogRecord) -> bool:
        return self.tenant is None or tenant_of(record.resource) == self.tenant

    def _owns(self, run: Run) -> bool:
        """Whether everything that was decided on a kept run, which has no attributes any more, is of the tenant."""
        if self.tenant is None:
            return True
        decisions = self.store.labels.decisions([run.run_id], run.start_ns, run.start_ns + 1)
        return bool(decisions) and all(decision.tenant == self.tenant for decision in decisions)
