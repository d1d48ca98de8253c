"""Importers of reference trajectories: ADK, LangChain, promptfoo, Toolscore; and the tiny forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from otel_toolselect.errors import InputError, UsageError
from otel_toolselect.rules import Suite
from otel_toolselect.suites import read_suite
from tests.builders import call, run
from tests.suites.conftest import Import, judged, lines


def passes(suite: Suite, *calls: Any, case: int = 0) -> bool:
    layers = judged(suite, run(*calls), case).layers
    return all(layers[name].status in ("pass", "n/a") for name in ("selection", "sequencing", "arguments"))


# --- ADK


def invocation(text: str, *uses: dict[str, Any]) -> dict[str, Any]:
    return {"user_content": {"parts": [{"text": text}]}, "intermediate_data": {"tool_uses": list(uses)}}


def evalset(*conversation: dict[str, Any]) -> str:
    return json.dumps({"eval_set_id": "set", "eval_cases": [{"eval_id": "e", "conversation": list(conversation)}]})


LIST = {"name": "list_releases", "args": {"all": "true"}}


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("list_releases", {"all": "true"})], True),
        ([("list_releases", {"all": "true", "more": 1})], False),
        ([("list_releases", {})], False),
        ([("list_releases", {"all": "true"}), ("get", {})], False),
        ([], False),
    ],
)
def test_adk_compares_the_whole_trajectory(imported: Import, calls: list[Any], expected: bool) -> None:
    suite = imported("adk-evalset", evalset(invocation("list them", LIST)), name="set.json")
    assert (suite.name, suite.cases[0].id, suite.cases[0].prompt) == ("set", "e", "list them")
    assert passes(suite, *(call(n, a) for n, a in calls)) == expected


def test_adk_expects_no_call_where_none_is_listed(imported: Import) -> None:
    suite = imported("adk-evalset", evalset(invocation("hello")), name="set.json")
    assert passes(suite)
    assert not passes(suite, call("get"))


def test_adk_turns_camel_case_events_and_the_old_list(imported: Import) -> None:
    two = imported("adk-evalset", evalset(invocation("a", LIST), invocation("b")), name="set.json")
    assert [c.id for c in two.cases] == ["e/1", "e/2"]
    events = [{"content": {"parts": [{"functionCall": {"name": "get", "args": {}}}]}}]
    camel = {"userContent": {"parts": [{"text": "x"}]}, "intermediateData": {"invocationEvents": events}}
    whole = json.dumps({"evalSetId": "s", "evalCases": [{"evalId": "e", "conversation": [camel]}]})
    assert passes(imported("adk-evalset", whole, name="set.json"), call("get"))
    old = [{"query": "q", "expected_tool_use": [{"tool_name": "get", "tool_input": {"a": 1}}]}]
    assert passes(imported("adk-evalset", json.dumps(old), name="set.json"), call("get", {"a": 1}))


def test_adk_mistakes(imported: Import) -> None:
    with pytest.raises(InputError, match="holds eval_cases"):
        imported("adk-evalset", "{}", name="set.json")
    with pytest.raises(InputError, match=r"eval_cases\[0\]: a tool use has no name"):
        imported("adk-evalset", evalset(invocation("a", {"args": {}})), name="set.json")


# --- LangChain


def reference(*names: str, **more: Any) -> str:
    calls = [{"function": {"name": n, "arguments": '{"q": 1, "r": 2}'}} for n in names]
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": calls}]
    return lines({"id": "l", "reference_outputs": messages, **more})


@pytest.mark.parametrize(
    ("mode", "fits", "misfits"),
    [
        ("strict", ["ab"], ["ba", "a", "abc"]),
        ("unordered", ["ab", "ba"], ["a", "abc"]),
        ("subset", ["a", "b", "ba", ""], ["abc", "c"]),
        ("superset", ["ab", "cba"], ["a", "c"]),
    ],
)
def test_langchain_match_modes(imported: Import, mode: str, fits: list[str], misfits: list[str]) -> None:
    suite = imported("langchain", reference("a", "b", trajectory_match_mode=mode))
    assert suite.cases[0].prompt == "hi"
    args = {"q": 1, "r": 2}
    assert [s for s in [*fits, *misfits] if passes(suite, *(call(n, args) for n in s))] == fits


@pytest.mark.parametrize(
    ("how", "fits", "misfits"),
    [
        ({"tool_args_match_mode": "exact"}, [{"q": 1, "r": 2}], [{"q": 1}, {"q": 1, "r": 2, "s": 3}]),
        ({"tool_args_match_mode": "ignore"}, [{}, {"q": 5}], []),
        ({"tool_args_match_mode": "superset"}, [{"q": 1, "r": 2, "s": 3}], [{"q": 1}]),
        ({"tool_args_match_mode": "subset"}, [{"q": 1}, {}], [{"q": 2}, {"s": 1}]),
        ({"tool_args_match_overrides": {"a": ["q"]}}, [{"q": 1, "x": 0}], [{"r": 2}]),
        ({"tool_args_match_overrides": {"a": "ignore"}}, [{}], []),
    ],
)
def test_langchain_arguments(imported: Import, how: dict[str, Any], fits: list[Any], misfits: list[Any]) -> None:
    suite = imported("langchain", reference("a", **how))
    assert [a for a in [*fits, *misfits] if passes(suite, call("a", a))] == fits


def test_langchain_reads_other_transcripts(imported: Import) -> None:
    anthropic = [{"role": "assistant", "content": [{"type": "tool_use", "name": "a", "input": {"q": 1}}]}]
    own = [{"type": "ai", "tool_calls": [{"name": "a", "args": {"q": 1}}]}]
    for messages in (anthropic, own):
        record = {"inputs": {"question": "hi"}, "outputs": {"messages": messages}}
        suite = imported("langchain", lines(record))
        assert suite.cases[0].prompt == "hi"
        assert passes(suite, call("a", {"q": 1}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lines({"id": "x"}), "no reference messages"),
        (reference("a", trajectory_match_mode="loose"), "trajectory_match_mode is 'loose', not one of strict"),
        (reference("a", tool_args_match_overrides={"a": 5}), "must be a mode or a list of arguments"),
    ],
)
def test_langchain_mistakes(imported: Import, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        imported("langchain", text)


# --- promptfoo

PROMPTFOO = """
description: shop
prompts: ["Help: {{ ask }}"]
defaultTest:
  assert: [{type: not-trajectory:tool-used, value: refund}]
