"""The packaged 80-case example: its script through the real SDK and encoder gives the figures of R39, no server
needed.
"""

from __future__ import annotations

from collections import Counter

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_toolselect import app, otlp
from otel_toolselect.cli import _agent
from otel_toolselect.judge import judge
from otel_toolselect.model.figures import Report
from otel_toolselect.model.runs import Run
from otel_toolselect.rules import load_suite
from otel_toolselect.stats import report

FOLDER = app.example_folder("billing-support")


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    memory = InMemorySpanExporter()
    provider = _agent.provider_with(SimpleSpanProcessor(memory), "billing-support")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trace, "get_tracer", provider.get_tracer)
        suite = load_suite(str(FOLDER / "suite.yaml"))
        requests = {case.id: case.prompt or "" for case in suite.cases}
        assert _agent.play(_agent.Script.load(FOLDER), suite.name, requests) == 80
    body = encode_spans(memory.get_finished_spans()).SerializeToString()
    batch = otlp.decode_traces_proto(body)
    assert not batch.rejected_spans
    return app.runs_of(batch.spans, batch.logs)


@pytest.fixture(scope="module")
def figures(runs: list[Run]) -> Report:
    return report(judge(runs, load_suite(str(FOLDER / "suite.yaml"))))


def test_every_case_is_one_complete_run(runs: list[Run]) -> None:
    assert len(runs) == 80
    assert {run.incomplete for run in runs} == {None}
    assert len({run.case_id for run in runs}) == 80
    assert {run.tools_offered and len(run.tools_offered) for run in runs} == {8}
    assert all(call.emitted and call.executed for run in runs for call in run.calls)


def test_figures_of_r39(figures: Report) -> None:
    selection = figures.summary.layers["selection"]
    assert (selection.passed, selection.n, selection.rate) == (68, 80, 0.85)
    tools = figures.confusion.tools
    assert (tools["refund_order"].correct, tools["refund_order"].support) == (16, 21)
    assert (tools["get_invoice"].correct, tools["get_invoice"].chosen) == (22, 27)
    worst = figures.confusion.worst_recall
    assert worst is not None
    assert (worst.tool, worst.support) == ("refund_order", 21)
    assert round(worst.recall, 2) == 0.76


def test_the_weak_row_of_r39(figures: Report) -> None:
    cells = Counter({(c.expected, c.observed): n for c, n in figures.confusion.cells})
    assert cells["refund_order", "get_invoice"] == 3
    assert cells["refund_order", "ask_followup"] == 2
    asked = sum(n for (e, o), n in cells.items() if o == "ask_followup" and e in figures.confusion.tools)
    assert asked == 3


def test_the_example_covers_what_a_suite_should() -> None:
    suite = load_suite(str(FOLDER / "suite.yaml"))
    assert len({case.prompt for case in suite.cases}) == 80
    assert {case.expect.decision for case in suite.cases} >= {"required", "none", "clarify", "refuse", "multi_step"}
    hard = [case for case in suite.cases if case.tags.get("bucket") in ("near_miss", "negative")]
    assert len(hard) >= 20
