"""Hostile files: a clear error in bounded time and memory. Sizes are small, what they prove is the growth."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from otel_toolselect.assemble.decision import read_no_call
from otel_toolselect.errors import SuiteError
from otel_toolselect.rules import parse_suite
from otel_toolselect.rules.problems import MAX_PROBLEMS
from otel_toolselect.rules.rulefiles import parse_rules
from otel_toolselect.rules.ruletests import parse_tests

PATTERN = "suite: a\ncases:\n  - {id: b, expect: {args: {t: {x: {matches: %s}}}}}\n"
CEL = "suite: a\ncases: [{id: b, expect: {cel: ['%s']}}]"
N = 300_000
LAUGHS = "a: &a [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)
)
FILES = {
    "long pattern": (PATTERN % ("a" * N), "the limit is 4,000"),
    "long quoted pattern": (PATTERN % ("'" + "(a" * N + "'"), "the limit is 4,000"),
    "look-ahead": (PATTERN % "'(?=a)'", "RE2 has no look-around"),
    "back-reference": (PATTERN % "'(a)\\1'", "RE2 has no look-around"),
    "huge repeat": (PATTERN % "'((((a{1,30}){1,30}){1,30}){1,30})'", "is not an RE2 pattern"),
    "huge program": (PATTERN % ("'" + "[^\\pL]" * 600 + "'"), "is not an RE2 pattern"),
    "billion laughs": (LAUGHS, "more than 1,000,000 values"),
    "alias loop": ("suite: &a [*a]", "cannot stand inside what it names"),
    "deep flow list": ("suite: " + "[" * N, "nested deeper than 64"),
    "deep flow mapping": ("suite: " + "{a: " * N, "nested deeper than 64"),
    "deep block list": ("- " * N, "nested deeper than 64"),
    "deep keys": ("? " * N, "nested deeper than 64"),
    "long tag": ("suite: !" + "a" * 10_000_000 + " x", "a tag of more than 1,000 characters"),
    "control character": ("suite: \0", "not valid YAML"),
    "endless cel": (
        "suite: a\ncases: [{id: b, expect: {cel: ['" + "calls.all(c, " * 30 + "true" + ")" * 30 + "']}}]",
        "",
    ),
    "long cel": (CEL % ("1 + " * N + "1 == 1"), ""),
}


def rules(text: str) -> object:
    return parse_rules(text.replace("suite:", "rules:"), path="x.yaml")


def a_test_file(text: str) -> object:
    return parse_tests(text, path="x.yaml", reading=read_no_call)


def suite(text: str) -> object:
    return parse_suite(text, path="x.yaml")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("read", [suite, rules])
def test_a_hostile_file_is_an_error_soon(name: str, read: Callable[[str], object]) -> None:
    text, said = FILES[name]
    begun = time.process_time()
    with pytest.raises(SuiteError) as caught:
        read(text)
    assert time.process_time() - begun < 5
    assert said in str(caught.value)
    assert len(str(caught.value)) < 5000
    assert all(p.line >= 1 and p.column >= 1 for p in caught.value.problems)


@pytest.mark.parametrize("name", ["billion laughs", "alias loop", "deep flow list", "long tag"])
def test_test_files_are_read_as_carefully(name: str) -> None:
    with pytest.raises(SuiteError, match=FILES[name][1]):
        a_test_file(FILES[name][0])


def test_json_lines_may_be_deep_too() -> None:
    for text in ("[" * N, '{"prompt": "a", "expected": ' + "[" * N + "]" * N + "}"):
        with pytest.raises(SuiteError):
            parse_suite(text, path="x.jsonl")


def test_the_list_of_mistakes_ends() -> None:
    with pytest.raises(SuiteError) as caught:
        parse_suite("{\n" * 5000, path="x.jsonl")
    assert len(caught.value.problems) == MAX_PROBLEMS