tests:
  - vars: {ask: where is it}
    assert:
      - {type: trajectory:tool-sequence, value: {mode: exact, steps: [search, reply]}}
      - {type: trajectory:tool-args-match, value: {name: search, args: {id: "5"}}}
  - description: counts
    vars: {ask: more}
    assert:
      - type: trajectory:tool-used
        value: {name: search, min: 2}
      - {type: llm-rubric, value: be nice}
  - {vars: {ask: nothing here}, assert: [{type: contains, value: x}]}
"""


def test_promptfoo(imported: Import, tmp_path: Path) -> None:
    suite = imported("promptfoo", PROMPTFOO, name="promptfooconfig.yaml")
    assert [(c.id, c.prompt) for c in suite.cases[:2]] == [("test-1", "Help: where is it"), ("counts", "Help: more")]
    search, reply = call("search", {"id": "5", "x": 1}), call("reply")
    assert passes(suite, search, reply)
    assert not passes(suite, call("search", {"id": "6"}), reply)
    assert not passes(suite, search, reply, reply)
    assert not passes(suite, search, reply, call("refund"))
    assert passes(suite, search, reply, search, case=1)
    assert not passes(suite, search, reply, case=1)
    notes = read_suite("promptfoo", str(tmp_path / "promptfooconfig.yaml")).notes
    assert any("llm-rubric is not carried over" in n for n in notes)


def test_promptfoo_mistakes(imported: Import) -> None:
    with pytest.raises(InputError, match="a list called tests"):
        imported("promptfoo", "prompts: [x]", name="p.yaml")
    bare = "tests: [{assert: [{type: trajectory:tool-args-match, value: {name: a}}]}]"
    with pytest.raises(InputError, match=r"tests\[0\]: trajectory:tool-args-match has no args"):
        imported("promptfoo", bare, name="p.yaml")


# --- Toolscore


def test_toolscore_gold_file(imported: Import) -> None:
    gold = [
        {"tool": "make", "args": {"n": "a"}, "side_effects": {"file": "a"}, "description": "first"},
        {"tool": "read"},
    ]
    suite = imported("toolscore", json.dumps(gold), name="gold_calls.json")
    assert (suite.cases[0].id, suite.cases[0].rationale) == ("gold_calls", "first")
    assert passes(suite, call("make", {"n": "a"}), call("read", {"any": 1}))
    assert not passes(suite, call("read"), call("make", {"n": "a"}))
    assert not passes(suite, call("make", {"n": "b"}), call("read"))


def test_toolscore_several_cases(imported: Import) -> None:
    gold = [{"name": "one", "input": "go", "expected": [{"tool": "a", "args": {}}]}, {"expected": []}]
    suite = imported("toolscore", json.dumps(gold), name="gold.json")
    assert [(c.id, c.prompt) for c in suite.cases] == [("one", "go"), ("case-2", None)]
    with pytest.raises(InputError, match="has no tool"):
        imported("toolscore", '[{"name": "x", "expected": [{"args": {}}]}]', name="gold.json")


# --- tiny, and what all share


def test_tiny(imported: Import) -> None:
    suite = imported("tiny", lines({"prompt": "p", "expected": "a"}, {"prompt": "q", "expected": "none"}))
    assert passes(suite, call("a"))
    assert passes(suite, case=1)
    assert judged(suite, run(final="Which one?"), 1).layers["selection"].status == "pass"


def test_an_unknown_kind_is_suggested() -> None:
    with pytest.raises(UsageError, match="did you mean 'bfcl'"):
        read_suite("bfkl", "x")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.jsonl: cannot be read"):
        read_suite("bfcl", str(tmp_path / "none.jsonl"))
    broken = tmp_path / "x.jsonl.gz"
    broken.write_bytes(b"\x1f\x8b\x08broken")
    with pytest.raises(InputError, match=r"x\.jsonl\.gz: "):
        read_suite("bfcl", str(broken))
