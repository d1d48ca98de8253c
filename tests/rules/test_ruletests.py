"""Test files of rules: read with positions, carried out as production would judge (house habit 9)."""

from __future__ import annotations

import pytest

from otel_toolselect.assemble.decision import read_no_call
from otel_toolselect.errors import SuiteError
from otel_toolselect.judge.rehearsal import Rehearsal
from otel_toolselect.model.ruletests import RuleTest
from otel_toolselect.model.runs import ToolCall, ToolDefinition, ToolResult, Unknown
from otel_toolselect.rules import parse_suite
from otel_toolselect.rules.rulefiles import parse_rules
from otel_toolselect.rules.ruletests import parse_tests

HEAD = "files: [r.yaml]\ntests:\n"


def parsed(entries: str) -> tuple[RuleTest, ...]:
    return parse_tests(HEAD + entries, path="t.yaml", reading=read_no_call).tests


def problems_of(text: str) -> list[str]:
    try:
        parse_tests(text, path="t.yaml", reading=read_no_call)
    except SuiteError as error:
        return [str(p).removeprefix("t.yaml:") for p in error.problems]
    return []


def test_a_run_is_what_its_events_say() -> None:
    (test,) = parsed(
        """
  - name: whole
    given:
      run: {id: a, agent: shop, request: 'find it', start: 2026-01-31T12:00:00Z, seconds: 1.5, attempt: 2,
            cost_usd: 0.1, tools: [find, {name: buy, description: buys, schema: {type: object}}],
            attributes: {env: prod, n: 2},
            history: [hello], input_tokens: 5, parent: p}
      events:
        - {call: find, args: {q: 00501, n: 1}, ok: true, value: [1]}
        - {call: buy, turn: 2, error: timeout, infra: true}
        - {call: buy, turn: 2}
        - {text: "Which one do you mean?"}
    expect: [{rule: x, status: pass}]
"""
    )
    (run,) = test.runs
    assert (run.run_id, run.agent, run.parent_run_id, run.attempt, run.cost_usd) == ("a", "shop", "p", 2, 0.1)
    assert (run.start_ns, run.duration_ns) == (1769860800 * 10**9, 1_500_000_000)
    assert run.tools == (ToolDefinition("find"), ToolDefinition("buy", "buys", {"type": "object"}))
    assert (run.attributes, run.history) == ({"env": "prod", "n": 2}, ("hello",))
    assert [(e.turn, e.seq) for e in run.events] == [(1, 0), (1, 1), (2, 2), (2, 3), (2, 4), (3, 5)]
    found = run.events[0]
    assert isinstance(found, ToolCall)
    assert found.args == {"q": "00501", "n": 1}
    failed = run.events[3]
    assert isinstance(failed, ToolResult)
    assert (failed.call_seq, failed.ok, failed.error_type, failed.infra) == (2, False, "timeout", True)
    assert (run.final_text, run.no_call.label) == ("Which one do you mean?", "ask_followup")


def test_events_as_the_events_command_prints_them() -> None:
    (test,) = parsed(
        """
  - name: pasted
    given:
      events:
        - {"trace_id":"t","run_id":"r","turn":1,"seq":0,"kind":"tool_call","name":"a","args":{},
           "call_id":"c1","emitted":true}
        - {"turn":1,"seq":1,"kind":"tool_call","name":"a","call_id":"c2","args_error":"cut"}
        - {"turn":1,"seq":2,"kind":"tool_result","name":"a","call_id":"c2","ok":false,"error_type":"x"}
        - {"turn":2,"seq":3,"kind":"assistant","text":"Done.","dialect":"genai"}
    expect: [{rule: x, status: pass}]
"""
    )
    first, second, result, text = test.runs[0].events
    assert isinstance(second, ToolCall)
    assert second.args == Unknown("cut")
    assert isinstance(result, ToolResult)
    assert (result.call_seq, result.ok, result.value) == (1, False, Unknown("not recorded"))
    assert (first.turn, text.turn, test.runs[0].final_text) == (1, 2, "Done.")


