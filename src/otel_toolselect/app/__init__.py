"""The only place that wires the parts together (design section 2). Commands call it and print what it
returns.

Imports stand inside the functions: a command pays for what it uses and for nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from otel_toolselect.config import Settings, data_folder, load
from otel_toolselect.errors import UsageError
from otel_toolselect.model.figures import Report
from otel_toolselect.model.observations import Observation
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import Batch, LogRecord, Span
from otel_toolselect.telemetry import tracing

if TYPE_CHECKING:
    from otel_toolselect.config import Judge as JudgeSettings
    from otel_toolselect.model.verdicts import SuiteVerdicts
    from otel_toolselect.reports import Arrivals
    from otel_toolselect.rules import Suite
    from otel_toolselect.rules.asking import Asker
    from otel_toolselect.store import Store

Warn = Callable[[str], None]
REPLAY_BATCH = 5000


@dataclass(frozen=True, slots=True)
class Replayed:
    """How much was sent, before repeats collapse."""

    spans: int = 0
    logs: int = 0


def _silent(message: str) -> None:
    """The default of `warn`."""


def read_files(paths: Sequence[str], warn: Warn = _silent) -> tuple[list[Span], list[LogRecord]]:
    """Everything in the files. What was put right or left out is said."""
    from otel_toolselect.otlp import files

    spans: list[Span] = []
    logs: list[LogRecord] = []
    for batch in files.read(paths):
        _say_notes(batch, warn)
        spans += batch.spans
        logs += batch.logs
    return spans, logs


def _say_notes(batch: Batch, warn: Warn) -> None:
    for note in batch.warnings:
        warn(note)
    for rejection in (*batch.rejected_spans, *batch.rejected_logs):
        warn(f"{rejection.where}: left out, {rejection.reason}")


def runs_of(spans: Iterable[Span], logs: Iterable[LogRecord], settings: Settings | None = None) -> list[Run]:
    """Spans and log records to runs. Pure; needs all of them at once, as runs may be stitched across
    traces.
    """
    from otel_toolselect.dialects import read

    return assembled(read(spans, logs), settings)


def assembled(observations: Iterable[Observation], settings: Settings | None = None) -> list[Run]:
    """Observations to runs, under the attribute names that the settings give to cases."""
    from otel_toolselect.assemble import CaseAttributes, assemble

    names = (settings or load()).case_attributes
    attributes = CaseAttributes(names.case_id, names.suite, names.label, names.attempt, names.expected)
    with tracing.span("assemble") as add:
        runs = assemble(observations, attributes)
        add("runs", len(runs))
    return runs


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
    return runs_of(*read_store(store, since_ns=since_ns, until_ns=until_ns, service=service), settings)


def score(paths: Sequence[str], suite: str, *, settings: Settings | None = None, warn: Warn = _silent) -> Report:
    """Files against a suite, nothing kept."""
    return scored(paths, suite, settings=settings, warn=warn).report


def scored(paths: Sequence[str], suite: str, *, settings: Settings | None = None, warn: Warn = _silent) -> Evaluated:
    """`score`, with the runs and the suite for those who show more than figures."""
    from otel_toolselect.rules import load_suite
    from otel_toolselect.stats import report

    expectations = load_suite(suite)  # first: a mistake in it is said before a large file is read
    runs = runs_from_files(paths, settings=settings, warn=warn)
    return Evaluated(report(judged(runs, expectations, settings)), {run.run_id: run for run in runs}, expectations)


def judged(runs: Iterable[Run], suite: Suite, settings: Settings | None = None) -> SuiteVerdicts:
    """Verdicts and facts, with the yes/no judge of the settings to ask; adjudicated where they say so (R37)."""
    from otel_toolselect.judge import adjudicate, judge, with_facts

    wanted = (settings or load()).judge
    kept = list(runs)
    with tracing.span("judge", runs=len(kept)), asker_of(wanted) as asker:
        verdicts = judge(kept, suite, asker)
        if asker is not None and wanted.adjudicate:
            verdicts = adjudicate(verdicts, {run.run_id: run for run in kept}, asker)
    return with_facts(verdicts, kept, suite)


@contextmanager
def asker_of(wanted: JudgeSettings) -> Iterator[Asker | None]:
    """Who answers questions about free text, None when no judge is configured; limits count within the block."""
    if not wanted.on:
        yield None
        return
    from otel_toolselect.llm import Cache, Client, Limits
    from otel_toolselect.llm.client import require

    require()
    folder = Path(wanted.cache) if wanted.cache else data_folder() / "judge-cache"
    limits = Limits(wanted.calls, wanted.seconds, wanted.timeout)
    client = Client(wanted.url, wanted.model, key=wanted.key, limits=limits, cache=Cache(folder))
    try:
        yield client
    finally:
        client.close()


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What was judged: the figures, the runs by id for those who show traces, and the suite that they were held to."""

    report: Report
    runs: dict[str, Run]
    suite: Suite


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
    from otel_toolselect.judge.panel import refuse_reserved
    from otel_toolselect.rules import load_suite

    expectations = load_suite(suite)
    refuse_reserved(expectations)
    as_of = store.mark()  # what is judged live from now on has read later, and wins
    runs = runs_from_store(store, since_ns=since_ns, until_ns=until_ns, service=service, settings=settings)
    return kept(store, runs, expectations, settings or load(), as_of)


