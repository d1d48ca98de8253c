"""The quick reader of JSON makes of a text what the YAML reader makes of it, or declines."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.rules._json import read_json
from otel_toolselect.rules._yaml import read_yaml
from otel_toolselect.rules.problems import Problems

_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(["\x85", "a: b", "# c", "~"])
_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(_texts, _values, max_size=3) | st.lists(_values, max_size=3), st.sampled_from([None, 1]))
def test_the_two_readers_agree(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    quick = read_json(text)
    if quick is not None:
        problems = Problems("x")
        assert quick == read_yaml(text, problems)
        assert not problems.found


@pytest.mark.parametrize("text", ['{"b": [1, 0x1F]}', "{a: 1}", '{"a": 1, "a": 2}', '{"a": 1} {"b": 2}',
    "[1, 2", '["\\ud800"]', '["a\nb"]', "suite: s", "", "{'a': 1}", '{"a": 1,}', '{"a" 1}', "[" * 70 + "]" * 70,
    '["\\x41"]', '{"<<": {}} # x', "[1 2]", "]"])  # fmt: skip
def test_what_it_declines(text: str) -> None:
    assert read_json(text) is None


def test_it_keeps_the_text_of_numbers() -> None:
    node = read_json('{"a": 1.10,\n  "b": [5, true]}')
    problems = Problems("x")
    assert node == read_yaml('{"a": 1.10,\n  "b": [5, true]}', problems)
    assert node is not None
    assert (node.line, node.column) == (1, 1)


def test_it_is_quick() -> None:
    cases = [{"id": f"c{i}", "expect": {"first": ["a"], "args": {"a": {"n": i, "t": "x" * 50}}}} for i in range(5000)]
    text = json.dumps(cases)
    started = time.process_time()
    assert read_json(text) is not None
    assert time.process_time() - started < 2
