"""The short ways give what the long ways give."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect import dialects
from otel_toolselect.dialects import _coerce as coerce
from otel_toolselect.dialects import genai
from otel_toolselect.dialects._conventional import conventional
from otel_toolselect.dialects._loose import covering
from otel_toolselect.dialects._messages import message
from otel_toolselect.dialects._parsing import parse_json, parse_literal
from otel_toolselect.dialects._texts import Texts
from otel_toolselect.model.spans import LogRecord, Span

TEXT = st.sampled_from(["", "x", '{"a": 1}', '{"a": 1', "[1]", "null", '"q"', "[REDACTED]"])
VALUE = st.one_of(TEXT, st.none(), st.just(5), st.just({"a": 1}), st.just([{"type": "text", "text": "x"}]))
BLOCK = st.one_of(
    st.fixed_dictionaries({"type": st.sampled_from(["text", "reasoning"]), "content": VALUE}),
    st.fixed_dictionaries({"type": st.just("text"), "text": VALUE}),
    st.fixed_dictionaries({"type": st.just("tool_call"), "id": VALUE, "name": VALUE, "arguments": VALUE}),
    st.fixed_dictionaries(
        {"type": st.just("tool_call_response"), "id": VALUE},
        optional={"response": VALUE, "result": VALUE, "name": VALUE, "is_error": st.booleans()},
    ),
    st.sampled_from(["x", None, 3]),
)
MESSAGE = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "human", "", None, []])},
    optional={
        "parts": st.one_of(st.lists(BLOCK, max_size=3), st.just("x")),
        "finish_reason": VALUE,
        "name": VALUE,
        "content": VALUE,
        "tool_calls": st.just([{"id": "c", "function": {"name": "f", "arguments": "{}"}}]),
    },
)


@given(MESSAGE)
def test_a_conventional_message_reads_as_the_long_way_reads_it(value: dict[str, Any]) -> None:
    found = conventional(value)
    assert found is None or found == message(value)


def test_conventional_messages_take_the_short_way() -> None:
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"a": 1}}
    result = {"type": "tool_call_response", "id": "c", "response": '{"ok": true}'}
    for role, part in (("user", {"type": "text", "content": "x"}), ("assistant", call), ("tool", result)):
        assert conventional({"role": role, "parts": [part]}) is not None
        assert conventional({"role": role, "parts": [part], "finish_reason": "stop"}) is not None


@given(st.one_of(st.text(), st.recursive(TEXT, lambda t: st.lists(t, max_size=3) | st.dictionaries(TEXT, t)).map(repr)))
def test_a_structure_is_what_json_and_literals_say(text: str) -> None:
    for value in (text, json.dumps(text), f" {text}\n", text[:-1]):
        wanted: Any = value
        for _ in range(4):
            if isinstance(wanted, str):
                decoded = parse_json(wanted)
                wanted = parse_literal(wanted) if decoded is None else decoded
        assert coerce.structure(value) == (wanted if isinstance(wanted, (dict, list)) else None)


@pytest.mark.parametrize("text", ['{"a": "b', '{"a": 1, "b": [1, 2', "{'a': 'x y z"])
def test_a_value_that_was_cut_off_is_unknown(text: str) -> None:
    assert coerce.structure(text) is None
    assert coerce.arguments(text)[1] == text


def test_a_literal_may_end_in_a_comment() -> None:
    assert coerce.structure("{'a': 1}  # seen") == {"a": 1}


def test_texts_are_forgotten_within_a_limit_of_bytes() -> None:
    known: Texts[int] = Texts(100_000)
    for i in range(1000):
        known[f"{i}" * 10] = i
    assert len(known) < 1000
    known["x" * 50_000] = 1
    with pytest.raises(KeyError):
        known["x" * 50_000]


def test_names_without_end_are_not_remembered_without_end() -> None:
    for i in range(3000):
        dialects.dialect_of(Span("t", "s", attributes={f"made.up.{i}": 1}))
    dialects.dialect_of(Span("t", "s", attributes={"x" * 100_000: 1}))
    assert len(dialects._claimed) <= dialects._LOOKS
    assert all(sum(map(len, look)) <= dialects._NAMES for look in dialects._claimed)


BASE = st.dictionaries(
    st.sampled_from([key for row in genai._BASE for key in row[2:]]),
    st.sampled_from(["", "x", '"x"', "3", None, 0, 3, 2.5, True, []]),
    max_size=6,
)


@given(st.lists(BASE, max_size=4))
def test_fields_of_spans_that_look_alike_are_their_own(given_attributes: list[dict[str, Any]]) -> None:
    for attributes in [*given_attributes, *({**a, **dict.fromkeys(a, "7")} for a in given_attributes)]:
        attributes |= {"gen_ai.operation.name": "chat"}
        (read,) = dialects.read([Span("t", "s", attributes=attributes)])
        for name, coerced, key, older in genai._BASE:
            value = attributes.get(older) if attributes.get(key) in (None, "") else attributes[key]
            assert getattr(read, name) == (None if value is None else coerced(value))


SPANS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20), st.sampled_from("ab")), max_size=8)
LOGS = st.lists(st.tuples(st.integers(0, 22), st.sampled_from("abc")), max_size=6)


@given(SPANS, LOGS)
def test_a_loose_record_belongs_to_the_one_span_that_covers_it(
    times: list[tuple[int, int, str]], written: list[tuple[int, str]]
) -> None:
    spans = [Span("t", f"{i}", start_ns=s, end_ns=e, scope_name=scope) for i, (s, e, scope) in enumerate(times)]
    logs = [LogRecord(time_ns=at, body=i, scope_name=scope) for i, (at, scope) in enumerate(written)]
    wanted = set()
    for log in logs:
        now = log.time_ns or log.observed_ns
        found = [s for s in spans if s.scope_name == log.scope_name and s.start_ns <= now <= s.end_ns]
        if len(found) == 1:
            wanted.add((found[0].span_id, log.body))
    assert {(span_id, log.body) for (_, span_id), log in covering(logs, spans)} == wanted


def test_a_circle_of_agents_ends_somewhere() -> None:
    from otel_toolselect.assemble import assemble

    names = ("a", "b", "c", "a")
    circle = [
        Span("t", one, parent_span_id=above, start_ns=1, end_ns=9, attributes={"gen_ai.operation.name": "invoke_agent"})
        for one, above in pairwise(names)
    ]
    assert assemble(dialects.read(circle))
