"""Judging as a whole: bug kinds 25 and 26, exclusions, identity, crashes, order of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from otel_toolselect.judge import FAILURES, judge, judge_run
from otel_toolselect.model.runs import Run, ToolDefinition
from otel_toolselect.model.verdicts import LAYERS, Finding, Layer
from otel_toolselect.rules import RunView, parse_suite
from tests.builders import call, run
from tests.rules.suites import POLICY, suite_of, verdict

BUG_25 = """
suite: b25
policy:
  tools: {get_order: {effect: read}, cancel_order: {effect: write}, search_web: {effect: read}}
cases:
  - {id: none-none, prompt: "What is 2 + 2?", expect: {class: none}}
  - {id: none-called, prompt: "Summarize this: the cat sat.", expect: {class: none}}
  - id: wanted-none
    prompt: "Where is order A-25?"
    expect: {class: required, first: [get_order], args: {get_order: {order_id: A-25}}}
  - {id: clarify-asked, prompt: "Cancel my order.", expect: {class: clarify}}
  - {id: clarify-lecture, prompt: "Cancel my order!", expect: {class: clarify}}
"""


def test_bug_25_nothing_expected_and_nothing_called() -> None:
    runs = [
        run(run_id="a", request="What is 2 + 2?", final="4."),
        run(call("search_web", ok=True), run_id="b", request="Summarize this: the cat sat.", final="A cat sat."),
        run(run_id="c", request="Where is order A-25?", final="It is on its way."),
        run(run_id="d", request="Cancel my order.", final="Which one, A-1 or A-2?"),
        run(run_id="e", request="Cancel my order!", final="Cancelling is possible within 14 days."),
    ]
    found = judge(runs, parse_suite(BUG_25, path="b25.yaml"))
    table = [[v.layers[name].status for name in ("selection", "arguments", "execution")] for v in found.runs]
    assert table == [
        ["pass", "n/a", "n/a"],
        ["fail", "n/a", "pass"],
        ["fail", "n/a", "n/a"],
        ["pass", "n/a", "n/a"],
        ["fail", "n/a", "n/a"],
    ]
    said = [v.layers["selection"].explanation for v in found.runs]
    assert "unexpected call search_web" in said[1]
    assert "missing call get_order" in said[2]
    assert "asked" in said[3]
    assert "no question was asked" in said[4]
    assert found.runs[2].layers["selection"].evidence["missing_required"] == ["get_order"]
    assert all(set(v.layers) == set(LAYERS) for v in found.runs)
    assert (found.unmatched_runs, found.cases_without_run) == (0, ())


def test_bug_26_each_call_is_judged_and_none_is_merged() -> None:
    cities = "{args: {book: {city: {one_of: [New York, Shanghai]}}}}"
    found = verdict(cities, run(call("book", {"city": "Shanghai"}), call("book", {"city": "Oslo"})))
    assert [s.passed for s in found.call_scores] == [True, False]
    twice = verdict("{args: {book: {city: Oslo}}}", run(call("book", {"city": "Oslo"}), call("book", {"city": "Oslo"})))
    assert [s.passed for s in twice.call_scores] == [True, True]


SEARCH = call("search_orders", ok=True)
TIMEOUT = call("search_orders", ok=False, error="timeout")


@pytest.mark.parametrize(
    ("expect", "given", "excluded"),
    [
        # infra
        ("{first: [search_orders]}", run(TIMEOUT), "infra"),
        ("{first: [search_orders]}", run(TIMEOUT, SEARCH), None),
        ("{first: [search_orders]}", run(call("search_orders", ok=False, infra=True)), "infra"),
        ("{first: [search_orders]}", run(call("search_orders", ok=False, error="not found")), None),
        ("{first: [search_orders]}", run(call("search_orders", ok=False, value="gateway-7 gone")), "infra"),
        ("{first: [search_orders]}", run(call("search_orders", ok=False, value={"e": "Timed out"})), "infra"),
        ("{first: [get_policy]}", run(TIMEOUT), "infra"),
        ("{first: [search_orders], never: [book]}", run(TIMEOUT, call("book")), None),
        # catalog gap
        ("{first: [search_orders]}", run(call("get_policy"), tools=["get_policy"]), "catalog_gap"),
        ("{first: [search_orders]}", run(call("get_policy"), tools=["get_policy", "find_orders"]), None),
        ("{first: [search_orders]}", run(call("get_policy")), None),
        ("{first: [search_orders]}", run(SEARCH, tools=["get_policy"]), None),
        ("{first: [search_orders, none]}", run(call("get_policy"), tools=["get_policy"]), None),
        ("{first: [effect:write]}", run(call("get_policy"), tools=["get_policy"]), "catalog_gap"),
        ("{class: none}", run(call("get_policy"), tools=["get_policy"]), None),
        # incomplete
        ("{first: [search_orders]}", run(incomplete="no end"), "incomplete"),
        ("{first: [search_orders]}", run(call("get_policy"), incomplete="no end"), None),
        ("{first: [search_orders]}", run(SEARCH, incomplete="no end"), None),
        ("{first: [search_orders]}", run(final="Hi.", incomplete="no end"), "incomplete"),
        ("{first: [search_orders], eventually: [book]}", run(SEARCH, incomplete="no end"), "incomplete"),
        ("{first: [search_orders], never: [get_policy]}", run(call("get_policy"), incomplete="no end"), None),
        ('{never: ["book before search_orders ok"]}', run(call("book"), incomplete="no end"), "incomplete"),
        ("{class: clarify}", run(call("list_tools"), incomplete="no end"), "incomplete"),
        ("{class: none}", run(final="4.", incomplete="no end"), None),
    ],
)
def test_exclusions(expect: str, given: Run, excluded: str | None) -> None:
    found = verdict(expect, given)
    assert found.excluded == excluded, found.layers
    if excluded:
        assert {v.status for v in found.layers.values()} == {"excluded"}
        assert (found.cells, found.call_scores) == ((), ())
    else:
        assert "excluded" not in {v.status for v in found.layers.values()}


DESCRIBED: list[str | ToolDefinition] = [
    ToolDefinition("search_orders", "Search the orders of a customer by number"),
    ToolDefinition("get_policy", "Search the orders of a customer by date"),
    ToolDefinition("book", "Books a flight"),
]


@pytest.mark.parametrize(
    ("expect", "given", "failure"),
    [
        ("{first: [search_orders]}", run(SEARCH), None),
        ("{first: [search_orders]}", run(call("get_policy"), tools=DESCRIBED), "boundary_ambiguity"),
        ("{first: [search_orders]}", run(call("book"), tools=DESCRIBED), "intent_misread"),
        ("{first: [search_orders]}", run(call("get_policy")), "intent_misread"),
        ("{first: [search_orders]}", run(final="Hi."), "intent_misread"),
        ("{class: none}", run(call("get_policy")), "intent_misread"),
        ("{class: none}", run(call("book")), "premature_action"),
        ("{class: clarify}", run(call("mystery"), final="Ok?"), "premature_action"),
        ("{class: clarify}", run(final="A lecture."), "intent_misread"),
        ("{never: [book]}", run(call("book")), "premature_action"),
        ("{never: [get_policy]}", run(call("get_policy")), "intent_misread"),
        ("{order: [{first: search_orders, then: book, needs: ok}]}", run(call("book")), "premature_action"),
        ("{args: {book: {n: 1}}}", run(call("book", {"n": 2})), "invalid_arguments"),
        ("{first: [book]}", run(call("book", ok=False), call("book", ok=False)), "recovery_loop"),
        ("{first: [book]}", run(call("book", {"n": 1}, ok=False), call("book", {"n": 2}, ok=False)), "infrastructure"),
        ("{first: [search_orders]}", run(TIMEOUT), "infrastructure"),
        ("{first: [search_orders]}", run(call("book"), tools=["book"]), "harness_defect"),
        ("{first: [search_orders]}", run(incomplete="no end"), None),
        ("{first: [none]}", run(final="Hm.", confidence=0.1), None),
    ],
)
def test_failures_have_a_label_and_an_owner(expect: str, given: Run, failure: str | None) -> None:
    found = verdict(expect, given)
    assert (found.failure, found.owner) == (failure, FAILURES[failure].owner if failure else None)


def test_every_label_is_defined() -> None:
    assert {f.name for f in FAILURES.values()} == set(FAILURES)
    assert all(f.definition.endswith(".") and f.owner for f in FAILURES.values())


class Crashing:
    name = "crashing"
    layer: Layer = "outcome"
    decides = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        raise ZeroDivisionError("by a plug-in")


def test_a_crash_in_a_check_is_a_record() -> None:
    suite = suite_of("{first: [search_orders]}")
    case = suite.cases[0]
    broken = replace(case, expect=replace(case.expect, checks=(*case.expect.checks, Crashing())))
    found = judge_run(run(SEARCH), broken, suite)
    assert found.layers["outcome"].status == "needs_review"
    assert "the check crashing crashed: ZeroDivisionError: by a plug-in" in found.layers["outcome"].explanation
    assert (found.layers["selection"].status, found.failure) == ("pass", "harness_defect")


def test_the_verdict_carries_who_and_under_which_policy() -> None:
    given = run(SEARCH, attempt=2, label="new-prompt", model="m", prompt_version="p", request="q", start_ns=5)
    found = verdict("{first: [search_orders]}", given, case="risk: high, tags: {bucket: core}")
    assert (found.attempt, found.label, found.model, found.prompt_version) == (2, "new-prompt", "m", "p")
    assert (found.risk, found.tags, found.start_ns, found.request) == ("high", {"bucket": "core"}, 5, "q")
    assert found.policy_version is not None
    assert found.policy_version.startswith("3@")


def test_metadata_calls_are_no_first_action() -> None:
    found = verdict("{first: [none]}", run(call("list_tools", ok=True), final="Two tools."))
    assert (found.first_action, found.observed_class) == ("none", "none")


# --- identity

CASES = f"""{POLICY}
  - {{id: a, prompt: "same", tools: [search_orders], expect: {{first: [search_orders]}}}}
  - {{id: b, prompt: "same", tools: [book], expect: {{first: [book]}}}}
  - {{id: c, prompt: "  other ", expect: {{first: [book]}}}}
