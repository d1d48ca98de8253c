"""What judging works out once and shares says what each run, policy and rule would say by itself."""

from __future__ import annotations

from dataclasses import fields, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_toolselect.judge import layers
from otel_toolselect.judge.decisions import decision_of, traffic_of
from otel_toolselect.judge.judging import judge_run, judge_view
from otel_toolselect.judge.panel import Panel
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import TENANT, Run, Unknown
from otel_toolselect.model.values import canonical
from otel_toolselect.model.verdicts import CallScore, Cell, Finding, RunVerdict
from otel_toolselect.rules import Policy, RunView
from otel_toolselect.rules.loader import parse_suite
from otel_toolselect.rules.repeats import redundant
from otel_toolselect.rules.rulefiles import RuleFile, parse_rules
from tests.builders import call, run
from tests.judge.test_properties import ALLOWING, runs
from tests.rules.suites import POLICY

_CASES = """
cases:
  - {id: few, expect: {budget: {calls: 2, redundant: 0}}}
  - {id: question, match: {request: "1"}, expect: {never: [ask_followup]}}
  - {id: sure, expect: {cel: ["!calls.exists(c, c.name == 'book' && c.ok == false)"]}}
  - {id: whole, checks: [schema, ghost, execution]}
  - {id: again, expect: {recovery: {max_same_failure: 1}}, owner: somebody}
"""
_NAMED = """
  - {id: order, expect: {never: ["get_policy before search_orders ok", book]}}
  - {id: places, expect: {grounded: [search_orders.n], order: [{first: search_orders, then: book}]}}
"""


def file(name: str, policy: str, named: str = "") -> RuleFile:
    return parse_rules(f"rules: {name}\npolicy: {policy}{_CASES.rstrip()}{named}", path=f"{name}.yaml")


FILES = (
    file("strangers", "{tools: {other: {effect: read}}}"),
    file("more-strangers", "{tools: {another: {effect: write}}}"),
    file(
        "readers", "{tools: {search_orders: {effect: read}, book: {effect: read}, get_policy: {effect: read}}}", _NAMED
    ),
    file(
        "aliases",
        "{tools: {search_orders: {effect: read}}, aliases: {find_orders: search_orders, book: search_orders}}",
    ),
    file("excusing", "{tools: {other: {effect: read}}, infra_errors: [timeout]}"),
    file("servers", "{servers: {web: [book, search_orders], shop: [book]}}"),
)


@settings(deadline=None)
@given(st.lists(runs(), max_size=4, unique_by=lambda r: r.run_id))
def test_suites_and_files_together_say_what_each_says_alone(given_runs: list[Run]) -> None:
    together = Panel((ALLOWING,), FILES).expected(given_runs)
    alone = [Panel((ALLOWING,)).expected(given_runs), *(Panel(rules=(f,)).expected(given_runs) for f in FILES)]
    assert together.verdicts == alone[0].verdicts
    expected = [d for part in alone for d in part.decisions if d.suite]
    assert [d for d in together.decisions if d.suite] == expected
    assert [d for d in together.decisions if not d.suite] == [d for d in alone[0].decisions if not d.suite]


@settings(deadline=None)
@given(runs())
def test_traffic_is_a_decision_under_an_empty_policy(given_run: Run) -> None:
    verdict = RunVerdict(
        run_id=given_run.run_id,
        trace_id=given_run.trace_id,
        suite="",
        case_id=given_run.case_id or "",
        first_action=given_run.first_action,
        observed_class=given_run.observed_class,
        layers={},
        excluded="incomplete" if given_run.incomplete else None,
        start_ns=given_run.start_ns,
    )
    assert traffic_of(given_run) == decision_of(verdict, RunView(given_run, Policy()))


@settings(deadline=None)
@given(runs())
def test_layers_that_were_folded_before_are_those_of_these_findings(given_run: Run) -> None:
    for case in ALLOWING.cases:
        first = judge_run(given_run, case, ALLOWING)
        layers._folded.clear()
        layers._applying.clear()
        layers._made.clear()
        view = RunView(given_run, ALLOWING.policy)
        again, once_more = judge_view(view, case, ALLOWING), judge_view(view, case, ALLOWING)
        assert first == again == once_more
        assert layers.applying(once_more.layers) == layers._words(once_more.layers)


def test_layers_of_a_few_findings_are_no_other_ones() -> None:
    """Findings that are equal but for one's evidence, and the same in another order."""
    a = Finding("a", "selection", "pass", "said", {"x": 1})
    b = Finding("b", "selection", "pass", "said", {"x": 2})
    other = replace(b, status="fail")
    for findings in ([a, b], [b, a], [a], [a, b], [a, other], [], [a, other]):
        assert layers.fold(findings) == layers._fold(findings)


# --- repeats

few_calls = st.builds(
    call,
    st.sampled_from(["search_orders", "find_orders", "get_policy", "book"]),
    st.sampled_from([{}, {"n": 1}, {"n": 1.0}, {"n": True}, {"n": "1"}, Unknown("off")]),
    ok=st.sampled_from([True, False, None]),
)


