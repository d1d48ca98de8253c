"""The load: agent runs as OTLP requests, serialized before anything is measured; the same shape gives the same bytes.

A run is one trace: an `invoke_agent` span, model calls below it, and tools that the model called, with the attributes
of OpenTelemetry's GenAI conventions. What repeats in real traffic repeats here (system instructions, tool definitions,
the history that each model call carries again), and what does not is drawn word by word, so that compression has no
more to work with than it would have there. Spans leave in the order in which they end, by service, as a batch span
processor sends them.

    python -m benchmarks.load --runs 100 --spans-per-request 512      # figures of a load, nothing is sent
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

_DAY_NS = 86_400 * 10**9
SUITE = "benchmark"
_VERBS = ("get", "search", "list", "create", "update", "cancel", "send")
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a load looks like. Sizes are bytes of text, about."""

    seed: int = 1
    start_ns: int = 0
    """When the first run begins; 0: yesterday at midnight UTC, as receivers mind the age of spans."""
    runs: int = 4_000
    spans_per_request: int = 512
    model_calls: int = 3
    """Every one but the last calls tools: two, then one, then two, ..."""
    services: int = 8
    tools: int = 40
    tools_offered: int = 8
    attributes: int = 0
    """Exactly this many attributes per span (the first of the conventions', then made up ones); 0: as they are."""
    value_bytes: int = 60
    """Of a made up attribute."""
    prompt_bytes: int = 220
    system_bytes: int = 400
    definition_bytes: int = 200
    answer_bytes: int = 380
    result_bytes: int = 400
    errors: float = 0.03
    """Share of tool calls that fail."""
    wrong: float = 0.1
    """Share of runs that begin with another tool than their case wants."""
    cases: int = 200


@dataclass(frozen=True, slots=True)
class Request:
    """One export request; `runs` end in it (their root span is here)."""

    body: bytes
    spans: int
    runs: int


@dataclass(frozen=True, slots=True)
class _Service:
    name: str
    tools: tuple[str, ...]
    definitions: str
    system: str


