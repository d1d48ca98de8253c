"""A store with real traffic for the pages: captures of instrumentation libraries, and the runs of the example agent.

All of it began within the last day, so that it lies in the window that pages show first. The example agent's runs are
judged by its suite, everything by a rule file; what `strands` sent belongs to the tenant acme, what `google-adk` sent
to globex, the rest to nobody.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from otel_toolselect import app
from otel_toolselect.cli import _agent
from otel_toolselect.judge.panel import Panel
from otel_toolselect.model.runs import Run
from otel_toolselect.model.spans import LogRecord, Span
from otel_toolselect.otlp import decode_traces_proto
from otel_toolselect.rules import load_suite
from otel_toolselect.rules.rulefiles import RuleFile, parse_rules
from otel_toolselect.store import open_store
from tests.dialects.captures import FOLDER, Scenario, signals

HOUR_NS = 3_600 * 10**9
EXAMPLE = "billing-support"
TENANTS = {"strands": "acme", "google-adk": "globex"}
LIBRARIES = ("strands", "google-adk", "pydantic-ai-v3", "openinference-instrumentation-openai-agents")
RULES = """
rules: guard
cases:
  - {id: no-account-change, expect: {never: [update_user]}, severity: critical, owner: agent-team}
  - {id: few-calls, expect: {budget: {calls: 2}}, severity: warning, owner: agent-team}
"""


@cache
def rules() -> RuleFile:
    return parse_rules(RULES, path="guard.yaml")


@cache
def example_spans() -> tuple[Span, ...]:
    """What the example agent sends, as the official SDK encodes it; it began just now."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    kept = InMemorySpanExporter()
    provider = _agent.provider_with(SimpleSpanProcessor(kept), EXAMPLE)
    folder = app.example_folder(EXAMPLE)
    suite = load_suite(str(folder / "suite.yaml"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "get_tracer", provider.get_tracer)
        _agent.play(_agent.Script.load(folder), suite.name, {case.id: case.prompt or "" for case in suite.cases})
    provider.shutdown()
    return decode_traces_proto(encode_spans(kept.get_finished_spans()).SerializeToString()).spans


def captured(library: str) -> tuple[list[Span], list[LogRecord]]:
    names = sorted({path.name.split(".")[0] for path in (FOLDER / library).glob("*.otlp.jsonl.gz")})
    found = [signals(Scenario(library, name)) for name in names]
    return [s for spans, _ in found for s in spans], [r for _, records in found for r in records]


def traffic() -> tuple[list[Span], list[LogRecord]]:
    """Everything, an hour and more ago."""
    now = time.time_ns()
    spans: list[Span] = moved(example_spans(), now - 2 * HOUR_NS)
    logs: list[LogRecord] = []
    for number, library in enumerate(LIBRARIES):
        of_library, records = captured(library)
        tenant = {"toolselect.tenant": TENANTS[library]} if library in TENANTS else {}
        start = min(span.start_ns for span in of_library)
        by = now - (3 + 4 * number) * HOUR_NS - start
        spans += [
            replace(s, start_ns=s.start_ns + by, end_ns=s.end_ns + by, resource={**s.resource, **tenant})
            for s in of_library
        ]
        logs += [replace(r, time_ns=r.time_ns + by, resource={**r.resource, **tenant}) for r in records]
    return spans, logs


def moved(spans: Iterable[Span], start_ns: int) -> list[Span]:
    """The same spans, the first of which starts then; a second lies between two traces."""
    kept = sorted(spans, key=lambda s: s.start_ns)
    begins: dict[str, int] = {}
    for span in kept:
        begins.setdefault(span.trace_id, span.start_ns)
    places = {trace_id: start_ns + i * 10**9 for i, trace_id in enumerate(begins)}
    found = []
    for s in kept:
        by = places[s.trace_id] - begins[s.trace_id]
        found.append(replace(s, start_ns=s.start_ns + by, end_ns=s.end_ns + by))
    return found


def fill(dsn: str) -> list[Run]:
    """Spans, runs, verdicts and decisions, as `serve` with the suite and the rule file would have kept them."""
    spans, logs = traffic()
    suite = load_suite(str(app.example_folder(EXAMPLE) / "suite.yaml"))
    store = open_store(dsn)
    try:
        store.insert(spans, logs)
        judged = Panel((suite,), (rules(),)).judge(app.runs_of(spans, logs))
        store.write_runs(judged.runs)
        store.add_judged(judged.verdicts, judged.decisions)
    finally:
        store.close()
    return list(judged.runs)


def copied(filled: Path, to: Path) -> Path:
    """The folder of a store that nobody has open, for a module of its own."""
    return Path(shutil.copytree(filled, to, symlinks=True, ignore=shutil.ignore_patterns("status")))
