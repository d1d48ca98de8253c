"""`redact.content = "drop"` on captured spans of every library: no content is left, and what happened still shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from otel_toolselect import dialects
from otel_toolselect.config import Redact
from otel_toolselect.model.observations import CallPart, Message, Observation, TextPart
from otel_toolselect.model.spans import Batch, LogRecord, Span
from otel_toolselect.otlp.redact import redactor
from tests.dialects.captures import ALL, Scenario, signals

DROP = redactor(Redact(content="drop"))
# an id that the library writes only into the arguments themselves; a chain's history, read only where texts are
EXCEPTIONS = {
    ("opentelemetry-instrumentation-langchain", "tool"),
    ("openinference-instrumentation-langchain", "input"),
}


def structure(o: Observation) -> dict[str, Any]:
    return {
        "kind": (o.dialect, o.kind, o.agent, o.model, o.conversation_id, o.input_tokens, o.output_tokens, o.fault),
        "tools": sorted((d.name, d.description) for d in o.tools or ()),
        "tool": o.tool and (o.tool.name, o.tool.call_id, o.tool.ok, o.tool.error_type, o.tool.server),
        "output": messages(o.output),
        "input": messages(o.input),
    }


def messages(found: tuple[Message, ...] | None) -> list[Any]:
    return [(m.role, [(c.name, c.call_id) for c in m.calls], [r.call_id for r in m.results]) for m in found or ()]


def contents(o: Observation) -> Iterator[str]:
    """Every text, argument and result that a reader can see."""
    for part in (part for m in (*(o.input or ()), *(o.output or ())) for part in m.parts):
        if isinstance(part, TextPart):
            yield part.text
        else:
            yield from texts(part.args if isinstance(part, CallPart) else part.value)
    yield from (text for text in (o.system, o.request, o.final_text) if text)
    if o.tool is not None:
        yield from texts([o.tool.args, o.tool.result, o.tool.error_text])


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts(item)


def public(o: Observation) -> Iterator[str]:
    """What is kept on purpose: names, ids, tool definitions."""
    yield from (text for text in (o.agent, o.model, o.provider, o.conversation_id, o.dialect) if text)
    for definition in o.tools or ():
        yield from (definition.name, definition.description, *texts(definition.schema))
    yield from texts([o.tool and [o.tool.name, o.tool.call_id, o.tool.error_type]])
    for part in (part for m in (*(o.input or ()), *(o.output or ())) for part in m.parts):
        if not isinstance(part, TextPart):
            yield from (text for text in (part.name, part.call_id) if text)


def everything(record: Span | LogRecord) -> str:
    if isinstance(record, Span):
        held: Any = [
            record.name,
            record.attributes,
            record.status_message,
            [(e.name, e.attributes) for e in record.events],
        ]
    else:
        held = [record.event_name, record.attributes, record.body]
    return json.dumps(held, ensure_ascii=False, default=str)


@pytest.mark.parametrize("scenario", ALL, ids=str)
def test_structure_stays_and_content_goes(scenario: Scenario) -> None:
    assert DROP is not None
    spans, logs = signals(scenario)
    kept = DROP.batch(Batch(spans, logs))
    before = dialects.read(spans, logs)
    after = {(o.span.trace_id, o.span.span_id): structure(o) for o in dialects.read(kept.spans, kept.logs)}
    for o in before:
        wanted, found = structure(o), after[o.span.trace_id, o.span.span_id]
        for part in wanted:
            if (scenario.library, part) not in EXCEPTIONS:
                assert found[part] == wanted[part], (o.span.name, part)
    names = "\n".join(text for o in before for text in public(o))
    secrets = {text.strip() for o in before for text in contents(o)}
    secrets = {text for text in secrets if len(text) >= 6 and text not in names}
    held = "\n".join(everything(record) for record in (*kept.spans, *kept.logs))
    held = held.replace("\\\\", "\\").replace('\\"', '"').replace('\\"', '"')
    left = {text for text in secrets if text in held}
    assert not left
    again = DROP.batch(kept)
    assert (again.spans, again.logs) == (kept.spans, kept.logs)
