"""Values whatever the wrapping; what cannot be known is unknown, never {}."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects._lists import messages
from otel_toolselect.dialects._messages import message
from otel_toolselect.model.observations import CallPart, ResultPart, TextPart
from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.values import canonical, json_equal

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)

ARGUMENTS: list[tuple[Any, Any]] = [
    ({"a": 1}, {"a": 1}),
    ('{"a": 1}', {"a": 1}),
    (json.dumps('{"a": 1}'), {"a": 1}),
    (json.dumps(json.dumps('{"a": 1}')), {"a": 1}),
    ("{'a': True, 'b': None, 'c': \"O'Brien\"}", {"a": True, "b": None, "c": "O'Brien"}),
    ('{"args": [], "kwargs": {"a": 1}}', {"a": 1}),
    ('{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"a": 1}}', {"a": 1}),
    ('{"kwargs": {"a": 1}}', {"a": 1}),
    ('{"kwargs": {"a": 1}, "other": 2}', {"kwargs": {"a": 1}, "other": 2}),
    ('{"body": "{\\"a\\": 1}"}', {"body": '{"a": 1}'}),
    ('{"n": 9007199254740993}', {"n": 9007199254740993}),
    ("", {}),
    ("  ", {}),
    ("null", {}),
    (None, Unknown("not recorded (is content capture on?)")),
    ("__REDACTED__", Unknown("redacted by the instrumentation")),
    ('{"a": 1', Unknown("arguments are cut off or not JSON")),
    ("[1, 2]", Unknown("arguments are not a JSON object")),
    ("hello", Unknown("arguments are not a JSON object")),
    ("__import__('os').system('true')", Unknown("arguments are not a JSON object")),
]


@pytest.mark.parametrize(("given_value", "wanted"), ARGUMENTS)
def test_arguments(given_value: Any, wanted: Any) -> None:
    found, raw = coerce.arguments(given_value)
    assert found == wanted
    if isinstance(wanted, Unknown) and given_value not in (None, "__REDACTED__"):
        assert raw == given_value, "the text that could not be read is kept"


@given(st.dictionaries(st.text(), JSON, max_size=4), st.integers(min_value=0, max_value=3))
def test_arguments_survive_any_number_of_encodings(args: dict[str, Any], times: int) -> None:
    value: Any = args
    for _ in range(times):
        value = json.dumps(value)
    found, _ = coerce.arguments(value)
    assert isinstance(found, dict)
    assert json_equal(found, coerce.unwrap_call(args))


@given(JSON | st.text() | st.binary())
def test_nothing_makes_a_reader_fail(value: Any) -> None:
    coerce.arguments(value)
    coerce.result(value)
    coerce.tools(value)
    messages(value)


RESULTS: list[tuple[Any, Any, bool | None]] = [
    ("1.50", "1.50", None),
    ("plain text", "plain text", None),
    ('{"a": 1}', {"a": 1}, None),
    ("[{'a': None}]", [{"a": None}], None),
    ('[{"type": "text", "text": "{\\"a\\": 1}"}]', {"a": 1}, None),
    ('[{"text": "161.2"}]', "161.2", None),
    ('{"content": [{"type": "text", "text": "busy"}], "isError": true}', "busy", True),
    ('{"content": [{"type": "text", "text": "fine"}], "isError": false}', "fine", False),
    (
        '{"output": {"content": "{\\"a\\": 1}", "type": "tool", "tool_call_id": "c", "status": "success"}}',
        {"a": 1},
        False,
    ),
    ('{"type": "tool", "data": {"content": "no", "tool_call_id": "c", "status": "error"}}', "no", True),
    ({"blocks": [{"text": "x"}], "raw_output": {"a": 1}, "is_error": False}, {"a": 1}, False),
    (
        '{"response_type": "ERROR_HANDLED", "error_type": "T"}',
        {"response_type": "ERROR_HANDLED", "error_type": "T"},
        True,
    ),
    ('{"error": "unknown sku"}', {"error": "unknown sku"}, True),
    ('{"error": null, "title": "error budget"}', {"error": None, "title": "error budget"}, None),
    ("error: not really", "error: not really", None),
]


@pytest.mark.parametrize(("given_value", "wanted", "failed"), RESULTS)
def test_results(given_value: Any, wanted: Any, failed: bool | None) -> None:
    assert coerce.result(given_value) == (wanted, failed)


CALLS: list[Any] = [
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": {"a": 1}}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "f", "arguments": '{"a": 1}'}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}],
    },
    {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}]},
    {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}}]},
    {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}]},
    {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": '{"a":1}'}]},
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'},
    {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}]}},
    {
        "lc": 1,
        "type": "constructor",
        "id": ["x", "AIMessage"],
        "kwargs": {"content": "", "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c"}]},
    },
    {
        "index": 0,
        "message": {
            "role": "assistant",
            "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a":1}'}}],
        },
    },
]


@pytest.mark.parametrize("value", CALLS)
def test_a_call_in_every_spelling(value: Any) -> None:
    found = message(value, "assistant")
    assert found is not None
    assert found.role == "assistant"
    assert found.calls == (CallPart("f", {"a": 1}, "c"),)


ANSWERS: list[Any] = [
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c", "response": '{"a": 1}'}]},
    {"role": "user", "parts": [{"type": "tool_call_response", "id": "c", "result": {"a": 1}}]},
    {"role": "tool", "tool_call_id": "c", "content": '{"a": 1}'},
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": '{"a":1}'}]}],
    },
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "c", "output": {"type": "json", "value": {"a": 1}}}],
    },
    {"type": "function_call_output", "call_id": "c", "output": '{"a":1}'},
    {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": "c", "status": "success", "content": [{"json": {"a": 1}}]}}],
    },
]


@pytest.mark.parametrize("value", ANSWERS)
def test_a_result_in_every_spelling(value: Any) -> None:
    found = message(value)
    assert found is not None
    assert [(r.call_id, r.value) for r in found.results] == [("c", {"a": 1})]


def test_reasoning_is_dropped() -> None:
    found = messages(
        [
            {
                "role": "assistant",
                "parts": [{"type": "reasoning", "content": "secret"}, {"type": "text", "content": "hi"}],
            },
            {"type": "reasoning", "summary": [{"text": "secret"}]},
            {"role": "model", "parts": [{"thought": True, "text": "secret"}]},
        ]
    )
    assert found is not None
    assert [p for m in found for p in m.parts] == [TextPart("hi")]


def test_json_text_that_is_no_block_stays_text() -> None:
    found = message({"role": "assistant", "content": '[{"order": 1}]'})
    assert found is not None
    assert found.parts == (TextPart('[{"order": 1}]'),)


def test_a_vercel_error_is_an_error() -> None:
    value = {"type": "tool-result", "toolCallId": "c", "output": {"type": "error-text", "value": "no"}}
    found = message({"role": "tool", "content": [value]})
    assert found is not None
    assert found.results == (ResultPart("c", "no", None, True),)


DEFINITIONS: list[Any] = [
    [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}],
    [{"name": "f", "description": "d", "inputSchema": {"type": "object"}}],
    [{"name": "f", "description": "d", "input_schema": {"type": "object"}}],
    [{"name": "f", "description": "d", "inputSchema": {"json": {"type": "object"}}}],
    ['{"name": "f", "description": "d", "parameters": {"type": "object"}}'],
    '[{"name": "f", "description": "d", "parameters": "{\\"type\\": \\"object\\"}"}]',
    [{"function_declarations": [{"name": "f", "description": "d", "parameters": {"type": "object"}}]}],
    [{"toolSpec": {"name": "f", "description": "d", "inputSchema": {"json": {"type": "object"}}}}],
]


@pytest.mark.parametrize("value", DEFINITIONS)
def test_a_tool_definition_in_every_spelling(value: Any) -> None:
    (tool,) = coerce.tools(value) or ()
    assert (tool.name, tool.description, tool.schema) == ("f", "d", {"type": "object"})


@pytest.mark.parametrize("value", [2**63, -(2**65), 10**400, "nan", "inf", float("-inf"), "1e400", "x", True, None])
def test_what_no_store_can_keep_is_no_amount(value: Any) -> None:
    assert (coerce.number(value), coerce.integer(value)) == (None, None)


def test_names_alone_are_a_catalog_too() -> None:
    assert [t.name for t in coerce.tools('["f", "g"]') or ()] == ["f", "g"]


@given(JSON, JSON)
def test_equal_values_have_equal_texts(a: Any, b: Any) -> None:
    assert (canonical(a) == canonical(b)) == json_equal(a, b)


@pytest.mark.parametrize("depth", [101, 500, 5_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ("[", "]"), ("{'a':", "}")])
def test_nesting_without_end_is_unknown(depth: int, opening: str, closing: str) -> None:
    text = opening * depth + "1" + closing * depth
    args, raw = coerce.arguments(text)
    assert isinstance(args, Unknown)
    assert raw == text
    value, _ = coerce.result(text)
    canonical(value if not isinstance(value, Unknown) else None)


@pytest.mark.parametrize("text", ["{{'a': {}}}", "{{'a': [-{}]}}", "[{}]", "{{{}: 1}}"])
def test_an_integer_that_no_text_can_hold_is_unknown(text: str) -> None:
    text = text.format("0x" + "f" * 4_000)
    assert isinstance(coerce.arguments(text)[0], Unknown)
    assert coerce.result(text)[0] == text