EMPTY = HEAD + "  - {name: a, given: {events: []}, "
TEST = "  - {name: a, given: {events: []}, expect: [{rule: x, status: pass}]}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the file is empty"),
        ("tests: []", "names no rules to test"),
        ("files: [a]", "the file has no test"),
        ("rule_files: [a]\ntests: [1]", "did you mean 'files'?"),
        (HEAD + TEST + "\n" + TEST, "4:5: the test 'a' stands twice (first on line 3"),
        (HEAD + "  - {name: a, expect: [{rule: x, status: pass}]}", "a test has no given"),
        (HEAD + "  - {given: {events: []}, expect: [{rule: x, status: pass}]}", "a test has no name"),
        (HEAD + "  - {name: a, given: {events: []}}", "expects nothing"),
        (EMPTY + "expect: []}", "expects nothing"),
        (HEAD + "  - {name: a, given: {}, expect: [{rule: x, status: pass}]}", "given holds nothing"),
        (HEAD + "  - {name: a, given: {events: [], spans: x}, expect: [{rule: x, status: pass}]}", "events and spans"),
        (HEAD + "  - {name: a, given: {spans: {a: 1}}, expect: [{rule: x, status: pass}]}", "OTLP/JSON"),
        (EMPTY + "expect: [{status: pass}]}", "names no rule"),
        (EMPTY + "expect: [{rule: x}]}", "says nothing of it"),
        (EMPTY + "expect: [{rule: x, status: passed}]}", "did you mean 'pass'?"),
        (EMPTY + "expect: [{rule: x, run: b, status: pass}]}", "no run is called"),
        (
            EMPTY + "expect: [{rule: x, layers: {selekt: fail}}]}",
            "'selekt' in layers",
        ),
        (
            HEAD + "  - {name: a, given: {events: [{cal: x}]}, expect: [{rule: x, status: pass}]}",
            "mean 'call'?",
        ),
        (HEAD + "  - {name: a, given: {events: [x]}, expect: [{rule: x, status: pass}]}", "an event must be a mapping"),
        (HEAD + "  - {name: a, given: {events: [{call: x, args: 1}]}, expect: [{rule: x, status: pass}]}", "args must"),
        (
            HEAD + "  - {name: a, given: {events: [{kind: tool_result, name: x}]}, expect: [{rule: x, status: pass}]}",
            "no call of 'x' stands before",
        ),
        (
            HEAD + "  - {name: a, given: {events: [], run: {start: soon}}, expect: [{rule: x, status: pass}]}",
            "is no time",
        ),
        (
            HEAD + "  - {name: a, given: {runs: [{events: []}, {events: []}]}, expect: [{rule: x, status: pass}]}",
            "which of the runs is meant?",
        ),
        (
            EMPTY + "judge: {x: maybe}, expect: [{rule: x, status: pass}]}",
            "cannot be 'maybe'",
        ),
    ],
)
def test_mistakes_have_their_place(text: str, said: str) -> None:
    found = problems_of(text)
    assert any(said in p for p in found), found


RULES = parse_rules(
    """
rules: shop
policy: {tools: {search: {effect: read}, refund: {effect: write}}}
cases:
  - {id: look-first, match: {agent: support}, expect: {never: [refund before search ok]}, owner: pay}
  - {id: polite, expect: {args: {refund: {reason: {judge: is polite}}}}}
""",
    path="r.yaml",
)
SUITE = parse_suite("suite: s\ncases: [{id: c, prompt: hi, expect: {first: [search]}}]", path="s.yaml")
NOWHERE = ("rule", "in one of the files", "nowhere (did you mean 'look-first'?)")
GIVEN = "given: {run: {agent: support}, events: [{call: refund, args: {reason: please}}]}"


def differences(rest: str) -> list[tuple[str, str, str]]:
    (test,) = parsed(f"  - {{name: a, {rest}}}")
    return [(d.what, d.expected, d.got) for d in Rehearsal([RULES, SUITE]).differences(test, test.runs)]


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("expect: [{rule: look-first, status: fail, failure: premature_action, owner: pay, first_action: refund}]", []),
        ("expect: [{rule: look-first, status: pass}]", [("status", "pass", "fail")]),
        ("expect: [{rule: look-first, layers: {selection: fail, execution: n/a}}]", []),
        ("expect: [{rule: look-first, layers: {selection: pass}}]", [("layers.selection", "pass", "fail")]),
        ("expect: [{rule: look-first, says: was called before}]", []),
        ("expect: [{rule: look-first, owner: other}]", [("owner", "other", "pay")]),
        ("expect: [{rule: look-first, failure: none}]", [("failure", "none", "premature_action")]),
        ("expect: [{rule: polite, status: needs_review}]", []),
        ("judge: {polite: yes}, expect: [{rule: polite, status: pass}]", []),
        ("judge: {polite: no}, expect: [{rule: polite, status: fail}]", []),
        ("judge: {other: no}, expect: [{rule: polite, status: needs_review}]", []),
        ("expect: [{case: c, status: unmatched}]", []),
        (
            "expect: [{rule: lok-first, status: fail}]",
            [("rule", "in one of the files", "nowhere (did you mean 'look-first'?)")],
        ),
    ],
)
def test_comparing(rest: str, found: list[tuple[str, str, str]]) -> None:
    assert differences(f"{GIVEN}, {rest}") == found


def test_a_rule_that_is_about_another_run() -> None:
    other = "given: {run: {agent: other, request: hi}, events: [{call: search}]}"
    assert differences(f"{other}, expect: [{{rule: look-first, status: unmatched}}, {{rule: c, status: pass}}]") == []
    assert differences(f"{other}, expect: [{{rule: look-first, status: pass}}]") == [("status", "pass", "unmatched")]


def test_several_runs() -> None:
    two = "given: {runs: [{id: a, agent: support, events: [{call: refund}]}, {id: b, agent: support, events: []}]}"
    expect = "expect: [{rule: look-first, run: a, status: fail}, {rule: look-first, run: b, status: fail}]"
    assert differences(f"{two}, {expect}") == [("status", "fail", "pass")]