def plainly_redundant(view: RunView) -> list[int]:
    """The definition in the module's text, call by call."""
    found: list[int] = []
    for place, later in enumerate(view.calls):
        for before in reversed(range(place)):
            earlier = view.calls[before]
            known = not isinstance(later.args, Unknown) and not isinstance(earlier.args, Unknown)
            if known and later.name == earlier.name and canonical(later.args) == canonical(earlier.args):
                between = view.calls[before + 1 : place]
                if earlier.ok is not False and not any(c.mutating for c in between):
                    found.append(place)
                break
    return found


@settings(max_examples=300, deadline=None)
@given(st.lists(few_calls, max_size=9))
def test_redundant_calls_are_those_of_the_definition(planned: list[object]) -> None:
    given_run = run(*planned)  # type: ignore[arg-type]
    for policy in (Policy(), ALLOWING.policy, FILES[3].policy):
        view = RunView(given_run, policy)
        assert redundant(view.seen) == plainly_redundant(view)


# --- by place


def test_each_field_of_a_decision_is_filled_from_its_own() -> None:
    """Decisions are made by place; here each value is told from every other."""
    given_run = replace(
        run(call("book", {"n": 1}, ok=False), call("book", {"n": 1}, ok=False), call("mystery"), tools=["book"]),
        service="service", agent="agent", provider="provider", model="model", prompt_version="prompt",
        catalog_id="catalog", label="label", duration_ns=11, input_tokens=12, output_tokens=13, cost_usd=14.5,
        attributes={TENANT: "tenant"},
    )  # fmt: skip
    verdict = RunVerdict(
        run_id="run", trace_id="trace", suite="suite", case_id="case", first_action="first", observed_class="class",
        layers=layers.fold([Finding("a", "outcome", "fail", "said", {"forbidden_observed": ["book"]})]),
        risk="risk", cells=(Cell("expected", "observed"),), call_scores=(CallScore(0, "book", True),),
        findings=(Finding("a", "outcome", "fail", "said", {"forbidden_observed": ["book"]}),),
        failure="failure", owner="owner", policy_version="policy", start_ns=15,
    )  # fmt: skip
    found = decision_of(verdict, RunView(given_run, Policy()), rule="rule", severity="severity", origin="rule")
    expected = Decision(
        suite="suite", rule="rule", run_id="run", trace_id="trace", case_id="case", start_ns=15, status="fail",
        first_action="first", observed_class="class", cells=(Cell("expected", "observed"),), layers={"outcome": "fail"},
        excluded=None, failure="failure", owner="owner", severity="severity", risk="risk", origin="rule",
        service="service", agent="agent", provider="provider", model="model", prompt_version="prompt",
        catalog_id="catalog", tenant="tenant", label="label", policy_version="policy",
        calls=(("book", False), ("book", False), ("mystery", False)), scored=(("book", True),), ghosts=("mystery",),
        forbidden=("book", "book"), unauthorized=("book", "book"), failed_calls=2, loops=1, duration_ns=11,
        input_tokens=12, output_tokens=13, cost_usd=14.5,
    )  # fmt: skip
    assert found == expected
    excluded = decision_of(replace(verdict, excluded="infra"), RunView(given_run, Policy()))
    assert (excluded.status, excluded.excluded) == ("excluded", "infra")


def test_each_field_of_a_verdict_is_filled_from_its_own() -> None:
    suite = parse_suite(
        f"{POLICY}  - {{id: c, risk: risk, tags: {{a: b}}, expect: {{first: [book]}}}}\n", path="s.yaml"
    )
    given_run = replace(
        run(call("book")),
        run_id="run", trace_id="trace", parent_run_id="parent", attempt=3, label="label", request="request",
        model="model", prompt_version="prompt", catalog_id="catalog", start_ns=15,
    )  # fmt: skip
    found = judge_run(given_run, suite.cases[0], suite)
    made = {f.name: getattr(found, f.name) for f in fields(RunVerdict) if f.name not in ("layers", "findings")}
    assert made == {
        "run_id": "run", "trace_id": "trace", "suite": "shop", "case_id": "c", "first_action": "book",
        "observed_class": "call", "parent_run_id": "parent", "attempt": 3, "label": "label", "request": "request",
        "risk": "risk", "tags": {"a": "b"}, "cells": (Cell("book", "book"),), "call_scores": (), "excluded": None,
        "failure": None, "owner": None, "policy_version": suite.policy.version, "model": "model",
        "prompt_version": "prompt", "catalog_id": "catalog", "start_ns": 15,
    }  # fmt: skip
    failed = judge_run(replace(given_run, events=()), suite.cases[0], suite)
    assert (failed.failure, failed.owner, failed.layers["selection"].status) == (
        "intent_misread",
        "agent/prompt",
        "fail",
    )
