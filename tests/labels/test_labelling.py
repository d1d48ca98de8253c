"""Labels become decisions: what counts when sources differ, and what a label says of a run (R47)."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.judge.labelling import Labelling, consensus
from otel_toolselect.judge.panel import Panel
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.labels import PRECEDENCE, Label
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import Cell
from otel_toolselect.rules import parse_suite
from tests.builders import call, run

ACTIONS = ("search", "refund", "none", "ask_followup")


def label(*expected: str, by: str = "ann", source: Any = "person", at: int = 1, seen: str = "search") -> Label:
    return Label("r1", "t", source, by, expected, seen, at)


def judged(subject: Run, *labels: Label, policy: Any = None) -> list[Decision]:
    known = {} if policy is None else {"policy": policy}
    return Labelling(given=lambda ids: [x for x in labels if x.run_id in ids], **known).decisions([subject])


SEARCHED = run(call("search", ok=True), tools=("search", "refund"))

labels_on_r1 = st.lists(
    st.builds(
        Label, st.just("r1"), st.just("t"), st.sampled_from(["person", "judge"]), st.sampled_from(["ann", "raj", "m"]),
        st.lists(st.sampled_from(ACTIONS), max_size=3, unique=True).map(tuple), st.just("search"), st.integers(0, 9),
    ),
    max_size=6, unique_by=lambda x: (x.source, x.labeller),
)  # fmt: skip
attributes = st.lists(st.sampled_from(ACTIONS), max_size=2, unique=True).map(tuple)


@given(labels_on_r1, attributes, st.randoms())
def test_each_origin_once_and_exactly_one_counts(given_: list[Label], attribute: tuple[str, ...], random: Any) -> None:
    subject = run(call("search", ok=True), tools=("search", "refund"), expected=attribute)
    found = judged(subject, *given_)
    there = {x.source for x in given_} | ({"attribute"} if attribute else set())
    assert [d.origin for d in found] == [origin for origin in PRECEDENCE if origin in there]
    assert [d.counts for d in found] == [i == 0 for i in range(len(found))]
    assert all(d.suite == "labels" and d.rule == d.origin and d.run_id == "r1" for d in found)
    shuffled = list(given_)
    random.shuffle(shuffled)
    assert judged(subject, *shuffled) == found


@given(labels_on_r1)
def test_consensus_is_the_most_frequent_opinion_and_the_latest_of_equals(given_: list[Label]) -> None:
    found = consensus(given_)
    if not given_:
        assert found is None
        return
    counts = {x.says: sum(y.says == x.says for y in given_) for x in given_}
    assert found is not None
    assert counts[found.says] == max(counts.values())
    rivals = [x for x in given_ if counts[x.says] == counts[found.says]]
    assert (found.at_ns, found.labeller) == max((x.at_ns, x.labeller) for x in rivals)


def test_two_against_one_and_one_against_one() -> None:
    ann, raj, eva = (
        label("search", at=1),
        label("refund", by="raj", at=2),
        label("search", by="eva", at=0),
    )
    assert consensus([ann, raj]) == raj
    assert consensus([ann, raj, eva]) == ann


def test_a_label_gives_a_cell_as_a_case_does() -> None:
    (right,) = judged(SEARCHED, label("refund", "search"))
    assert (right.layers["selection"], right.cells) == ("pass", (Cell("search", "search"),))
    (wrong,) = judged(SEARCHED, label("refund"))
    assert (wrong.layers["selection"], wrong.cells, wrong.failure) == (
        "fail",
        (Cell("refund", "search"),),
        "intent_misread",
    )


def test_wrong_without_what_is_right_fails_and_has_no_cell() -> None:
    (found,) = judged(SEARCHED, label())
    assert (found.status, found.layers["selection"], found.cells) == ("fail", "fail", ())
    assert judged(run(call("refund", ok=True)), label()) == [], "it was said of another first action"


def test_labels_follow_the_run_as_it_changes() -> None:
    assert judged(SEARCHED, label("search"))[0].layers["selection"] == "pass"
    assert judged(run(call("refund", ok=True)), label("search"))[0].layers["selection"] == "fail"


def test_none_of_an_attribute_is_any_outcome_and_of_a_person_itself() -> None:
    asked = run(final="Which one?", expected=("none",))
    person, attribute = judged(asked, label("none", seen="ask_followup"))
    assert (person.layers["selection"], person.cells) == ("fail", (Cell("none", "ask_followup"),))
    assert (attribute.layers["selection"], attribute.cells) == ("pass", (Cell("none", "none"),))


def test_what_does_not_count_under_a_suite_does_not_count_under_a_label() -> None:
    (broken,) = judged(run(call("search", ok=False, infra=True, error="timeout")), label("search"))
    assert (broken.excluded, broken.cells) == ("infra", ())
    (gap,) = judged(SEARCHED, label("cancel"))
    assert gap.excluded == "catalog_gap"
    (vague,) = judged(run(final="hm", confidence=0.2), label("ask_followup", seen="none"))
    assert (vague.status, vague.cells) == ("needs_review", ())


def test_the_policy_says_what_is_metadata_and_what_is_an_alias() -> None:
    suite = parse_suite(
        "suite: s\npolicy: {tools: {list_tools: {effect: metadata}, search: {effect: read}}, aliases: {find: search}}\n"
        "cases: [{id: a, expect: {first: [search]}}]\n",
        path="s.yaml",
    )
    (found,) = judged(run(call("list_tools", ok=True), call("find", ok=True)), label("search"), policy=suite.policy)
    assert (found.first_action, found.layers["selection"]) == ("search", "pass")


def test_a_sub_agent_does_not_inherit_what_its_parent_is_expected_to_do() -> None:
    parent = run(call("delegate", ok=True), run_id="p", expected=("delegate",))
    same = run(call("search", ok=True), run_id="c", parent_run_id="p", expected=("delegate",))
    own = run(call("search", ok=True), run_id="d", parent_run_id="p", expected=("search",))
    assert [(d.run_id, d.status) for d in Labelling().decisions([own, same, parent])] == [("d", "pass"), ("p", "pass")]


def test_a_panel_judges_labels_beside_all_else() -> None:
    panel = Panel(labelling=Labelling(given=lambda ids: [label("refund")]))
    found = panel.judge([run(call("search", ok=True), expected=("search",))]).decisions
    assert [(d.suite, d.rule, d.counts) for d in found] == [
        ("", "", True), ("labels", "person", True), ("labels", "attribute", False),
    ]  # fmt: skip
    assert "labels" in panel.names
