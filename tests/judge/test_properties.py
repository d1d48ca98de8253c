"""What must hold for every input: order and repeats of runs change nothing, nothing makes up for a forbidden call."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from otel_toolselect.judge import judge, judge_run
from otel_toolselect.model.runs import Run
from otel_toolselect.rules import Suite, parse_suite
from tests.builders import Planned, call, run
from tests.rules.suites import POLICY

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
