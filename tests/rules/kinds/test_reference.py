"""`reference`: modes, pairing, order, distance, and which layer says what."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from otel_toolselect.judge import judge_run
from otel_toolselect.model.runs import Unknown
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.rules.alignment import align
from tests.builders import call, run
from tests.rules.suites import problems_in, suite_of, verdict

TOOLS = {"s": "search_orders", "p": "get_policy", "r": "issue_refund", "c": "cancel_order", "l": "list_tools"}


def judged(reference: str, observed: str, *, case: str = "") -> RunVerdict:
    return verdict(f"{{reference: {reference}}}", run(*(call(TOOLS[o]) for o in observed)), case=case)


def statuses(found: RunVerdict) -> tuple[str, str]:
    return found.layers["selection"].status, found.layers["sequencing"].status


CALLS = "calls: [search_orders, get_policy, issue_refund]"


@pytest.mark.parametrize(
    ("mode", "observed", "selection", "sequencing"),
    [
        ("exact", "spr", "pass", "pass"),
        ("exact", "slpr", "pass", "pass"),  # metadata is never compared
        ("exact", "psr", "pass", "fail"),
        ("exact", "sr", "fail", "fail"),
        ("exact", "spr" + "c", "fail", "fail"),
        ("exact", "spsr", "fail", "fail"),
        ("exact", "", "fail", "fail"),
        ("ordered", "spr", "pass", "pass"),
        ("ordered", "scpr", "pass", "pass"),
        ("ordered", "psr", "pass", "fail"),
        ("ordered", "pspr", "pass", "pass"),  # an early second look is an extra call, not a broken order
        ("ordered", "sr", "fail", "fail"),
        ("unordered", "rps", "pass", "n/a"),
        ("unordered", "rpsc", "fail", "n/a"),
        ("unordered", "rp", "fail", "n/a"),
        ("unordered", "rpp", "fail", "n/a"),
        ("superset", "crps", "pass", "n/a"),
        ("superset", "crp", "fail", "n/a"),
        ("subset", "rp", "pass", "n/a"),
        ("subset", "", "pass", "n/a"),
        ("subset", "rr", "fail", "n/a"),
        ("subset", "c", "fail", "n/a"),
    ],
)
def test_modes(mode: str, observed: str, selection: str, sequencing: str) -> None:
    assert statuses(judged(f"{{{CALLS}, mode: {mode}}}", observed)) == (selection, sequencing)


def test_a_reference_is_in_order_with_room_between_unless_it_says_otherwise() -> None:
    assert statuses(judged(f"{{{CALLS}}}", "scpr")) == ("pass", "pass")


def test_reordering_is_told_from_a_skipped_step() -> None:
    moved = judged(f"{{{CALLS}, mode: exact}}", "psr").layers["sequencing"]
    skipped = judged(f"{{{CALLS}, mode: exact}}", "sr").layers["sequencing"]
    assert (moved.evidence["reordered"], moved.evidence["skipped"], moved.evidence["distance"]) == (True, [], 2)
    assert moved.explanation.startswith("another order than the reference")
    assert (skipped.evidence["reordered"], skipped.evidence["skipped"], skipped.evidence["distance"]) == (
        False,
        ["get_policy"],
        1,
    )
    assert skipped.explanation == "skipped: get_policy"
    harmless = judged(f"{{{CALLS}, mode: unordered}}", "psr").layers["selection"]
    assert "in another order, which is free" in harmless.explanation


@pytest.mark.parametrize(
    ("mode", "most", "observed", "passes"),
    [
        ("exact", 1, "sr", True),
        ("exact", 1, "psr", False),
        ("exact", 2, "psr", True),
        ("exact", 1, "scr", True),  # one step replaced
        ("exact", 1, "s", False),
        ("ordered", 1, "csccr", True),  # what stands between is free
        ("unordered", 1, "rpsc", True),
        ("unordered", 1, "rpscc", False),
    ],
)
def test_max_distance(mode: str, most: int, observed: str, passes: bool) -> None:
    found = judged(f"{{{CALLS}, mode: {mode}, max_distance: {most}}}", observed)
    assert ("fail" not in statuses(found)) == passes


def test_two_expected_calls_need_two_observed_ones() -> None:
    found = judged("{calls: [search_orders, search_orders], mode: unordered}", "s").layers["selection"]
    assert (found.status, found.evidence["missing_required"]) == ("fail", ["search_orders"])
    assert (found.evidence["matched"], found.evidence["precision"], found.evidence["recall"]) == (1, 1.0, 0.5)


def test_nothing_expected_and_nothing_called_is_a_pass_without_figures() -> None:
    found = judged("{calls: [], mode: exact}", "")
    assert statuses(found) == ("pass", "n/a")
    evidence = found.layers["selection"].evidence
    assert (evidence["matched"], evidence["precision"], evidence["recall"]) == (0, None, None)


def test_the_assignment_is_not_greedy() -> None:
    # the first expectation fits both calls, the second only the first call
    reference = "{mode: unordered, calls: [{tool: book, args: {n: {range: [1, 9]}}}, {tool: book, args: {n: 1}}]}"
    found = verdict(f"{{reference: {reference}}}", run(call("book", {"n": 1}), call("book", {"n": 5})))
    assert found.layers["arguments"].status == "pass"
    assert [s.passed for s in found.call_scores] == [True, True]


def test_wrong_arguments_are_no_skipped_step() -> None:
    reference = "{mode: exact, calls: [{tool: book, args: {n: 1}}, {tool: book, args: {n: 2}}]}"
    found = verdict(f"{{reference: {reference}}}", run(call("book", {"n": 1}), call("book", {"n": 3})))
    assert statuses(found) == ("pass", "pass")
    assert found.layers["arguments"].explanation == "book: n expected 2, got 3"
    assert [s.passed for s in found.call_scores] == [True, False]
    assert found.layers["selection"].evidence["matched"] == 1


def test_equal_calls_are_paired_in_order() -> None:
    reference = "{mode: exact, calls: [{tool: book, args: {n: 1}}, search_orders, book]}"
    observed = run(call("book", {"n": 1}), call("search_orders"), call("book", {"n": 1}))
    assert statuses(verdict(f"{{reference: {reference}}}", observed)) == ("pass", "pass")


def test_several_references_are_judged_each_on_its_own() -> None:
    both = "{reference: [{calls: [search_orders, get_policy]}, {calls: [get_policy], mode: subset}]}"
    found = verdict(both, run(call("search_orders"), call("get_policy")))
    assert (found.layers["selection"].status, found.layers["sequencing"].status) == ("fail", "pass")


def test_unknown_arguments_are_for_review() -> None:
    found = verdict(
        "{reference: {calls: [{tool: book, args: {n: 1}}]}}", run(call("book", Unknown("the span does not say")))
    )
    assert (found.layers["selection"].status, found.layers["arguments"].status) == ("pass", "needs_review")
    assert found.call_scores == ()


@pytest.mark.parametrize(
    ("among", "kept"),
    [
        ('"effect:write ok"', ["issue_refund"]),
        ('"effect:write"', ["issue_refund", "cancel_order"]),
        ("[search_orders, effect:write ok]", ["search_orders", "issue_refund"]),
        ("list_tools", ["list_tools"]),
    ],
)
def test_among(among: str, kept: list[str]) -> None:
    observed = run(
        call("list_tools", ok=True),
        call("search_orders", ok=True),
        call("issue_refund", ok=True),
        call("cancel_order", ok=False),
    )
    found = verdict(f"{{reference: {{calls: [], mode: unordered, among: {among}}}}}", observed)
    assert found.layers["selection"].evidence["observed_calls"] == kept


def test_a_success_that_nobody_saw_is_for_review() -> None:
    reference = '{calls: [issue_refund], mode: unordered, among: "effect:write ok"}'
    found = verdict(f"{{reference: {reference}}}", run(call("issue_refund"))).layers["selection"]
    assert (found.status, found.evidence["unknown_outcome"]) == ("needs_review", ["issue_refund"])


def test_a_forbidden_write_is_premature_and_a_missing_step_is_not() -> None:
    assert judged("{calls: [search_orders], mode: exact}", "sr").failure == "premature_action"
    assert judged(f"{{{CALLS}, mode: exact}}", "sp").failure == "intent_misread"


def test_the_class_takes_its_first_action_from_the_reference() -> None:
    found = verdict("{class: required, reference: {calls: [get_policy, search_orders]}}", run(call("search_orders")))
    assert found.layers["selection"].status == "fail"
    assert [(c.expected, c.observed) for c in found.cells] == [("get_policy", "search_orders")]


def test_steps_that_may_still_arrive_exclude_an_incomplete_run() -> None:
    broken = run(call("search_orders"), incomplete="the root span is missing")
    assert verdict("{reference: {calls: [search_orders, get_policy]}}", broken).excluded == "incomplete"


@pytest.mark.parametrize(
    ("profile", "args", "status"),
    [
        ("json", {"n": 1.0, "extra": 1}, "pass"),
        ("exact", {"n": 1.0}, "pass"),
        ("exact", {"n": 1, "extra": 1}, "fail"),
        ("bfcl", {"n": 1}, "pass"),
        ("bfcl", {"n": 1.0}, "fail"),
        ("bfcl", {"n": 1, "extra": 1}, "fail"),
    ],
)
def test_matching_by_name(profile: str, args: dict[str, Any], status: str) -> None:
    calls = "calls: [{tool: book, args: {n: 1}}]"
    for expect, case in ((f"{{{calls}, matching: {profile}}}", ""), (f"{{{calls}}}", f"matching: {profile}")):
        found = verdict(f"{{reference: {expect}}}", run(call("book", args)), case=case)
        assert found.layers["arguments"].status == status


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("{reference: {}}", "reference has no calls"),
        ("{reference: [search_orders]}", "reference must be a mapping"),
        ("{reference: []}", "reference is an empty list"),
        ("{reference: {calls: search_orders}}", "reference.calls must be a list"),
        ("{reference: {calls: [serch_orders]}}", "did you mean 'search_orders'?"),
        ("{reference: {calls: [{args: {}}]}}", "names no tool"),
        ("{reference: {calls: [{tool: book, args: 5}]}}", "args must be a mapping"),
        ("{reference: {calls: [], mode: sorted}}", "mode cannot be 'sorted'"),
        ("{reference: {calls: [], among: effect:write ok now}}", "among cannot read"),
        ("{reference: {calls: [], among: effect:writes}}", "unknown effect 'writes'"),
        ("{reference: {calls: [], among: []}}", "nothing would be compared"),
        ("{reference: {calls: [], max_distance: -1}}", "a whole number from 0"),
        ("{reference: {calls: [], matching: bfkl}}", "did you mean 'bfcl'?"),
    ],
)
def test_mistakes(expect: str, said: str) -> None:
    assert any(said in p for p in problems_in(expect)), problems_in(expect)


_STEPS = st.lists(st.sampled_from("abc"), max_size=6)


@given(_STEPS, _STEPS, st.randoms())
def test_pairs_are_a_multiset_intersection_in_any_order(expected: list[str], observed: list[str], rng: Any) -> None:
    found = align(expected, observed, lambda e, o: True)
    common = sum(min(expected.count(t), observed.count(t)) for t in "abc")
    assert len(found.pairs) == common == len(set(found.pairs.values()))
    assert common <= min(len(expected), len(observed))
    shuffled = rng.sample(observed, len(observed))
    assert len(align(expected, shuffled, lambda e, o: True).pairs) == common


@given(_STEPS)
def test_a_sequence_is_its_own_reference(steps: list[str]) -> None:
    found = align(steps, steps, lambda e, o: True)
    assert found.pairs == {i: i for i in range(len(steps))}
    assert found.in_order


@settings(deadline=None)  # each example loads a suite
@given(_STEPS, _STEPS, st.sampled_from(["unordered", "subset", "superset"]), st.randoms())
def test_order_is_free_where_the_mode_says_so(expected: list[str], observed: list[str], mode: str, rng: Any) -> None:
    names = {"a": "search_orders", "b": "get_policy", "c": "issue_refund"}
    reference = f"{{calls: [{', '.join(names[e] for e in expected)}], mode: {mode}}}"
    suite = suite_of(f"{{reference: {reference}}}")
    runs = (run(*(call(names[o]) for o in steps)) for steps in (observed, rng.sample(observed, len(observed))))
    one, other = (judge_run(r, suite.cases[0], suite).layers["selection"] for r in runs)
    assert one.status == other.status
    assert one.evidence["matched"] == other.evidence["matched"] <= min(len(expected), len(observed))
    assert one.evidence["distance"] == other.evidence["distance"]
