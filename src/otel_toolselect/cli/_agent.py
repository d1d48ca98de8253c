"""The demo's agent: a small tool-calling loop with a scripted model, instrumented as a user would instrument theirs.

It knows nothing of the judging side. Its spans are made with `otel_toolselect.instrument` on the official SDK and leave
through the official OTLP gRPC exporter.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from otel_toolselect.errors import EnvironmentProblem, UsageError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

Message = dict[str, Any]
Step = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Script:
    """The scripted agent: its facts (name, model, instructions, tools) and its steps by case."""

    facts: Mapping[str, Any]
    steps: Mapping[str, Sequence[Step]]

    @classmethod
    def load(cls, folder: Path) -> Script:
        lines = (folder / "script.jsonl").read_text("utf-8").splitlines()
        entries = [json.loads(line) for line in lines if line]
        facts = json.loads((folder / "agent.json").read_text("utf-8"))
        return cls(facts, {entry["case"]: entry["steps"] for entry in entries})


class ToolError(Exception):
    """What a scripted tool raises."""

    def __init__(self, error_type: str, message: str) -> None:
        super().__init__(message)
        self.error_type = error_type


class Sender:
    """The official OTLP gRPC exporter to host:port behind a batch processor. `lost` counts spans that did not arrive:
    the processor itself does not tell.
    """

    def __init__(self, endpoint: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
        except ImportError as error:
            raise EnvironmentProblem(
                "the demo's agent needs the OpenTelemetry SDK and its exporter: pip install 'otel-toolselect[demo]'"
            ) from error
        self.lost = 0
        exporter = OTLPSpanExporter(endpoint=endpoint, insecure=True)
        send = exporter.export

        def export(spans: Sequence[ReadableSpan]) -> SpanExportResult:
            result = send(spans)
            if result is not SpanExportResult.SUCCESS:
                self.lost += len(spans)
            return result

        exporter.export = export  # type: ignore[method-assign]
        self.processor = BatchSpanProcessor(exporter, max_export_batch_size=256)


def provider_with(processor: SpanProcessor, service: str) -> TracerProvider:
    """A tracer provider that writes the case's identity on each span and hands it to `processor`."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider

    from otel_toolselect.instrument import CaseSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": service}), shutdown_on_exit=False)
    provider.add_span_processor(CaseSpanProcessor())  # type: ignore[arg-type]  # has the methods, not the base class
    provider.add_span_processor(processor)
    return provider


def play(
    script: Script, suite: str, requests: Mapping[str, str], *, done: Callable[[str], None] = lambda case: None
) -> int:
    """Runs every case once under the global tracer provider; returns how many."""
    from otel_toolselect import instrument

    for case_id, request in requests.items():
        if case_id not in script.steps:
            raise UsageError(f"the script has no steps for the case {case_id}")
        with instrument.case(case_id, suite=suite, attempt=1):
            _answer(script.facts, request, script.steps[case_id])
        done(case_id)
    return len(requests)


def _answer(facts: Mapping[str, Any], request: str, steps: Sequence[Step]) -> None:
    """One run: model, tool, model, ... until the model answers with text."""
    from otel_toolselect import instrument

    messages: list[Message] = [_message("user", {"type": "text", "content": request})]
    names = {"model": facts["model"], "provider": facts["provider"]}
    with instrument.agent(facts["agent"], request, tools=facts["tools"], capture=True, **names) as run:
        for number, step in enumerate(steps, start=1):
            with run.model(messages, **names) as turn:
                turn.span.set_attribute("gen_ai.system_instructions", _text_parts(facts["system"]))
                turn.span.set_attribute("gen_ai.usage.input_tokens", 180 + 60 * number)
                turn.span.set_attribute("gen_ai.usage.output_tokens", 24)
                if "say" in step:
                    turn.text(step["say"])
                else:
                    turn.tool_call(step["call"], step["args"], f"call_{number}")
            if "say" in step:
                run.answer(step["say"])
            else:
                messages += _called(step, f"call_{number}")
        run.usage(180 * len(steps), 24 * len(steps))


def _called(step: Step, call_id: str) -> list[Message]:
    """Executes one call; what the model sees of it afterwards."""
    from otel_toolselect import instrument

    asked = {"type": "tool_call", "id": call_id, "name": step["call"], "arguments": step["args"]}
    execution: AbstractContextManager[instrument.ToolRun] = instrument.execute_tool(
        step["call"], step["args"], call_id=call_id, capture=True
    )
    with execution as tool:
        try:
            response: Any = _run_tool(step)
            tool.result(response)
        except ToolError as error:
            tool.failed(error.error_type, str(error))
            response = {"error": error.error_type, "message": str(error)}
    answer = {"type": "tool_call_response", "id": call_id, "response": response}
    return [_message("assistant", asked), _message("tool", answer)]


def _run_tool(step: Step) -> Any:
    if "error" in step:
        raise ToolError(step["error"]["type"], step["error"]["message"])
    return step["result"]


def _message(role: str, part: dict[str, Any]) -> Message:
    return {"role": role, "parts": [part]}


def _text_parts(text: str) -> str:
    return json.dumps([{"type": "text", "content": text}])
