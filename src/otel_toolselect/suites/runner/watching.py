"""Spans of attempts in a store that somebody else fills: a running `toolselect serve`, or a Collector."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from otel_toolselect.assemble import CaseAttributes
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.store import Store
from otel_toolselect.suites.runner.collecting import Collector, Found, Whole
from otel_toolselect.suites.runner.target import Trial

_LOOK_S = 0.5
_BEFORE_NS = 5 * 10**9  # clocks of other machines
_AFTER_S = 2.0


class StoreWatch:
    """Asks the store while somebody waits, and sorts what it finds as a receiver's sink does."""

    def __init__(self, store: Store, names: CaseAttributes) -> None:
        self._store = store
        self._names = names
        self._since: dict[str, int] = {}

    def open(self, trial: Trial) -> None:
        self._since[trial.span_id] = time.time_ns() - _BEFORE_NS

    def settle(self) -> bool:
        """A store shows what it has; whether more is to come, it does not know."""
        return False

    def gather(self, trial: Trial, until: Whole, timeout_s: float, stop: threading.Event) -> Found:
        since = self._since.pop(trial.span_id)
        deadline = time.monotonic() + max(timeout_s, _AFTER_S)
        found: Found = ([], [])
        while not stop.is_set():
            found = self._look(trial, since)
            if until(*found) or time.monotonic() > deadline:
                break
            stop.wait(_LOOK_S)
        return found

    def _look(self, trial: Trial, since: int) -> Found:
        collector = Collector(self._names)
        collector.open(trial)
        spans: list[Span] = []
        logs: list[LogRecord] = []
        for traces in (self._store.traces(trace_ids=[trial.trace_id]), self._store.traces(since_ns=since)):
            for some, more in traces:
                spans += some
                logs += more
        unnamed = _without_strangers(spans, trial, self._names)
        collector.insert(unnamed, [log for log in logs if log.trace_id in {span.trace_id for span in unnamed}])
        return collector.gather(trial, lambda *_: True, 0.0, threading.Event())


def _without_strangers(spans: Sequence[Span], trial: Trial, names: CaseAttributes) -> list[Span]:
    """Traffic of others is in the store too: a trace must be the trial's, or name its case."""
    named = {
        span.trace_id
        for span in spans
        if any({**span.resource, **span.attributes}.get(key) == trial.attempt.case.id for key in names.case_id)
    }
    unique = {(span.trace_id, span.span_id): span for span in spans}
    return [s for s in unique.values() if s.trace_id == trial.trace_id or s.trace_id in named]
