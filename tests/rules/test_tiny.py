"""The tiny forms (R11)."""

from __future__ import annotations

import pytest

from otel_toolselect.judge import judge
from otel_toolselect.rules import parse_suite
from tests.builders import call, run
from tests.rules.suites import problems_of

LINES = """\
{"prompt": "where's my order?", "expected": "search_orders"}

{"prompt": "what's your return window?", "expected": "none"}
{"prompt": "cancel it", "expected": ["ask_followup", "search_orders"]}
{"prompt": "where's my order?", "expected": "search_orders"}
"""
LIST = """\
[
  {"id": "c001", "request": "show invoice 7", "expected": "get_invoice", "env": "billing"},
  {"id": "c002",
   "request": "fly to the moon", "expected": "refuse_no_tool"}
]
"""


def test_lines_get_ids_of_their_own_text() -> None:
    suite = parse_suite(LINES, path="dir/selection.jsonl")
    ids = [c.id for c in suite.cases]
    assert suite.name == "selection"
    assert ids[0].startswith("where-s-my-order-")
    assert ids[3] == f"{ids[0]}-2"
    assert parse_suite(LINES.split("\n", 1)[1], path="x.jsonl").cases[0].id == ids[1]


def test_the_list_form_and_its_lines_are_the_same() -> None:
    suite = parse_suite(LIST, path="tool_cases.json")
    assert [(c.id, c.prompt, c.env, c.line) for c in suite.cases] == [
        ("c001", "show invoice 7", "billing", 2),
        ("c002", "fly to the moon", None, 3),
    ]
    lines = LIST.replace("\n   ", " ").strip("[]\n ").replace("},\n", "}\n")
    for path in ("tool_cases.json", "tool_cases.jsonl"):
        assert [c.id for c in parse_suite(lines, path=path).cases] == ["c001", "c002"]


def test_none_accepts_any_outcome_without_a_call() -> None:
    suite = parse_suite(LINES, path="s.jsonl")
    asked = "what's your return window?"
    runs = [
        run(final="30 days.", request=asked, run_id="1"),
        run(final="Which product?", request=asked, run_id="2"),
        run(final="I cannot.", reads="refuse_no_tool", confidence=0.2, request=asked, run_id="3"),
        run(call("get_faq"), request=asked, run_id="4"),
    ]
    found = judge(runs, suite).runs
    assert [v.layers["selection"].status for v in found] == ["pass", "pass", "pass", "fail"]
    assert [(c.expected, c.observed) for v in found for c in v.cells] == [("none", "none")] * 3 + [("none", "get_faq")]
    assert [v.first_action for v in found] == ["none", "ask_followup", "refuse_no_tool", "get_faq"]
    assert [v.failure for v in found] == [None, None, None, "intent_misread"]


def test_a_repeated_line_is_one_case_for_its_runs() -> None:
    suite = parse_suite(LINES, path="s.jsonl")
    found = judge([run(call("search_orders"), request="where's my order?")], suite)
    assert (len(found.runs), found.unmatched_runs, len(found.cases_without_run)) == (1, 0, 3)


@pytest.mark.parametrize(
    ("text", "path", "problems"),
    [
        ("", "s.jsonl", ["1:1: suite has no cases"]),
        ("[]", "s.json", ["1:1: suite has no cases"]),
        ('{"prompt": "a", "expected": "x"}\n{"prompt": ', "s.jsonl", ["2:12: not valid JSON: Expecting value"]),
        ('{"prompt": "a"}\n["b"]', "s.jsonl", ["1:1: a case has no expected action", "2:1: a case must be a mapping"]),
        ('[{"prompt": "a", "expected": "x"},\n {"promt": "b", "expected": "x"}]', "s.json",
         ["2:2: a case has no prompt", "2:2: unknown key 'promt'"]),
        ('{"prompt": "a", "expected": []}', "s.jsonl", ["1:1: expected allows no action"]),
        ('{"prompt": "a", "expected": {"x": 1}}', "s.jsonl", ["1:1: expected must be"]),
        ('{"id": "1", "request": "a", "expected": "x"}\n{"id": 1, "request": "b", "expected": "x"}', "s.jsonl",
         ["2:1: the case id '1' stands twice"]),
        ("[" * 100_000, "s.json", ["1:1: not readable JSON"]),
        ('{"prompt": "a", "expected": ' + "[" * 100 + "]" * 100 + "}", "s.jsonl",
         ["1:1: a case must be", "1:1: nested"]),
    ],
)  # fmt: skip
def test_mistakes(text: str, path: str, problems: list[str]) -> None:
    found = problems_of(text, path)
    assert all(any(f.startswith(p) for f in found) for p in problems), found


def test_null_means_none() -> None:
    suite = parse_suite('{"prompt": "a", "expected": null}', path="s.jsonl")
    assert suite.cases[0].expect.decision == "none"
