"""Captured spans, damaged: whatever a sender does to them, runs come out and nothing is raised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from otel_toolselect import assemble, dialects
from otel_toolselect.model.runs import ToolCall, Unknown
from otel_toolselect.model.spans import Span
from tests.dialects.captures import ALL, signals

VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(
        ["{}", "[]", "null", '"x"', "[[]]", '{"messages": 1}', "[1, null]", '{"args": 1, "kwargs": []}', "("]
    )
    | st.lists(st.none() | st.integers() | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2), max_size=3)
    | st.dictionaries(
        st.sampled_from(["role", "parts", "content", "type", "kwargs", "tool_calls"]), st.integers() | st.text()
    )
)


def damaged(span: Span, data: st.DataObject) -> Span:
    attributes: dict[str, Any] = dict(span.attributes)
    for key in data.draw(st.lists(st.sampled_from(sorted(attributes)), max_size=4)) if attributes else ():
        value = attributes[key]
        cut = isinstance(value, str) and data.draw(st.booleans())
        attributes[key] = value[: data.draw(st.integers(0, len(value)))] if cut else data.draw(VALUES)
    ends = data.draw(st.sampled_from([span.end_ns, 0, span.start_ns, span.start_ns - 1]))
    parent = data.draw(st.sampled_from([span.parent_span_id, "", span.span_id, "f" * 16]))
    return replace(span, attributes=attributes, end_ns=ends, parent_span_id=parent)


@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_damaged_spans_never_stop_assembly(data: st.DataObject) -> None:
    scenario = data.draw(st.sampled_from(ALL))
    spans, logs = signals(scenario)
    kept = [s for s in spans if data.draw(st.booleans()) or data.draw(st.booleans())]
    read = dialects.read(tuple(damaged(s, data) for s in kept), logs)
    assert [o.fault for o in read if o.fault] == []
    found = assemble.assemble(read)
    for call in (e for r in found for e in r.events if isinstance(e, ToolCall)):
        assert isinstance(call.args, (dict, Unknown))
        assert call.name
    assert len({r.run_id for r in found}) == len(found)
