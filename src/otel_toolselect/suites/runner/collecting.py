"""Spans as they arrive, by the attempt that they belong to.

A trace belongs to an attempt when it is the one that the attempt was handed, when a span or resource of it names that
very try, or else its case and attempt; and, where nothing names one, when only one attempt is under way.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.assemble import CaseAttributes, assemble
from otel_toolselect.dialects import read
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.suites.runner.carriers import TRIAL_ID
from otel_toolselect.suites.runner.target import Trial

Found = tuple[list[Span], list[LogRecord]]
Whole = Callable[[Sequence[Span], Sequence[LogRecord]], bool]
_QUIET_S = 6.0  # longer than the 5 s in which the SDKs' batches leave


@dataclass(slots=True)
class _Trace:
    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)
    owner: Trial | None = None
    last: float = 0.0


class Collector:
    """A receiver's sink (`receive.Sink`), in memory. `names`: the attributes that name a case."""

    def __init__(self, names: CaseAttributes) -> None:
        self._names = names
        self._arrived = threading.Condition()
        self._traces: dict[str, _Trace] = {}
        self._open: dict[str, Trial] = {}
        self._loose: dict[str, list[LogRecord]] = defaultdict(list)
        self.late = 0
        """Spans that came when their attempt was over already, or of none."""

    def insert(self, spans: Sequence[Span], logs: Sequence[LogRecord], /) -> None:
        with self._arrived:
            for span in spans:
                self._keep(span, self._trace(span.trace_id).spans)
            for log in logs:
                self._keep(log, self._trace(log.trace_id).logs)
            self._drop_strangers()
            self._arrived.notify_all()

    def open(self, trial: Trial) -> None:
        with self._arrived:
            self._open[trial.span_id] = trial

    def gather(self, trial: Trial, until: Whole, timeout_s: float, stop: threading.Event) -> Found:
        """What belongs to the trial, once it is whole, or when time is up; then the trial is over."""
        deadline = time.monotonic() + timeout_s
        with self._arrived:
            while not stop.is_set():
                spans, logs, last = self._of(trial)
                left = deadline - time.monotonic()
                wait = self._wait(trial, (spans, logs), last, until)
                if wait == 0.0 or left <= 0:
                    break
                self._arrived.wait(min(left, wait, 1.0))
            spans, logs, _ = self._of(trial)
            self._open.pop(trial.span_id, None)
            for name in [name for name, trace in self._traces.items() if trace.owner is trial]:
                del self._traces[name]
        return spans, logs

    def _wait(self, trial: Trial, found: Found, last: float, until: Whole) -> float:
        """How long to wait at least; 0 when nothing more is to come."""
        if not until(*found):
            return _QUIET_S
        if has_end(trial, *found):
            return 0.0
        return max(0.0, last + _QUIET_S - time.monotonic())

    def _trace(self, trace_id: str) -> _Trace:
        return self._traces.setdefault(trace_id, _Trace())

    def _keep(self, record: Any, into: list[Any]) -> None:
        trace = self._trace(record.trace_id)
        trace.last = time.monotonic()
        into.append(record)
        if trace.owner is None:
            trace.owner = self._owner(record)

    def _owner(self, record: Span | LogRecord) -> Trial | None:
        for trial in self._open.values():
            if record.trace_id == trial.trace_id:
                return trial
        named = {**record.resource, **record.attributes}
        known = self._open.get(str(named.get(TRIAL_ID, "")))
        if known is not None or TRIAL_ID in named:
            return known
        case_id, attempt = _first(named, self._names.case_id), _first(named, self._names.attempt)
        if case_id is None:
            return next(iter(self._open.values())) if len(self._open) == 1 else None
        fitting = [t for t in self._open.values() if t.attempt.case.id == case_id]
        fitting = [t for t in fitting if attempt in (None, str(t.attempt.number))]
        return fitting[0] if len(fitting) == 1 else None

    def _of(self, trial: Trial) -> tuple[list[Span], list[LogRecord], float]:
        mine = [trace for trace in self._traces.values() if trace.owner is trial]
        last = max((trace.last for trace in mine), default=0.0)
        return [s for t in mine for s in t.spans], [log for t in mine for log in t.logs], last

    def _drop_strangers(self) -> None:
        """Traces of nobody stay a while: the span that names their attempt may be in the next request."""
        known = {trial.span_id for trial in self._open.values()}
        old = time.monotonic() - 60.0
        for name, trace in list(self._traces.items()):
            over = trace.owner is not None and trace.owner.span_id not in known
            if over or (trace.owner is None and trace.last < old):
                self.late += len(trace.spans)
                del self._traces[name]


def _first(named: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    return next((str(named[key]) for key in keys if named.get(key) not in (None, "")), None)


def is_whole(spans: Sequence[Span], logs: Sequence[LogRecord]) -> bool:
    """There is a run, and no run lacks anything as far as its spans tell."""
    runs = assemble(read(spans, logs))
    return bool(runs) and all(run.incomplete is None for run in runs)


def has_agent(spans: Sequence[Span], logs: Sequence[LogRecord]) -> bool:
    """Whether a span stands for the agent's run."""
    return any(o.kind == "agent" for o in read(spans, logs))


def has_end(trial: Trial, spans: Sequence[Span], logs: Sequence[LogRecord]) -> bool:
    """Whether a span has come that ends last: an agent's, or another that is no model's or tool's and lies on top (of a
    server, a chain). Spans of a model client alone show no end: one more request may follow.
    """
    tops = ("", trial.span_id)
    found = read(spans, logs)
    return any(o.kind == "agent" or (o.kind == "other" and o.span.parent_span_id in tops) for o in found)
