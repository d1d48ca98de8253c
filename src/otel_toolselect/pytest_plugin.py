"""pytest plugin: a `toolselect` fixture that captures an agent's spans in the process and holds them to expectations.

    def test_refund(toolselect):
        my_agent.run("refund order A-1042")
        toolselect.expect(first=["refund_order"], never=["update_user"])

The vocabulary is that of `expect` in a suite file; `expect_case` takes a case of a suite file. Spans are captured from
the global tracer provider of the OpenTelemetry SDK; an agent with a provider of its own adds `toolselect.processor` to
it. Nothing leaves the process. A run that cannot be judged fails the test: it is not known to be right.

Everything heavy is imported when the fixture is used, as pytest loads this file in every session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    from otel_toolselect.model.runs import Run
    from otel_toolselect.model.verdicts import RunVerdict
    from otel_toolselect.rules import Case, Suite

WIDTH = 100
CASE = "test"
_MISSING = (
    "the toolselect fixture needs the OpenTelemetry SDK and its OTLP encoder: pip install 'otel-toolselect[demo]'"
)


class Captured:
    """What the agent did since the test began, or since `clear`."""

    def __init__(self) -> None:
        try:
            from opentelemetry.sdk.trace.export import SimpleSpanProcessor
            from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        except ImportError as error:
            raise pytest.UsageError(_MISSING) from error
        self._memory = InMemorySpanExporter()
        self.processor: SimpleSpanProcessor = SimpleSpanProcessor(self._memory)
        """For a tracer provider of your own: `provider.add_span_processor(toolselect.processor)`."""

    def clear(self) -> None:
        """Forget the spans so far."""
        self._memory.clear()

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return tuple(self._memory.get_finished_spans())

    @property
    def runs(self) -> list[Run]:
        """The captured agent runs, nested ones after those that answer the user, each by start."""
        from otel_toolselect import app, otlp

        try:
            from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
        except ImportError as error:
            raise pytest.UsageError(_MISSING) from error
        batch = otlp.decode_traces_proto(encode_spans(self.spans).SerializeToString())
        found = app.runs_of(batch.spans, batch.logs)
        return sorted(found, key=lambda run: (run.parent_run_id is not None, run.start_ns, run.run_id))

    def expect(self, *, policy: Mapping[str, Any] | None = None, **expectation: Any) -> None:
        """Every captured run that answers the user must meet this expectation, written as in a suite file.

        `policy` is a suite's `policy.tools`: {"refund_order": {"effect": "write"}}.
        """
        import json

        from otel_toolselect.rules import parse_suite

        head = {"policy": {"tools": dict(policy)}} if policy else {}
        document = {"suite": "pytest", **head, "cases": [{"id": CASE, "expect": expectation}]}
        suite = parse_suite(json.dumps(document), path="toolselect.expect(...)")
        self._hold(suite.cases[0], suite)

    def expect_case(self, suite: str, case: str) -> None:
        """Every captured run that answers the user must meet that case of a suite file."""
        from otel_toolselect.rules import load_suite

        loaded = load_suite(str(suite))
        found = next((one for one in loaded.cases if one.id == case), None)
        if found is None:
            raise pytest.UsageError(f"{suite} has no case {case!r}")
        self._hold(found, loaded)

    def _hold(self, case: Case, suite: Suite) -> None:
        from otel_toolselect.judge import judge_run

        __tracebackhide__ = True
        runs = [run for run in self.runs if run.parent_run_id is None]
        if not runs:
            pytest.fail(_no_run(len(self.spans)), pytrace=False)
        told = [_told(judge_run(run, case, suite), run) for run in runs]
        wrong = [text for text in told if text]
        if wrong:
            pytest.fail("\n\n".join(wrong), pytrace=False)


def _told(verdict: RunVerdict, run: Run) -> str:
    """What went wrong, then what the agent did; "" when the run met the expectation."""
    from otel_toolselect.reports import timelines

    bad = {name: layer for name, layer in verdict.layers.items() if layer.status not in ("pass", "n/a")}
    if not bad:
        return ""
    lines = [f"the agent did not do what was expected ({verdict.failure or 'not decided'}):"]
    lines += [f"  wanted {c.expected}, got {c.observed}" for c in verdict.cells if c.expected != c.observed]
    said = {f"{layer.status}: {layer.explanation}" if verdict.excluded else "": None for layer in bad.values()}
    lines += [f"  {text}" for text in said if text]
    if not verdict.excluded:
        lines += [f"  {name} ({layer.status}): {layer.explanation}" for name, layer in bad.items()]
    return "\n".join([*lines, "", timelines([run], colour=False, width=WIDTH).rstrip()])


def _no_run(spans: int) -> str:
    if spans:
        return f"{spans} spans were captured, but no agent run is in them; `toolselect doctor` on a trace file says why"
    return (
        "no span was captured: the agent must use the global tracer provider of the OpenTelemetry SDK, "
        "or provider.add_span_processor(toolselect.processor)"
    )


@pytest.fixture(scope="session")
def _toolselect_capture() -> Captured:
    """One for the session: a processor cannot be taken off a provider again."""
    from opentelemetry import trace

    captured = Captured()
    from opentelemetry.sdk.trace import TracerProvider

    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider(shutdown_on_exit=False)
        trace.set_tracer_provider(provider)
    provider.add_span_processor(captured.processor)
    return captured


@pytest.fixture
def toolselect(_toolselect_capture: Captured) -> Iterator[Captured]:
    """Captures the spans of an agent that runs in this test; see `Captured`."""
    _toolselect_capture.clear()
    yield _toolselect_capture
    _toolselect_capture.clear()
