"""`suite lint`: each piece of advice appears when it should, and goes when it is heeded."""

from __future__ import annotations

import pytest

from otel_toolselect.rules import parse_suite
from otel_toolselect.suites.lint import Linted, lint

HEAD = "suite: s\npolicy: {tools: {a: {effect: read}, b: {effect: write}}}\ncases:\n"


def linted(*cases: str) -> Linted:
    return lint(parse_suite(HEAD + "".join(f"  - {{{c}}}\n" for c in cases), path="s.yaml"))


def many(n: int, keys: str) -> list[str]:
    return [f"id: x{i}, prompt: p{i}, rationale: r, tools: [a, b], {keys}" for i in range(n)]


def messages(found: Linted, rule: str) -> list[str]:
    return [f"{a.level}: {a.message}" for a in found.advice if a.rule == rule]


CALL, NONE = "expect: {first: [a]}", "expect: {class: none}"


def test_size_and_flip() -> None:
    small = linted(*many(25, CALL))
    assert messages(small, "size") == ["warning: 25 cases; 60 to 120 tell a regression from noise for one agent"]
    assert messages(small, "flip") == ["note: one flip moves accuracy by 4 points (25 cases)"]
    assert messages(linted(*many(60, CALL)), "size") == []
    assert messages(linted(*many(121, CALL)), "size")[0].startswith("note: 121 cases")


def test_near_misses_and_negatives_are_counted() -> None:
    cases = many(40, CALL)[:21] + [c.replace("id: x", "id: y") for c in many(19, NONE)]
    assert messages(linted(*cases), "guard")[0].startswith("warning: 19 of 40 cases (48%)")
    near = "id: n, prompt: n, tags: {overlap: high}, " + CALL
    assert messages(linted(*cases, near), "guard")[0].startswith("note: 20 of 41")


def test_two_edges_for_each_happy_case() -> None:
    happy, edge = f"id: h, {CALL}", [f"id: e1, {NONE}", f"id: e2, tags: {{kind: edge}}, {CALL}"]
    assert messages(linted(happy, edge[0]), "edges") == [
        "warning: 1 edge cases for 1 happy ones; two for each happy case would need 1 more"
    ]
    assert messages(linted(happy, *edge), "edges") == ["note: 2 edge cases for 1 happy ones"]


def test_must_haves_go_one_by_one() -> None:
    assert len(messages(linted(f"id: a, {CALL}"), "must-have")) == 5
    all_of_them = [
        f"id: a, {NONE}",
        "id: b, expect: {class: clarify}",
        f"id: c, tags: {{overlap: high, availability: unavailable}}, {CALL}",
        "id: d, expect: {class: multi_step}",
    ]
    assert messages(linted(*all_of_them), "must-have") == []


def test_duplicates_rationales_and_pins() -> None:
    found = linted(f"id: a, prompt: Hi  there, {CALL}", f"id: b, prompt: hi there, rationale: r, tools: [a], {CALL}")
    by_rule = {a.rule: a.cases for a in found.advice}
    assert (by_rule["duplicate"], by_rule["rationale"], by_rule["pinned"]) == (("a", "b"), ("a",), ("a",))


def test_coverage_over_the_axes() -> None:
    found = linted(f"id: a, tags: {{overlap: high}}, {CALL}", f"id: b, {CALL}")
    assert found.coverage["overlap"] == {"(untagged)": 1, "high": 1}
    assert "explicitness" in messages(found, "coverage")[0]
    assert "overlap" not in messages(found, "coverage")[0]


def labelled(name: str, one: str, two: str, more: str = "") -> str:
    return f"id: {name}, {more}labels: [{{by: ann, first: [{one}]}}, {{by: raj, first: [{two}]}}], {CALL}"


def test_labellers() -> None:
    found = linted(labelled("a", "a", "a"), labelled("b", "b", "b"), labelled("c", "a", "b"), labelled("d", "b", "b"))
    (pair,) = found.agreement
    assert (pair.n, pair.same, pair.kappa) == (4, 3, pytest.approx(0.5))
    assert messages(found, "kappa") == ["warning: ann and raj agree on 3 of 4 cases, kappa 0.50"]
    assert [a.cases for a in found.advice if a.rule == "ambiguous"] == [("c",)]
    moved = linted(labelled("c", "a", "b", "tags: {bucket: ambiguous}, "))
    assert messages(moved, "ambiguous") == []
    settled = linted(labelled("c", "a", "a", "tags: {bucket: ambiguous}, "))
    assert messages(settled, "ambiguous")[0].startswith("note: labellers agree now")


def test_risky_cases_have_two_labellers() -> None:
    found = linted(
        f"id: a, risk: high, labels: [{{by: ann, first: [a]}}], {CALL}", labelled("b", "a", "a", "risk: high, ")
    )
    assert [a.cases for a in found.advice if a.rule == "reviewers"] == [("a",)]


def test_a_group_needs_two_variants() -> None:
    found = linted(f"id: a, group: {{id: g, relation: same}}, {CALL}")
    assert [a.cases for a in found.advice if a.rule == "group"] == [("a",)]


def test_a_heeded_suite_has_no_warning() -> None:
    cases = many(40, "expect: {class: none}")
    cases += [c.replace("id: x", "id: y").replace("prompt: p", "prompt: q") for c in many(20, CALL)]
    extra = [
        "expect: {class: clarify}",
        "tags: {overlap: high, availability: unavailable}, " + CALL,
        "expect: {class: multi_step}",
    ]
    cases += [f"id: z{i}, prompt: z{i}, rationale: r, tools: [a, b], {e}" for i, e in enumerate(extra)]
    found = linted(*cases)
    assert not found.warned, [a for a in found.advice if a.level == "warning"]
    assert found.plain()["cases"] == 63