"""


@pytest.mark.parametrize(
    ("given", "cases"),
    [
        (run(case_id="c", request="same"), ["c"]),
        (run(case_id="z", request="other"), []),
        (run(suite="shop", request="other\n"), ["c"]),
        (run(suite="else", request="other"), []),
        (run(suite="else", case_id="c"), []),
        (run(request="Other"), []),
        (run(), []),
        (run(request="same"), []),
        (run(request="same", tools=["book"]), ["b"]),
        (run(request="same", tools=["find_orders"]), ["a"]),
        (run(request="same", tools=["book", "search_orders"]), []),
    ],
)
def test_a_run_belongs_to_the_case_it_names_or_whose_request_it_has(given: Run, cases: list[str]) -> None:
    found = judge([given], parse_suite(CASES, path="s.yaml"))
    assert [v.case_id for v in found.runs] == cases
    assert found.unmatched_runs == 1 - len(cases)
    assert found.cases_without_run == tuple(c for c in "abc" if c not in cases)


def test_nested_runs_belong_to_their_parent() -> None:
    suite = parse_suite(CASES, path="s.yaml")
    parent = run(call("book"), run_id="p", case_id="b")
    nested = [
        run(run_id="n1", parent_run_id="p", request="other"),
        run(run_id="n2", parent_run_id="p", case_id="b"),
        run(run_id="n3", parent_run_id="p", case_id="c"),
        run(run_id="n4", parent_run_id="n3", case_id="c"),
    ]
    found = judge([*nested, parent], suite)
    assert [(v.run_id, v.case_id) for v in found.runs] == [("p", "b"), ("n3", "c")]
    assert found.unmatched_runs == 0


def test_verdicts_are_in_the_order_of_case_attempt_and_id() -> None:
    suite = parse_suite(CASES, path="s.yaml")
    ids = [("c", 1, "1"), ("b", 2, "2"), ("b", 1, "4"), ("b", 1, "3")]
    found = judge([run(run_id=i, case_id=c, attempt=n) for c, n, i in ids], suite)
    assert [v.run_id for v in found.runs] == ["3", "4", "2", "1"]
