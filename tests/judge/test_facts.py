"""Facts beside the verdicts: tools by canonical name, effects, redundant calls, groups of cases (R16, R32, R49)."""

from __future__ import annotations

from otel_toolselect.judge import judge, with_facts
from otel_toolselect.model.facts import CaseGroup, RunFacts
from otel_toolselect.rules import parse_suite
from tests.builders import call, run

SUITE = """
suite: s
policy:
  tools: {find: {effect: read}, refund: {effect: write}}
  aliases: {look_up: find}
cases:
  - {id: a, prompt: x, group: {id: g, relation: different}, expect: {first: [find]}}
  - {id: b, prompt: y, expect: {first: [refund]}}
"""


def test_facts() -> None:
    suite = parse_suite(SUITE, path="s.yaml")
    same = {"q": 1}
    one = run(
        call("look_up", same, ok=True),
        call("find", same, ok=True),
        call("odd"),
        case_id="a",
        tools=["look_up", "refund"],
        agent="shop",
        input_tokens=7,
    )
    got = with_facts(judge([one], suite), [one], suite)
    assert got.groups == {"a": CaseGroup("g", "different")}
    assert got.facts == {
        "r1": RunFacts(
            agent="shop",
            input_tokens=7,
            tools_offered=("find", "refund"),
            tools_used=("find", "odd"),
            effects={"find": "read"},
            calls=3,
            redundant=1,
        )
    }


def test_runs_that_are_not_judged_have_no_facts() -> None:
    suite = parse_suite(SUITE, path="s.yaml")
    stranger = run(request="something else")
    assert with_facts(judge([stranger], suite), [stranger], suite).facts == {}
