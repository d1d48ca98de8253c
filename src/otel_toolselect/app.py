"""The only place that wires the parts together (design section 2). Commands call it and print what it
returns.

Imports stand inside the functions: a command pays for what it uses and for nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from otel_toolselect.config import Settings, load
from otel_toolselect.model.figures import Report
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import LogRecord, Span

if TYPE_CHECKING:
    from otel_toolselect.store import Store

Warn = Callable[[str], None]


def _silent(message: str) -> None:
    """The default of `warn`."""


def read_files(paths: Sequence[str], warn: Warn = _silent) -> tuple[list[Span], list[LogRecord]]:
    """Everything in the files. What was put right or left out is said, each thing once."""
    from otel_toolselect.otlp import files

    spans: list[Span] = []
    logs: list[LogRecord] = []
    said: set[str] = set()
    for batch in files.read(paths):
        spans += batch.spans
        logs += batch.logs
        rejected = [f"{r.where}: left out, {r.reason}" for r in (*batch.rejected_spans, *batch.rejected_logs)]
        for note in (*batch.warnings, *rejected):
            if note not in said:
                said.add(note)
                warn(note)
    return spans, logs


def runs_of(spans: Iterable[Span], logs: Iterable[LogRecord], settings: Settings | None = None) -> list[Run]:
    """Spans and log records to runs. Pure; needs all of them at once, as runs may be stitched across
    traces.
    """
    from otel_toolselect.assemble import CaseAttributes, assemble
    from otel_toolselect.dialects import read

    names = (settings or load()).case_attributes
    attributes = CaseAttributes(names.case_id, names.suite, names.label, names.attempt)
    return assemble(read(spans, logs), attributes)


def runs_from_files(paths: Sequence[str], *, settings: Settings | None = None, warn: Warn = _silent) -> list[Run]:
    return runs_of(*read_files(paths, warn), settings)


def runs_from_store(
    store: Store,
    *,
    since_ns: int | None = None,
    until_ns: int | None = None,
    service: str | None = None,
    settings: Settings | None = None,
) -> list[Run]:
    """The runs of all traces that touch the window."""
    spans: list[Span] = []
    logs: list[LogRecord] = []
    for trace_spans, trace_logs in store.traces(since_ns=since_ns, until_ns=until_ns, service=service):
        spans += trace_spans
        logs += trace_logs
    return runs_of(spans, logs, settings)


def score(paths: Sequence[str], suite: str, *, settings: Settings | None = None, warn: Warn = _silent) -> Report:
    """Files against a suite, nothing kept."""
    from otel_toolselect.judge import judge
    from otel_toolselect.rules import load_suite
    from otel_toolselect.stats import report

    expectations = load_suite(suite)  # first: a mistake in it is said before a large file is read
    return report(judge(runs_from_files(paths, settings=settings, warn=warn), expectations))


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What `evaluate` judged: the figures, and the runs by id for those who show traces."""

    report: Report
    runs: dict[str, Run]


def evaluate(
    store: Store,
    suite: str,
    *,
    since_ns: int | None = None,
    until_ns: int | None = None,
    service: str | None = None,
    settings: Settings | None = None,
) -> Evaluated:
    """Stored spans against a suite; runs and verdicts are kept. Judging again replaces, so nothing counts
    twice.
    """
    from otel_toolselect.judge import judge
    from otel_toolselect.rules import load_suite
    from otel_toolselect.stats import report

    expectations = load_suite(suite)
    runs = runs_from_store(store, since_ns=since_ns, until_ns=until_ns, service=service, settings=settings)
    verdicts = judge(runs, expectations)
    store.write_runs(runs)
    store.write_verdicts(verdicts.runs)
    return Evaluated(report(verdicts), {run.run_id: run for run in runs})