class Load:
    """Requests of one shape, made one after the other."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.start_ns = shape.start_ns or (time.time_ns() // _DAY_NS - 1) * _DAY_NS
        self._chance = random.Random(shape.seed)  # noqa: S311 - repeatable, not secret
        self._words = self._vocabulary(8_000)
        self._weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(self._words))))
        self.tools = [f"{_VERBS[i % len(_VERBS)]}_{self._words[100 + i]}" for i in range(shape.tools)]
        self._services = [self._service(number) for number in range(shape.services)]

    def _vocabulary(self, size: int) -> list[str]:
        words: dict[str, None] = {}
        while len(words) < size:
            words["".join(self._chance.choices(_SYLLABLES, k=self._chance.choice((1, 2, 2, 3))))] = None
            if len(words) < 60:  # short words are the frequent ones
                words[self._chance.choice(_SYLLABLES)] = None
        return list(words)

    def text(self, size: int) -> str:
        words = self._chance.choices(self._words, cum_weights=self._weights, k=size // 5 + 1)
        return " ".join(words)[:size]

    def _service(self, number: int) -> _Service:
        offered = tuple(self._chance.sample(self.tools, min(self.shape.tools_offered, len(self.tools))))
        definitions = [self._definition(name) for name in offered]
        return _Service(f"agent-{number}", offered, json.dumps(definitions), self.text(self.shape.system_bytes))

    def _definition(self, name: str) -> dict[str, Any]:
        properties = {
            "query": {"type": "string", "description": self.text(30)},
            "limit": {"type": "integer"},
            "account_id": {"type": "string"},
        }
        schema = {"type": "object", "properties": properties, "required": ["query"]}
        about = self.text(max(20, self.shape.definition_bytes - len(json.dumps(schema)) - 60))
        return {"type": "function", "name": name, "description": about, "parameters": schema}

    def suite(self) -> str:
        """Cases for these runs as a suite file: JSON, which is YAML too."""
        cases = [
            {
                "id": f"case-{number:04d}",
                "expect": {
                    "class": "multi_step",
                    "first": [self._wanted(number)],
                    "eventually": [self._wanted(number)],
                    "args": {self._wanted(number): {"limit": {"range": [0, 1000]}, "query": {"any": True}}},
                    "budget": {"calls": 40},
                },
            }
            for number in range(self.shape.cases)
        ]
        policy = {"tools": {name: {"effect": "read"} for name in self.tools}}
        return json.dumps({"suite": SUITE, "policy": policy, "cases": cases}, indent=1)

    def _wanted(self, case: int) -> str:
        service = self._services[case % len(self._services)]
        return service.tools[case // len(self._services) % len(service.tools)]

    def requests(self) -> Iterator[Request]:
        waiting: dict[str, list[tuple[Span, bool]]] = {service.name: [] for service in self._services}
        for number in range(self.shape.runs):
            # the service belongs to the case, so that what a case wants is on offer
            service = self._services[number % self.shape.cases % len(self._services)]
            queue = waiting[service.name]
            queue += self._run(number, service)
            while len(queue) >= self.shape.spans_per_request:
                yield self._request(service, queue[: self.shape.spans_per_request])
                del queue[: self.shape.spans_per_request]
        for service in self._services:
            if queue := waiting[service.name]:
                yield self._request(service, queue)

    def _request(self, service: _Service, spans: Sequence[tuple[Span, bool]]) -> Request:
        message = ExportTraceServiceRequest()
        group = message.resource_spans.add()
        about = {"service.name": service.name, "service.version": "1.4.2", "telemetry.sdk.language": "python"}
        about |= {"telemetry.sdk.name": "opentelemetry", "deployment.environment.name": "production"}
        for key, value in about.items():
            group.resource.attributes.add(key=key).value.string_value = value
        scope = group.scope_spans.add()
        scope.scope.name, scope.scope.version = "benchmark.agents", "1.0"
        scope.spans.extend(span for span, _ in spans)
        return Request(message.SerializeToString(), len(spans), sum(root for _, root in spans))

    def _run(self, number: int, service: _Service) -> list[tuple[Span, bool]]:
        return _RunMaker(self, self._chance, number, service).spans()


class _RunMaker:
    """The spans of one run; a clock goes forward as they are made."""

    def __init__(self, load: Load, chance: random.Random, number: int, service: _Service) -> None:
        self._load, self._chance, self._shape = load, chance, load.shape
        self._service = service
        self._case = number % self._shape.cases
        self._attempt = number // self._shape.cases
        self._trace, self._root = chance.randbytes(16), chance.randbytes(8)
        self._now = self._start = load.start_ns + number * 40_000_000
        self._talk = f"conv_{chance.getrandbits(64):016x}"
        self._wanted = load._wanted(self._case)

    def spans(self) -> list[tuple[Span, bool]]:
        out: list[tuple[Span, bool]] = []
        prompt = self._load.text(self._shape.prompt_bytes)
        history: list[dict[str, Any]] = [_message("user", {"type": "text", "content": prompt})]
        for step in range(self._shape.model_calls):
            last = step == self._shape.model_calls - 1
            calls = [] if last else self._calls(step)
            said = [{"type": "text", "content": self._load.text(self._shape.answer_bytes)}, *calls]
            answer = _message("assistant", *said)
            out.append((self._chat(history, answer, last), False))
            history.append(answer)
            for call in calls:
                span, result = self._tool(call)
                out.append((span, False))
                history.append(_message("tool", {"type": "tool_call_response", "id": call["id"], "result": result}))
        out.append((self._agent(history), True))
        return out

    def _calls(self, step: int) -> list[dict[str, Any]]:
        names = self._chance.choices(self._service.tools, k=2 - step % 2)
        if step == 0 and self._chance.random() >= self._shape.wrong:
            names[0] = self._wanted
        arguments = [
            {
                "query": self._load.text(50),
                "limit": self._chance.randrange(100),
                "account_id": f"acc-{self._chance.randrange(10_000):05d}",
            }
            for _ in names
        ]
        return [
            {"type": "tool_call", "id": f"call_{self._chance.getrandbits(96):024x}", "name": name, "arguments": given}
            for name, given in zip(names, arguments, strict=True)
        ]

    def _chat(self, history: list[dict[str, Any]], answer: dict[str, Any], last: bool) -> Span:
        system = _message("system", {"type": "text", "content": self._service.system})
        return self._span(
            "chat gpt-5-mini",
            Span.SPAN_KIND_CLIENT,
            self._chance.randrange(300, 2500),
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": "openai",
                "gen_ai.request.model": "gpt-5-mini",
                "gen_ai.response.model": "gpt-5-mini-2026-08-01",
                "gen_ai.response.id": f"resp_{self._chance.getrandbits(96):024x}",
                "gen_ai.request.temperature": 0.2,
                "gen_ai.response.finish_reasons": ["stop" if last else "tool_calls"],
                "gen_ai.usage.input_tokens": self._chance.randrange(600, 3000),
                "gen_ai.usage.output_tokens": self._chance.randrange(20, 300),
                "gen_ai.conversation.id": self._talk,
                "server.address": "llm.internal",
                "server.port": 443,
                "gen_ai.tool.definitions": self._service.definitions,
                "gen_ai.input.messages": json.dumps([system, *history]),
                "gen_ai.output.messages": json.dumps([answer | {"finish_reason": "stop" if last else "tool_call"}]),
            },
        )

    def _tool(self, call: dict[str, Any]) -> tuple[Span, str]:
        failed = self._chance.random() < self._shape.errors
        result = json.dumps({"ok": not failed, "data": self._load.text(self._shape.result_bytes)})
        attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": call["name"],
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call["id"],
            "gen_ai.conversation.id": self._talk,
            "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
            "gen_ai.tool.call.result": result,
        }
        if failed:
            attributes["error.type"] = "UpstreamError"
        length = self._chance.randrange(20, 900)
        span = self._span(f"execute_tool {call['name']}", Span.SPAN_KIND_INTERNAL, length, attributes)
        if failed:
            span.status.code, span.status.message = Status.STATUS_CODE_ERROR, "upstream answered 503"
            event = span.events.add(name="exception", time_unix_nano=span.end_time_unix_nano)
            for key, size in (("exception.message", 60), ("exception.stacktrace", 600)):
                event.attributes.add(key=key).value.string_value = self._load.text(size)
        return span, result

    def _agent(self, history: list[dict[str, Any]]) -> Span:
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": self._service.name,
            "gen_ai.provider.name": "openai",
            "gen_ai.conversation.id": self._talk,
            "toolselect.case.id": f"case-{self._case:04d}",
            "toolselect.suite": SUITE,
            "toolselect.attempt": self._attempt,
            "gen_ai.input.messages": json.dumps(history[:1]),
            "gen_ai.output.messages": json.dumps(history[-1:]),
        }
        span = self._span(f"invoke_agent {self._service.name}", Span.SPAN_KIND_INTERNAL, 1, attributes)
        span.span_id, span.start_time_unix_nano = self._root, self._start
        span.ClearField("parent_span_id")
        return span

    def _span(self, name: str, kind: Any, milliseconds: int, attributes: dict[str, Any]) -> Span:
        start = self._now
        self._now += milliseconds * 1_000_000
        span = Span(
            trace_id=self._trace,
            span_id=self._chance.randbytes(8),
            parent_span_id=self._root,
            name=name,
            kind=kind,
            start_time_unix_nano=start,
            end_time_unix_nano=self._now,
            flags=256,
        )
        for key, value in self._exactly(attributes).items():
            _set(span.attributes.add(key=key).value, value)
        return span

    def _exactly(self, attributes: dict[str, Any]) -> dict[str, Any]:
        wanted = self._shape.attributes
        if not wanted:
            return attributes
        more = {f"app.detail.{n:02d}": self._load.text(self._shape.value_bytes) for n in range(wanted)}
        return dict(list((attributes | more).items())[:wanted])


def warm_up(shape: Shape) -> list[Request]:
    """A small load of its own, whole runs only, none of which occurs in a load of this shape."""
    small = replace(shape, seed=shape.seed + 1_000_003, runs=max(1, 2 * shape.spans_per_request // 7))
    return list(Load(small).requests())


def _message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": list(parts)}


def _set(target: Any, value: Any) -> None:
    if isinstance(value, str):
        target.string_value = value
    elif isinstance(value, int):
        target.int_value = value
    elif isinstance(value, float):
        target.double_value = value
    else:
        for item in value:
            target.array_value.values.add().string_value = item


def add_shape(parser: argparse.ArgumentParser) -> None:
    """A flag for each field of Shape."""
    for field in fields(Shape):
        kind = {"int": int, "float": float}[str(field.type)]
        parser.add_argument("--" + field.name.replace("_", "-"), type=kind, default=field.default)


def shape_of(arguments: argparse.Namespace) -> Shape:
    return Shape(**{field.name: getattr(arguments, field.name) for field in fields(Shape)})


def main() -> None:
    parser = argparse.ArgumentParser(description="figures of a load")
    add_shape(parser)
    shape = shape_of(parser.parse_args())
    made = list(Load(shape).requests())
    spans, size = sum(r.spans for r in made), sum(len(r.body) for r in made)
    figures = {"requests": len(made), "spans": spans, "runs": sum(r.runs for r in made), "bytes": size}
    print(json.dumps(asdict(shape) | figures | {"bytes_per_span": round(size / spans)}))


if __name__ == "__main__":
    main()
