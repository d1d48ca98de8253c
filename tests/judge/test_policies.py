"""Runs under a rules file: each run under each rule that matches, whatever the order (R47)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.judge import judge_rules
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import Finding, Layer
from otel_toolselect.rules import RunView
from otel_toolselect.rules.rulefiles import RuleFile, parse_rules
from tests.builders import call, run

RULES = parse_rules(
    """
rules: shop
policy: {tools: {search: {effect: read}, refund: {effect: write}}}
cases:
  - {id: look-first, match: {agent: support}, expect: {never: [refund before search ok]}, severity: critical,
     owner: pay}
  - {id: no-writes, match: {agent: reader}, expect: {never: ["effect:write"]}}
  - {id: nobody, match: {agent: nobody}, expect: {never: [refund]}}
""",
    path="shop.yaml",
)
RUNS = [
    run(call("refund"), run_id="a", agent="support", start_ns=5),
    run(call("search", ok=True), call("refund"), run_id="b", agent="support", start_ns=3),
    run(call("refund"), run_id="c", agent="reader", parent_run_id="a", case_id="x", suite="other"),
    run(call("refund"), run_id="d", agent="third"),
    run(run_id="e", agent="reader", incomplete="no end"),
]


def test_every_run_under_every_rule_that_matches_it() -> None:
    found = judge_rules(RUNS, RULES)
    assert [(r.rule, r.verdict.run_id, r.status) for r in found.rulings] == [
        ("look-first", "b", "pass"),
        ("look-first", "a", "fail"),
        ("no-writes", "c", "fail"),  # nested, and a case of another suite: the policy holds all the same
        ("no-writes", "e", "excluded"),
    ]
    by_run = {r.verdict.run_id: r for r in found.rulings}
    failed = by_run["a"]
    assert (failed.severity, failed.owner, failed.verdict.owner) == ("critical", "pay", "pay")
    assert failed.verdict.failure == "premature_action"
    assert (failed.verdict.suite, failed.verdict.case_id) == ("shop", "look-first")
    assert (by_run["c"].owner, by_run["c"].verdict.owner) == (None, "safety")
    assert by_run["b"].verdict.owner is None
    assert (found.rules, found.runs, found.unmatched_runs, found.rules_without_run) == ("shop", 5, 1, ("nobody",))


@given(st.permutations(RUNS + RUNS[:2]))
def test_order_and_repeats_change_nothing(runs: list[Run]) -> None:
    assert judge_rules(runs, RULES) == judge_rules(RUNS, RULES)


class Crashing:
    name = "crashing"
    layer: Layer = "outcome"
    decides = True

    def evaluate(self, view: RunView) -> Sequence[Finding]:
        raise RecursionError("too deep")


def test_a_crash_is_a_record_of_its_rule_and_run() -> None:
    first, *rest = RULES.rules
    expect = replace(first.case.expect, checks=(Crashing(), *first.case.expect.checks))
    broken: RuleFile = replace(RULES, rules=(replace(first, case=replace(first.case, expect=expect)), *rest))
    found = judge_rules(RUNS, broken)
    crashed = {r.verdict.run_id: r.verdict for r in found.rulings if r.rule == "look-first"}
    record = crashed["a"].layers["outcome"]
    assert record.status == "needs_review"
    assert "the check crashing crashed: RecursionError: too deep" in record.explanation
    assert record.evidence["run"] == "a"
    assert record.evidence["at"].startswith("tests.judge.test_policies:")
    assert crashed["a"].layers["selection"].status == "fail"  # the other checks go on
    assert crashed["a"].failure == "harness_defect"
    assert [r.status for r in found.rulings if r.rule == "no-writes"] == [
        r.status for r in judge_rules(RUNS, RULES).rulings if r.rule == "no-writes"
    ]
