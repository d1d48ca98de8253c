"""What must hold for every input: order and repeats of runs change nothing, nothing makes up for a forbidden call."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_toolselect.judge import judge, judge_run
from otel_toolselect.model.runs import Run, Unknown
from otel_toolselect.rules import Suite, parse_suite
from tests.builders import Planned, call, run
from tests.rules.suites import POLICY, verdict

TOOLS = ("search_orders", "find_orders", "get_policy", "issue_refund", "book", "list_tools", "mystery", "ghostly")
EXPECTS = (
    "{first: [search_orders]}",
    "{class: none}",
    "{class: none, first: [none, effect:read]}",
    "{class: refuse}",
    "{class: clarify, clarify: {about: [order]}}",
    "{class: optional, first: [get_policy]}",
    "{class: optional}",
    "{class: multi_step, eventually: [book], order: [{first: search_orders, then: book, needs: ok}]}",
    "{first: [effect:read], args: {search_orders: {n: {range: [0, 1]}}}}",
    "{turns: [{at: 2, first: [search_orders, none]}]}",
    "{turns: [{at: 2, never: [book], eventually: [search_orders], args: {search_orders: {n: 1}}}]}",
    "{grounded: [search_orders], stale: [search_orders.n], budget: {calls: 3, redundant: 0, tokens: 9}}",
    "{recovery: {max_same_failure: 1, max_failures: 2}, answer: {contains: [done], cites_results: true}}",
    "{only_if: [{when: {tool: search_orders, path: $.n, equals: 1}, never: [book], eventually: [get_policy]}]}",
    "{args: {book: {n: {from_result: search_orders, path: $.n}}, get_policy: {n: {money: 1 EUR, optional: true}}}}",
    "{reference: {mode: unordered, calls: [{tool: search_orders, args: {n: 1}}, search_orders, book]}}",
    "{cel: ['calls.all(c, c.ok != false)', {expr: size(calls) < 3, layer: efficiency}]}",
)
FORBIDDING = tuple(e[:-1] + ', never: [cancel_order, "issue_refund before search_orders ok"]}' for e in EXPECTS)


def suite(expects: tuple[str, ...]) -> Suite:
    cases = "".join(f"  - {{id: c{i}, prompt: request {i}, expect: {e}}}\n" for i, e in enumerate(expects))
    return parse_suite(POLICY + cases, path="s.yaml")


ALLOWING, STRICT = suite(EXPECTS), suite(FORBIDDING)

calls = st.builds(
    call,
    st.sampled_from(TOOLS),
    st.fixed_dictionaries({}, optional={"n": st.sampled_from([0, 1, 2, None, "1"])}),
    ok=st.sampled_from([True, False, None]),
    error=st.sampled_from([None, "timeout", "declined"]),
    turn=st.sampled_from([None, 1, 2, 3]),
    value=st.sampled_from([None, {"n": 1}, {"n": 2}, "Done 25", Unknown("off")]),
)


@st.composite
def runs(draw: st.DrawFn) -> Run:
    number = draw(st.integers(0, len(EXPECTS)))
    return run(
        *draw(st.lists(calls, max_size=5)),
        final=draw(st.sampled_from([None, "", "Done.", "Which order?"])),
        confidence=draw(st.sampled_from([0.1, 0.9])),
        run_id=draw(st.sampled_from("abcdefgh")),
        case_id=draw(st.sampled_from([None, f"c{number}", "c0"])),
        request=f"request {number}",
        history=draw(st.sampled_from([(), ("n is 2",)])),
        input_tokens=draw(st.sampled_from([None, 5, 50])),
        attempt=draw(st.sampled_from([None, 1, 2])),
        parent_run_id=draw(st.sampled_from([None, None, None, "a"])),
        tools=draw(st.sampled_from([None, ["search_orders", "book"], list(TOOLS[:-1])])),
        incomplete=draw(st.sampled_from([None, None, "no end"])),
    )


@given(st.lists(runs(), max_size=12).flatmap(lambda rs: st.tuples(st.just(rs), st.permutations(rs))))
def test_order_of_arrival_changes_nothing(pair: tuple[list[Run], list[Run]]) -> None:
    assert judge(pair[0], ALLOWING) == judge(pair[1], ALLOWING)


@given(st.lists(runs(), max_size=12))
def test_a_run_that_comes_twice_counts_once(given_runs: list[Run]) -> None:
    unique = list({r.run_id: r for r in given_runs}.values())
    assert judge(unique, ALLOWING) == judge([*unique, *unique[::-1]], ALLOWING)


@given(st.lists(calls, max_size=5), st.integers(0, 5), st.integers(0, len(EXPECTS) - 1), runs())
@settings(max_examples=300)
def test_a_forbidden_call_never_turns_a_fail_into_a_pass(
    planned: list[Planned], at: int, number: int, frame: Run
) -> None:
    def judged(*some: Planned) -> str:
        given_run = run(*some, final=frame.final_text, confidence=frame.no_call.confidence, incomplete=frame.incomplete)
        return judge_run(given_run, STRICT.cases[number], STRICT).layers["selection"].status

    worse = judged(*planned[:at], call("cancel_order", ok=True), *planned[at:])
    assert worse == "fail"


@given(runs())
def test_every_verdict_explains_itself(given_run: Run) -> None:
    for case in (*ALLOWING.cases, *STRICT.cases):
        found = judge_run(given_run, case, STRICT)
        assert all(v.explanation for v in found.layers.values())
        assert len(found.cells) <= 2
        assert (found.failure is None) == (found.owner is None)
        right = [c for c in found.cells if c.expected == c.observed]
        if found.layers["selection"].status == "pass" and found.cells:
            assert right == list(found.cells)


# --- unordered things, multisets

cities = st.lists(st.sampled_from(["Oslo", "Rome", "any"]), max_size=4)


def reference(names: list[str], mode: str) -> str:
    calls = ", ".join("book" if n == "any" else f"{{tool: book, args: {{city: {n}}}}}" for n in names)
    return f"{{reference: {{mode: {mode}, calls: [{calls}]}}}}"


def visits(names: list[str]) -> Run:
    return run(*(call("book", {"city": n}, turn=1) for n in names))


@settings(deadline=None)
@given(cities, cities, st.sampled_from(["unordered", "superset", "subset"]), st.randoms())
def test_permuting_unordered_calls_changes_nothing(
    expected: list[str], observed: list[str], mode: str, random: Random
) -> None:
    shuffled, moved = random.sample(expected, len(expected)), random.sample(observed, len(observed))
    one = judged(reference(expected, mode), visits(observed))
    assert one == judged(reference(shuffled, mode), visits(observed))
    assert one == judged(reference(expected, mode), visits(moved))


@settings(deadline=None)
@given(cities, cities, st.sampled_from(["exact", "ordered", "unordered", "superset", "subset"]))
def test_no_more_is_matched_than_there_is(expected: list[str], observed: list[str], mode: str) -> None:
    layers = verdict(reference(expected, mode), visits(observed)).layers
    evidence = layers["selection"].evidence
    assert evidence["matched"] <= min(len(expected), len(observed))
    assert evidence["matched"] <= evidence["matched_tools"] <= min(len(expected), len(observed))
    assert all(evidence[ratio] is None or evidence[ratio] <= 1 for ratio in ("precision", "recall"))


@settings(deadline=None)
@given(st.permutations(["search_orders", "book", "get_policy"]), st.lists(calls, max_size=5))
def test_the_order_of_what_is_listed_changes_nothing(names: list[str], planned: list[Planned]) -> None:
    given_run = run(*planned)
    for form in ("{{eventually: [{0}, {1}, {2}]}}", "{{never: [{0}, {1}, {2}]}}", "{{grounded: [{0}, {1}, {2}]}}"):
        one = judged(form.format(*names), given_run)
        assert one == judged(form.format(*sorted(names)), given_run)


@settings(deadline=None)
@given(st.lists(st.sampled_from([1, 2, "x", None]), max_size=5), st.randoms())
def test_the_order_of_a_set_changes_nothing(values: list[Any], random: Random) -> None:
    expect = "{args: {book: {n: {set: [1, 2, {any: true}]}}}}"
    moved = random.sample(values, len(values))
    assert judged(expect, run(call("book", {"n": values}))) == judged(expect, run(call("book", {"n": moved})))


@settings(deadline=None)
@given(st.lists(calls, max_size=6))
def test_redundancy_and_failures_are_counted_within_the_calls(planned: list[Planned]) -> None:
    found = verdict("{budget: {redundant: 0}, recovery: {max_same_failure: 1}}", run(*planned))
    (seen,) = [f.evidence for f in found.findings if f.check == "redundancy"] or [{"redundant": 0, "calls": 0}]
    assert 0 <= seen["redundant"] <= max(0, seen["calls"] - 1)
    assert seen["calls"] == len(planned)


def judged(expect: str, given_run: Run) -> dict[str, str]:
    return {layer: found.status for layer, found in verdict(expect, given_run).layers.items()}