def kept(store: Store, runs: Sequence[Run], suite: Suite, settings: Settings, as_of: int | None = None) -> Evaluated:
    """Runs held to a suite; runs, verdicts and decisions go into the store, in place of what was there of them."""
    from otel_toolselect.app.labels import labelling
    from otel_toolselect.judge.decisions import decision_of, traffic_of
    from otel_toolselect.model.decisions import LABELS
    from otel_toolselect.rules import RunView
    from otel_toolselect.stats import report

    verdicts = judged(runs, suite, settings)
    by_id = {run.run_id: run for run in runs}
    decisions = [traffic_of(run) for run in by_id.values()]
    decisions += [decision_of(verdict, RunView(by_id[verdict.run_id], suite.policy)) for verdict in verdicts.runs]
    store.write_runs(runs, as_of)
    decisions += labelling(store, settings).decisions(runs)
    store.replace_judged(["", LABELS, suite.name], list(by_id.values()), verdicts.runs, decisions, as_of)
    return Evaluated(report(verdicts), by_id, suite)


def doctor(spans: Sequence[Span], logs: Sequence[LogRecord], settings: Settings | None = None) -> Arrivals:
    """What these spans and log records are, how complete, and which switches bring what is missing."""
    from otel_toolselect import dialects, stats
    from otel_toolselect.reports import Arrivals

    def name(span: Span) -> str:
        found = dialects.dialect_of(span)
        return found.name if found else dialects.UNCLAIMED

    arrived = stats.scopes(spans, name)
    observations = dialects.read(spans, logs)
    rows = stats.coverage(assembled(observations, settings))
    found: dict[tuple[str, str], set[str]] = {(row.service, row.dialect): set() for row in rows}
    for scope in arrived:
        for dialect in scope.dialects:
            found.setdefault((scope.service, dialect), set()).add(scope.scope)
    return Arrivals(
        scopes=arrived,
        coverage=rows,
        hints={key: dialects.hints(key[1], sorted(scopes)) for key, scopes in found.items()},
        loose_logs=sum(not log.span_id for log in logs),
        faults=Counter(f"{o.dialect}: {o.fault}" for o in observations if o.fault),
    )


def read_store(
    store: Store, *, since_ns: int | None = None, until_ns: int | None = None, service: str | None = None
) -> tuple[list[Span], list[LogRecord]]:
    """All spans and log records of the traces that touch the window, and the log records of no trace."""
    spans: list[Span] = []
    logs: list[LogRecord] = []
    for trace_spans, trace_logs in store.traces(since_ns=since_ns, until_ns=until_ns, service=service):
        spans += trace_spans
        logs += trace_logs
    logs += store.orphan_logs(since_ns=since_ns, until_ns=until_ns, service=service)
    return spans, logs


def replay(paths: Sequence[str], store: Store, *, settings: Settings | None = None, warn: Warn = _silent) -> Replayed:
    """Files into the store, in batches as they are read: a file may be larger than memory. Redacted as what is
    received.
    """
    from otel_toolselect.otlp import files
    from otel_toolselect.otlp.redact import redactor

    redact = redactor((settings or load()).redact)
    spans: list[Span] = []
    logs: list[LogRecord] = []
    done = Replayed()
    for batch in files.read(paths):
        _say_notes(batch, warn)
        kept = batch if redact is None else redact.batch(batch)
        spans += kept.spans
        logs += kept.logs
        if len(spans) + len(logs) >= REPLAY_BATCH:
            done = _keep(store, spans, logs, done)
    return _keep(store, spans, logs, done)


def _keep(store: Store, spans: list[Span], logs: list[LogRecord], done: Replayed) -> Replayed:
    if spans or logs:
        store.insert(spans, logs)
    done = Replayed(done.spans + len(spans), done.logs + len(logs))
    spans.clear()
    logs.clear()
    return done


def example_folder(name: str) -> Path:
    """The folder of a packaged example suite."""
    folder = Path(__file__).parents[1] / "examples" / name
    if not (folder / "suite.yaml").is_file():
        raise UsageError(f"there is no example {name!r}")
    return folder
