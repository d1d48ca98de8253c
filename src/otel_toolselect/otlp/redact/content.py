"""`redact.content = "drop"`: what was said and done goes, how it went stays.

Of every attribute, event and log body that a dialect reads content from, texts become empty, and arguments and results
become `[REDACTED]`, which every reader takes for "not recorded" rather than for an empty object. Roles, tool names,
call ids, finish reasons, error marks and the number and order of messages stay: tool selection can still be judged.
Tool definitions stay as well: they are the agent's, not its users'. Texts of errors go, their types stay.

What stays inside content is a short list, checked by form (a role is a known role, an id is one word); every other
member of a message goes, known or not.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from otel_toolselect.model.remembered import remembered
from otel_toolselect.otlp import protodecode
from otel_toolselect.otlp.encode import put_value
from otel_toolselect.otlp.jsondecode import Signal
from otel_toolselect.otlp.limits import DEFAULT
from otel_toolselect.otlp.redact.messages import GONE, emptied, flattened, gone, message, parsed, result

Place = Literal["messages", "value", "result", "text", "numbered", "catalog", "kept", "unknown"]

_PLACES: dict[str, Place] = {
    # GenAI conventions, in all versions
    "gen_ai.input.messages": "messages",
    "gen_ai.output.messages": "messages",
    "gen_ai.system_instructions": "messages",
    "gen_ai.prompt": "messages",
    "gen_ai.completion": "messages",
    "gen_ai.tool.call.arguments": "value",
    "gen_ai.tool.call.result": "result",
    "gen_ai.tool.input": "value",
    "gen_ai.tool.output": "result",
    "gen_ai.tool.arguments": "value",
    "gen_ai.tool.args": "value",
    "gen_ai.task.input": "messages",
    "gen_ai.task.output": "messages",
    "gen_ai.output.text": "text",
    "gen_ai.tool.message": "result",
    "tool_arguments": "value",
    "tool_response": "result",
    # OpenInference, OpenLLMetry
    "input.value": "messages",
    "output.value": "messages",
    "tool.parameters": "value",
    "llm.prompts": "messages",
    "llm.function_call": "value",
    "llm.invocation_parameters": "catalog",
    "metadata": "catalog",
    "model_request_parameters": "catalog",
    "retrieval.documents": "value",
    "traceloop.entity.input": "messages",
    "traceloop.entity.output": "messages",
    # frameworks
    "ai.prompt": "messages",
    "ai.prompt.messages": "messages",
    "ai.response.text": "text",
    "ai.response.object": "text",
    "ai.response.reasoning": "text",
    "ai.response.toolCalls": "messages",
    "ai.result.text": "text",
    "ai.result.object": "text",
    "ai.result.toolCalls": "messages",
    "ai.toolCall.args": "value",
    "ai.toolCall.result": "result",
    "crewai.crew.result": "text",
    "crewai.crew.tasks": "value",
    "crewai.crew.tasks_output": "value",
    "crew_tasks": "value",
    "crewai.task.description": "text",
    "gcp.vertex.agent.llm_request": "messages",
    "gcp.vertex.agent.llm_response": "messages",
    "gcp.vertex.agent.tool_call_args": "value",
    "gcp.vertex.agent.tool_response": "result",
    "gcp.vertex.agent.data": "messages",
    "langfuse.observation.input": "messages",
    "langfuse.observation.output": "messages",
    "langfuse.trace.input": "messages",
    "langfuse.trace.output": "messages",
    "langfuse.observation.status_message": "text",
    "mcp.request.argument": "value",
    "mcp.response.value": "messages",
    "mlflow.spanInputs": "messages",
    "mlflow.spanOutputs": "messages",
    "mlflow.traceInputs": "messages",
    "mlflow.traceOutputs": "messages",
    "request_data": "messages",
    "response_data": "messages",
    "all_messages_events": "messages",
    "pydantic_ai.all_messages": "messages",
    "final_result": "text",
    "events": "messages",
    "function.args": "value",
    "function.kwargs": "value",
    "messaging.message": "messages",
    "message": "messages",
    "messages": "messages",
    "content": "messages",
    "message.content": "messages",
    "tool_calls": "messages",
    "tool.result": "messages",
    "input": "messages",
    "output": "messages",
    "arguments": "value",
    "result": "value",
    # errors
    "exception.message": "text",
    "exception.stacktrace": "text",
    "error.message": "text",
}
_NUMBERED = re.compile(
    r"(gen_ai\.prompt|gen_ai\.completion|llm\.input_messages|llm\.output_messages|llm\.prompts|llm\.completions"
    r"|retrieval\.documents|embedding\.embeddings)\.[0-9]+(\.|$)"
)
_PATTERNS: tuple[tuple[re.Pattern[str], Place], ...] = (
    (_NUMBERED, "numbered"),
    (re.compile(r"mastra\.[a-z_]+\.(input|output)$"), "messages"),
    (re.compile(r"langsmith\..*\.(inputs?|outputs?)$"), "messages"),
    (re.compile(r"llm\.openai\.(messages|choices)$"), "messages"),
    (re.compile(r".*\.stacktrace$"), "text"),
    (re.compile(r"crewai\.crew\.agents$|crew_agents$"), "kept"),
    (
        re.compile(
            r"(.*\.)?(\w*tools|tool_definitions|functions|definitions|json_schema|tool_choice|message_context)(\.|$)"
        ),
        "kept",
    ),
    (re.compile(r"(.*[._])?(usage|tokenUsage|usage_details|token_count|cost|cost_details|parameters)(\.|$)"), "kept"),
)
_SENTENCE = 4
"""Spaces from which the name of a span is taken for a text."""
_LONG = 256
"""Characters from which a text under an unknown key is taken for content."""


@remembered(4_096, 1_024)
def place_of(key: str) -> Place:
    """What kind of content an attribute holds."""
    found = _PLACES.get(key)
    if found is not None:
        return found
    return next((place for pattern, place in _PATTERNS if pattern.match(key)), "unknown")


def drop(request: Any, signal: Signal) -> int:
    """Takes content out of an export request, in place; how many records, scopes and resources changed."""
    traces = signal == "traces"
    changed = 0
    for group in request.resource_spans if traces else request.resource_logs:
        changed += _attributes(group.resource.attributes)
        for scoped in group.scope_spans if traces else group.scope_logs:
            changed += _attributes(scoped.scope.attributes)
            changed += sum(map(_span, scoped.spans)) if traces else sum(map(_log, scoped.log_records))
    return changed


def _span(raw: Any) -> bool:
    changed = _attributes(raw.attributes)
    if raw.status.message:
        raw.status.message = ""
        changed = True
    if raw.name.count(" ") >= _SENTENCE:  # some libraries name a span by the task that it was given
        raw.name = GONE
        changed = True
    for around in (*raw.events, *raw.links):
        changed |= _attributes(around.attributes)
    return changed


def _log(raw: Any) -> bool:
    changed = _attributes(raw.attributes)
    if raw.HasField("body"):
        changed |= _rewritten(raw.body, "body")
    return changed


def _attributes(items: Any) -> bool:
    changed = False
    for item in items:
        place = place_of(item.key)
        if place != "kept":
            changed |= _rewritten(item.value, place, item.key)
    return changed


def _rewritten(value: Any, place: Place | Literal["body"], key: str = "") -> bool:
    """One value with its content taken out; True when that changed it."""
    kind = value.WhichOneof("value")
    if place == "unknown" and kind not in ("string_value", "array_value", "kvlist_value", "bytes_value"):
        return False
    before = protodecode.read_value(value, kind, DEFAULT, 0)
    after = _without_content(before, place, key)
    if after is before or after == before:
        return False
    value.Clear()
    put_value(value, after)
    return True


def _without_content(value: Any, place: str, key: str) -> Any:
    if value is None or value == "" or value == b"":
        return value
    if place == "text":
        return ""
    if place == "numbered":
        return flattened(key, value)
    if place == "body":  # of a log record: the name of the event says that it is a message
        return _body(value)
    if place == "unknown":
        return _unknown(value)
    if isinstance(value, str):
        return _text(value, place)
    return _decoded(value, place)


def _decoded(value: Any, place: str) -> Any:
    if place == "value":
        return gone(value)
    if place == "result":
        return result(value)
    return _catalog(value) if place == "catalog" else emptied(value)


def _body(value: Any) -> Any:
    decoded = parsed(value) if isinstance(value, str) else value
    if not isinstance(decoded, dict):
        return ""
    made = message(decoded)
    return json.dumps(made, ensure_ascii=False) if isinstance(value, str) else made


def _unknown(value: Any) -> Any:
    """Of attributes that nobody reads content from: short plain values stay, anything like a document goes."""
    if isinstance(value, str):
        if value[:1] in ("{", "[") and _is_document(parsed(value)):
            return _text(value, "messages")
        return value if len(value) < _LONG else GONE
    if isinstance(value, (dict, bytes)) or _is_document(value):
        return emptied(value)
    return value if all(not isinstance(v, str) or len(v) < _LONG for v in value) else GONE


def _is_document(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, (dict, list)) for v in value))


def _text(value: str, place: str) -> str:
    """A text that may be JSON: messages as JSON text stay JSON text."""
    decoded = parsed(value)
    if not isinstance(decoded, (dict, list)):
        return GONE
    made = _decoded(decoded, place)
    return made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)


def _catalog(value: Any) -> Any:
    """Parameters of a call to a model: the tools and plain settings, no prompts."""
    if not isinstance(value, dict):
        return GONE
    return {k: v for k, v in value.items() if k in _SETTINGS}


_SETTINGS = frozenset(
    {"tools", "functions", "function_tools", "output_tools", "tool_choice", "model", "temperature", "max_tokens"}
    | {"top_p", "stream", "lc_agent_name", "thread_id", "session_id", "ls_provider", "ls_model_name", "ls_model_type"}
    | {"parallel_tool_calls"}
)
