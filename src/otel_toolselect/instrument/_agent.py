"""A run of a hand-written agent as an `invoke_agent` span."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from opentelemetry import trace
from opentelemetry.trace import Span, SpanKind

from otel_toolselect.instrument._content import as_json, captures


class AgentRun:
    """The run in progress."""

    def __init__(self, span: Span, capture: bool) -> None:
        self.span = span
        self._capture = capture

    def answer(self, text: str) -> None:
        """The final text for the user."""
        message = {"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}
        if self._capture:
            self.span.set_attribute("gen_ai.output.messages", as_json([message]))

    def usage(self, input_tokens: int, output_tokens: int) -> None:
        """Tokens of the whole run."""
        self.span.set_attribute("gen_ai.usage.input_tokens", input_tokens)
        self.span.set_attribute("gen_ai.usage.output_tokens", output_tokens)

    @contextmanager
    def model(
        self, messages: Sequence[dict[str, Any]], *, model: str | None = None, provider: str | None = None
    ) -> Iterator[ModelTurn]:
        """One request to the model, with the messages sent, as a `chat` span."""
        attributes = {"gen_ai.operation.name": "chat"}
        if model:
            attributes["gen_ai.request.model"] = model
        if provider:
            attributes["gen_ai.provider.name"] = provider
        if self._capture:
            attributes["gen_ai.input.messages"] = as_json(list(messages))
        tracer = trace.get_tracer("otel_toolselect.instrument")
        name = f"chat {model}" if model else "chat"
        with tracer.start_as_current_span(name, kind=SpanKind.CLIENT, attributes=attributes) as span:
            yield ModelTurn(span, self._capture)


class ModelTurn:
    """One answer of the model: its text and the calls that it asks for."""

    def __init__(self, span: Span, capture: bool) -> None:
        self.span = span
        self._capture = capture
        self._parts: list[dict[str, Any]] = []

    def text(self, content: str) -> None:
        self._add({"type": "text", "content": content})

    def tool_call(self, name: str, arguments: dict[str, Any], call_id: str | None = None) -> None:
        """A call that the model asked for, in the model's order."""
        part: dict[str, Any] = {"type": "tool_call", "name": name, "arguments": arguments}
        self._add({**part, "id": call_id} if call_id else part)

    def _add(self, part: dict[str, Any]) -> None:
        self._parts.append(part)
        if self._capture:
            message = {"role": "assistant", "parts": self._parts}
            self.span.set_attribute("gen_ai.output.messages", as_json([message]))


@contextmanager
def agent(
    name: str,
    request: str | None = None,
    *,
    tools: Sequence[dict[str, Any]] | None = None,
    model: str | None = None,
    provider: str | None = None,
    conversation_id: str | None = None,
    capture: bool | None = None,
) -> Iterator[AgentRun]:
    """One run: the agent answers one request of a user.

    `tools`: the definitions offered, each with `name`, `description` and `parameters` (a JSON Schema).
    """
    recording = captures(capture)
    known = {
        "gen_ai.agent.name": name,
        "gen_ai.request.model": model,
        "gen_ai.provider.name": provider,
        "gen_ai.conversation.id": conversation_id,
    }
    attributes = {"gen_ai.operation.name": "invoke_agent", **{k: v for k, v in known.items() if v}}
    if recording and request is not None:
        asked = {"role": "user", "parts": [{"type": "text", "content": request}]}
        attributes["gen_ai.input.messages"] = as_json([asked])
    if tools is not None:  # what is offered is no content of a user
        attributes["gen_ai.tool.definitions"] = as_json([{"type": "function", **t} for t in tools])
    tracer = trace.get_tracer("otel_toolselect.instrument")
    with tracer.start_as_current_span(f"invoke_agent {name}", attributes=attributes) as span:
        try:
            yield AgentRun(span, recording)
        except BaseException as error:
            span.set_attribute("error.type", type(error).__qualname__)
            raise
