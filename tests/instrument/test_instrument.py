"""What a hand-written agent emits comes out complete on the other side, over the SDK's own encoding."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from otel_toolselect import assemble, dialects, instrument, otlp
from otel_toolselect.model.runs import Run, Unknown

TOOLS = [{"name": "search_orders", "description": "Search orders.", "parameters": {"type": "object"}}]
EXPORTER = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def provider() -> Iterator[None]:
    made = TracerProvider(resource=Resource.create({"service.name": "by-hand"}))
    made.add_span_processor(instrument.CaseSpanProcessor())
    made.add_span_processor(SimpleSpanProcessor(EXPORTER))
    with pytest.MonkeyPatch.context() as patch:  # the API allows one provider per process: set it beside its guard
        patch.setattr(trace, "_TRACER_PROVIDER", made)
        yield
    made.shutdown()


@pytest.fixture(autouse=True)
def _empty() -> None:
    EXPORTER.clear()


def runs() -> list[Run]:
    batch = otlp.decode_traces_proto(encode_spans(EXPORTER.get_finished_spans()).SerializeToString())
    return assemble.assemble(dialects.read(batch.spans))


@instrument.tool(capture=True)
def search_orders(customer_id: str, status: str = "open") -> dict[str, object]:
    """Search the orders of a customer."""
    return {"orders": [customer_id, status]}


@instrument.tool(name="refund", capture=True)
async def issue_refund(order_id: str) -> str:
    raise TimeoutError("payment service timed out")


def test_a_whole_run_by_hand() -> None:
    with (
        instrument.case("c-1", suite="s", label="v2", attempt=2),
        instrument.agent("shop", "where is it?", tools=TOOLS, model="m", conversation_id="k", capture=True) as run,
    ):
        with run.model([{"role": "user", "parts": [{"type": "text", "content": "where is it?"}]}], model="m") as turn:
            turn.tool_call("search_orders", {"customer_id": "C-42"}, "call_1")
        search_orders("C-42", call_id="call_1")  # type: ignore[call-arg]
        run.answer("On its way.")
    (found,) = runs()
    assert (found.case_id, found.suite, found.label, found.attempt) == ("c-1", "s", "v2", 2)
    assert (found.agent, found.request, found.final_text) == ("shop", "where is it?", "On its way.")
    assert (found.model, found.conversation_id, found.tools_offered) == ("m", "k", ("search_orders",))
    assert [(c.name, c.args, c.call_id, c.emitted, c.executed) for c in found.calls] == [
        ("search_orders", {"customer_id": "C-42"}, "call_1", True, True)
    ]
    assert [(r.ok, r.value) for r in found.results] == [(True, {"orders": ["C-42", "open"]})]
    assert found.incomplete is None


def test_a_failure_is_recorded_and_goes_on() -> None:
    with pytest.raises(TimeoutError):
        asyncio.run(issue_refund("A-1"))
    (found,) = runs()
    assert [(c.name, c.args) for c in found.calls] == [("refund", {"order_id": "A-1"})]
    assert [(r.ok, r.error_type, r.infra) for r in found.results] == [(False, "TimeoutError", True)]


def test_content_is_off_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", raising=False)
    with instrument.execute_tool("pay", {"card": "4111"}) as run:
        run.result("secret")
    (found,) = runs()
    assert isinstance(found.calls[0].args, Unknown)
    assert isinstance(found.results[0].value, Unknown)
    EXPORTER.clear()
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY")
    with instrument.execute_tool("pay", {"card": "4111"}) as run:
        run.failed("declined", "card declined")
    (found,) = runs()
    assert found.calls[0].args == {"card": "4111"}
    assert [(r.ok, r.value) for r in found.results] == [(False, "card declined")]


def test_the_function_keeps_its_own_call_id() -> None:
    @instrument.tool(capture=True)
    def lookup(call_id: str) -> str:
        return call_id

    assert lookup("x-1") == "x-1"
    (found,) = runs()
    assert found.calls[0].args == {"call_id": "x-1"}


def test_the_public_names_are_listed_and_sorted() -> None:
    assert instrument.__all__ == sorted(instrument.__all__)
    assert all(hasattr(instrument, name) for name in instrument.__all__)


def test_it_needs_the_api_only() -> None:
    code = (
        "import sys; import otel_toolselect.instrument;"
        "print([m for m in sys.modules if m.startswith(('opentelemetry.sdk', 'grpc', 'google', 'pydantic', 'chdb'))])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
