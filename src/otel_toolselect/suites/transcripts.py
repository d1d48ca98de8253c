"""Message transcripts of OpenAI (chat completions, responses) and Anthropic as traces, so that everything that reads
traces reads them.

One record a transcript: a list of messages, or an object with `messages` (or `input` / `output` items), and beside it
`tools`, `system`, `model`, and `id`, `case_id`, `suite`, `label`, `attempt` to name the case. One record becomes one
trace of the GenAI conventions: an agent span, a model span per assistant message with its whole history, a tool span
per result. A transcript has no clock: times are made up, one second a step from the record's `created`, else from
2020-01-01. Ids follow from the content, so that writing twice gives the same traces.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from otel_toolselect.errors import InputError
from otel_toolselect.suites.importers._messages import content_text
from otel_toolselect.suites.importing import Source

_EPOCH = 1_577_836_800
_SECOND = 10**9
_CASE = {
    "case_id": "toolselect.case.id",
    "suite": "toolselect.suite",
    "label": "toolselect.label",
    "attempt": "toolselect.attempt",
}
_IGNORED = ("reasoning", "thinking", "redacted_thinking")  # hidden reasoning is no oracle (R6)


def traces(source: Source) -> Iterator[str]:
    """One line of OTLP/JSON per transcript."""
    for i, (place, record) in enumerate(_records(source)):
        yield json.dumps(_trace(_Transcript(record, place, i)), ensure_ascii=False) + "\n"


def _records(source: Source) -> Iterator[tuple[str, Any]]:
    """JSON lines, or one value: a transcript, or a list of them. A list of messages is one transcript."""
    try:
        whole = source.whole()
    except InputError:
        yield from source.by_line()
        return
    messages = isinstance(whole, list) and all(isinstance(m, dict) and "messages" not in m for m in whole)
    if isinstance(whole, dict) or messages:
        yield source.where, whole
    else:
        yield from source.lines()


class _Transcript:
    """One record in one form: messages of parts, as the GenAI conventions have them."""

    def __init__(self, record: Any, place: str, index: int) -> None:
        self.place = place
        self.about: Mapping[str, Any] = record if isinstance(record, dict) else {}
        listed = record if isinstance(record, list) else self._listed()
        if not isinstance(listed, list) or not all(isinstance(m, dict) for m in listed):
            raise InputError("a transcript is a list of messages, or an object with messages", where=place)
        text = json.dumps([index, record], sort_keys=True)
        self.seed = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        self.messages = [m for m in map(self._message, listed) if m is not None]
        system = self.about.get("system") or self.about.get("instructions")
        if isinstance(system, (str, list)) and system:
            self.messages.insert(0, {"role": "system", "parts": [_said(content_text(system))]})

    def _listed(self) -> Any:
        about = self.about
        if "messages" in about:
            return about["messages"]
        asked = about.get("input")
        items = [{"role": "user", "content": asked}] if isinstance(asked, str) else list(asked or ())
        return items + list(about.get("output") or ()) if "input" in about or "output" in about else None

    def _message(self, message: dict[str, Any]) -> dict[str, Any] | None:
        kind = message.get("type")
        if kind == "function_call":  # an item of the responses API
            return {"role": "assistant", "parts": [self._call(message, "call_id")]}
        if kind == "function_call_output":
            return {"role": "tool", "parts": [_answer(message.get("call_id"), message.get("output"))]}
        if kind in _IGNORED:
            return None
        role = str(message.get("role") or "")
        if role in ("tool", "function"):
            return {"role": "tool", "parts": [_answer(message.get("tool_call_id"), message.get("content"))]}
        if role not in ("system", "developer", "user", "assistant"):
            raise InputError(f"a message has the role {role!r}", where=self.place)
        parts = self._parts(message)
        answers = bool(parts) and all(p["type"] == "tool_call_response" for p in parts)
        return {"role": "tool" if answers else "system" if role == "developer" else role, "parts": parts}

    def _parts(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        content = message.get("content")
        parts = [_said(content)] if isinstance(content, str) and content else []
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_use":
                parts.append(self._call(block, "id"))
            elif isinstance(block, dict) and block.get("type") == "tool_result":
                failed = block.get("is_error") is True
                parts.append(_answer(block.get("tool_use_id"), block.get("content"), failed=failed))
            elif isinstance(block, dict) and isinstance(block.get("text"), str):
                parts.append(_said(block["text"]))
        calls = message.get("tool_calls")
        return parts + [self._call({**c, **c.get("function", {})}, "id") for c in calls or () if isinstance(c, dict)]

    def _call(self, call: Mapping[str, Any], key: str) -> dict[str, Any]:
        if not isinstance(call.get("name"), str):
            raise InputError("a tool call has no name", where=self.place)
        args = call.get("arguments", call.get("input", {}))
        return {"type": "tool_call", "id": call.get(key), "name": call["name"], "arguments": args}


def _said(text: str) -> dict[str, Any]:
    return {"type": "text", "content": text}


def _answer(call_id: Any, content: Any, *, failed: bool = False) -> dict[str, Any]:
    value = content_text(content) if isinstance(content, list) else content
    found = {"type": "tool_call_response", "id": call_id, "response": value}
    return {**found, "is_error": True} if failed else found


def _trace(transcript: _Transcript) -> dict[str, Any]:
    created = transcript.about.get("created", transcript.about.get("created_at"))
    start = int(created if isinstance(created, (int, float)) else _EPOCH) * _SECOND
    spans: list[dict[str, Any]] = []
    root = _span(transcript, 0, "invoke_agent", start, {"gen_ai.operation.name": "invoke_agent", **_naming(transcript)})
    spans.append(root)
    named: dict[str, dict[str, Any]] = {}
    for at, message in enumerate(transcript.messages):
        begun = start + (at + 1) * _SECOND
        if message["role"] == "assistant":
            named.update({p["id"]: p for p in message["parts"] if p["type"] == "tool_call" and p["id"]})
            spans.append(_span(transcript, at + 1, "chat", begun, _chat(transcript, at)))
        elif message["role"] == "tool":
            for n, part in enumerate(message["parts"]):
                spans.append(_tool(transcript, at + 1, n, begun, part, named.get(part["id"], {})))
    root["endTimeUnixNano"] = str(start + (len(transcript.messages) + 1) * _SECOND)
    for span in spans[1:]:
        span["parentSpanId"] = root["spanId"]
    scope = {"scope": {"name": "toolselect.transcripts"}, "spans": spans}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def _naming(transcript: _Transcript) -> dict[str, Any]:
    found = {name: transcript.about[key] for key, name in _CASE.items() if transcript.about.get(key) is not None}
    name = transcript.about.get("id")
    if (
        "toolselect.case.id" not in found
        and isinstance(name, str)
        and not name.startswith(("chatcmpl", "resp_", "msg_"))
    ):
        found["toolselect.case.id"] = name
    return found


def _chat(transcript: _Transcript, at: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": transcript.messages[:at],
        "gen_ai.output.messages": [transcript.messages[at]],
    }
    if isinstance(transcript.about.get("model"), str):
        found["gen_ai.request.model"] = transcript.about["model"]
    tools = transcript.about.get("tools")
    if isinstance(tools, list):
        plain = [t.get("function", t) for t in tools if isinstance(t, dict)]
        found["gen_ai.tool.definitions"] = [
            {
                "type": "function",
                "name": t.get("name"),
                "description": t.get("description", ""),
                "parameters": t.get("parameters", t.get("input_schema")),
            }
            for t in plain
        ]
    return found


def _tool(
    transcript: _Transcript, at: int, n: int, begun: int, part: Mapping[str, Any], call: Mapping[str, Any]
) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.get("name", "unknown"),
        "gen_ai.tool.call.arguments": call.get("arguments"),
        "gen_ai.tool.call.id": part["id"],
        "gen_ai.tool.call.result": part["response"],
    }
    span = _span(transcript, at, f"execute_tool {n}", begun, {k: v for k, v in attributes.items() if v is not None})
    if part.get("is_error"):
        span["status"] = {"code": 2}
    return span


def _span(transcript: _Transcript, at: int, name: str, begun: int, attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "traceId": transcript.seed[:32],
        "spanId": hashlib.sha256(f"{transcript.seed}/{at}/{name}".encode()).hexdigest()[:16],
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(begun),
        "endTimeUnixNano": str(begun + _SECOND // 2),
        "attributes": [{"key": k, "value": _value(v)} for k, v in attributes.items()],
        "status": {},
    }


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, int) and not isinstance(value, bool):
        return {"intValue": str(value)}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}
