"""The baseline file: two people, the same bytes, read back as written, no hand-edited sums (R42; bug 33)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.errors import InputError, SuiteError, TooFewError, UsageError
from otel_toolselect.gates import accept, check, diff, dump_baseline, load_baseline
from otel_toolselect.gates._yamltext import flow
from otel_toolselect.gates.baselines import parse_baseline
from otel_toolselect.gates.policy import Policy, defaults, read_policy
from otel_toolselect.gates.policy import known_conditions as known
from otel_toolselect.model.gating import Baseline
from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.rules.documents import parse_document
from otel_toolselect.rules.plain import read_plain
from tests.verdicts import bug_33, repeated, report_of, verdict


def accepted(*runs: RunVerdict) -> Baseline:
    return accept(report_of(*runs), by="ann", reviewer="raj", on="2026-11-30")


def test_the_file_as_a_person_reads_it() -> None:
    text = dump_baseline(accepted(*bug_33(), verdict("ask", "ask_followup", clarified=True, risk="high")))
    for line in (
        "schema: toolselect.baseline/1",
        "  by: ann",
        "  reviewer: raj",
        "  model: [m-1]",
        "  judged: 29",
        "  infra: 2",
        "  accuracy: {passed: 20, of: 29, rate: 0.689655}",
        "  rate: 0.333333",
        "  flipping: [c3, c6]",
        "  search: {passed: 10, of: 18, rate: 0.555556}",
        "  - [none, search, 1]",
        "  - [search, ask_followup, 5]",
        "  - [search, refund, 3]",
        "  high: {passed: 1, of: 1, rate: 1.0}",
    ):
        assert f"\n{line}\n" in text
    assert "  c5: {passed: 3, of: 3, saw: [[search, search, 3]], request: " in text


def test_it_reads_back_as_it_was_and_writes_the_same_bytes() -> None:
    base = accepted(*bug_33(), verdict("ask", "ask_followup", clarified=False, risk="high"))
    text = dump_baseline(base)
    again = parse_baseline(text, "b.yaml")
    assert dump_baseline(again) == text
    assert again.cases == base.cases
    assert (again.cells, again.recall, again.identities) == (base.cells, base.recall, base.identities)


@given(st.text())
def test_any_text_reads_back(text: str) -> None:
    assert read_plain(f"x: {flow([text, {text: text}])}", path="x.yaml") == {"x": [text, {text: text}]}


@given(st.lists(st.tuples(st.text(min_size=1, max_size=6), st.text(min_size=1, max_size=6)), min_size=1, max_size=6))
def test_any_names_survive_the_file(pairs: list[tuple[str, str]]) -> None:
    runs = [verdict(f"case {i}", expected, got) for i, (expected, got) in enumerate(pairs)]
    text = dump_baseline(accepted(*runs))
    assert dump_baseline(parse_baseline(text, "b.yaml")) == text


@pytest.mark.parametrize(
    ("by", "reviewer", "message"),
    [
        ("ann", None, "second reviewer"),
        ("ann", " ", "second reviewer"),
        (None, "raj", "--by"),
        ("ann", "ann", "another person"),
        ("ann", " Ann ", "another person"),
    ],
)
def test_two_people_are_needed(by: str | None, reviewer: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        accept(report_of(verdict("a", "find")), by=by, reviewer=reviewer, on="2026-11-30")


def test_nothing_judged_and_mixed_labels_are_refused() -> None:
    with pytest.raises(TooFewError):
        accepted(verdict("a", "find", excluded="infra"))
    with pytest.raises(UsageError, match="mixes the labels new, old"):
        accepted(verdict("a", "find", label="new"), verdict("a", "find", label="old"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("passed: 19, of: 28", "passed: 27, of: 28", "figures.accuracy and cases do not agree"),
        ("  - [none, search, 1]\n", "", "cells and cases do not agree"),
        ("  refund: {passed: 5, of: 5", "  refund: {passed: 4, of: 5", "recall and cases do not agree"),
        ("reviewer: raj", "reviewer: ann", "same person"),
        ("reviewer: raj\n", "reviewr: raj\n", "did you mean 'reviewer'"),
        ("schema: toolselect.baseline/1", "schema: other", "not a baseline"),
        ("[search, refund, 3]", "[search, refund, -3]", "whole number"),
        ("[search, refund, 3]", "[search]", "EXPECTED, OBSERVED, COUNT"),
        ("of: 28, rate", "of: 8, rate", "19 of 8 cannot be"),
    ],
)
def test_mistakes_have_a_place(old: str, new: str, message: str) -> None:
    text = dump_baseline(accepted(*bug_33()))
    assert old in text
    with pytest.raises(SuiteError, match=message) as caught:
        parse_baseline(text.replace(old, new, 1), "b.yaml")
    assert all(p.path == "b.yaml" and p.line for p in caught.value.problems)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load_baseline(str(tmp_path / "b.yaml"))
    (tmp_path / "empty.yaml").write_text("")
    with pytest.raises(SuiteError, match="empty"):
        load_baseline(str(tmp_path / "empty.yaml"))


def test_diff_says_what_becomes_laxer() -> None:
    old = accepted(*repeated("a", "find", "none", "PPPP"), verdict("gone", "find"))
    new = accepted(
        *repeated("a", "find", "refund", "PPFF", model="m-2"),
        verdict("new", "ask_followup", clarified=True, model="m-2"),
    )
    assert diff(None, new) == ("no baseline before: everything is new",)
    assert diff(old, old) == ()
    assert diff(old, new) == (
        "model: m-1 -> m-2",
        "accuracy: 5/5 runs -> 3/5 runs (laxer)",
        "flip rate (cases): 0.000 (0/1) -> 1.000 (1/1) (laxer)",
        "recall of find: 5/5 -> 2/4 (laxer)",
        "clarification: none -> 1/1",
        "new cell find -> refund: 0 -> 2 (laxer)",
        "cases no longer covered: gone (laxer)",
        "cases added: new",
        "case a: 4/4 -> 2/4",
    )


BY_HAND = """\
schema: toolselect.baseline/1
suite: s
accepted: {by: ann, reviewer: raj, at: "2026-11-01"}
figures: {accuracy: 0.70}
cells: [[search, ask_followup]]
"""


def test_bug_33_gate() -> None:
    """Fails for two cells that are zero in the baseline, although accuracy is within the tolerance."""
    base = parse_baseline(BY_HAND, "b.yaml")
    assert (base.accuracy, base.cases, base.cells) == (0.7, None, ((Cell("search", "ask_followup"), 1),))
    result = check(report_of(*bug_33()), base, Policy())
    found = {c.condition: c for c in result.conditions}
    assert result.outcome == "fail"
    assert [name for name, c in found.items() if c.outcome == "fail"] == ["new_cells"]
    cells = found["new_cells"]
    assert cells.details == (
        "wanted search, got refund: 3, in c6",
        "wanted none, got search: 1, in c3",
    )
    accuracy = found["accuracy"]
    assert (accuracy.outcome, accuracy.saw) == ("pass", "67.9 % (19/28), observations")
    assert "mean of cases: 70.0 %" in accuracy.details
    assert "cases by majority: 66.7 % (4/6)" in accuracy.details
    assert "candidate's flip rate, 2/6 cases" in accuracy.explanation
    assert (found["infra_rate"].outcome, found["infra_rate"].saw) == ("pass", "6.7 % (2/30)")
    assert "with 6 cases one flip moves case accuracy by 16.7 points" in result.notes
    assert "flipping cases 2/6: c3, c6; mend their descriptions or prompts" in result.notes


def test_identical_cases_only_and_what_differs_is_listed() -> None:
    base = accepted(verdict("a", "find"), verdict("b", "find"), verdict("c", "find"), verdict("d", "find"))
    candidate = report_of(
        verdict("a", "find", model="m-2"),
        verdict("b", "find", request="do something else", model="m-2"),
        verdict("c", "find", excluded="infra"),
        verdict("e", "find", "refund", prompt_version=None, model="m-2"),
    )
    result = check(candidate, base, Policy({"accuracy": defaults(known()["accuracy"]) | {"min_n": 1}}))
    differences = result.differences
    assert result.cases == 1
    assert differences.only_before == ("c", "d")
    assert differences.only_after == ("e",)
    assert differences.changed_request == ("b",)
    assert differences.moved == ("model",)
    assert result.conditions[0].saw == "100.0 % (1/1), observations"
    assert any("find -> refund" in note and "not compared" in note for note in result.notes)


def test_wrong_suite_and_mixed_labels_are_errors() -> None:
    base = accepted(verdict("a", "find"))
    with pytest.raises(UsageError, match="mixes the labels"):
        check(report_of(verdict("a", "find", label="x"), verdict("a", "find")), base, Policy())
    other = parse_baseline(BY_HAND.replace("suite: s", "suite: t"), "b.yaml")
    with pytest.raises(InputError, match="of the suite 's', the baseline of 't'"):
        check(report_of(verdict("a", "find")), other, Policy())


def policy(text: str) -> Policy:
    return read_policy(*parse_document(text, "gate.yaml"))


def test_policy_turns_conditions_on_and_off_with_their_limits() -> None:
    got = policy(
        """
        gate: support
        min_n: 7
        conditions:
          accuracy: {tolerance: 0.02, at_most: 0.01, min: 0.5}
          tool_recall: true
          paired: false
          clarification: off
          risk_floors: {floors: {high: 0.95}}
          key_pairs: {pairs: [[a, b]]}
          infra_rate: {min_n: 3, max: 0}
        """
    )
    assert got.name == "support"
    assert {"paired", "clarification"}.isdisjoint(got.on)
    assert got.on["tool_recall"] == defaults(known()["tool_recall"])
    assert got.on["accuracy"] == {
        "tolerance": 0.02, "at_most": 0.01, "min": 0.5, "level": "observations", "min_n": 7,
    }  # fmt: skip
    assert got.on["risk_floors"]["floors"] == {"high": 0.95}
    assert got.on["key_pairs"]["pairs"] == (("a", "b"),)
    assert got.on["infra_rate"] == {"min_n": 3, "max": 0}
    assert got.on["new_cells"]["min_n"] == 7
    assert "tool_recall" not in Policy().on


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("conditions: {acuracy: true}", "did you mean 'accuracy'"),
        ("conditions: {accuracy: {tolerence: 0.1}}", "did you mean 'tolerance'"),
        ("conditions: {accuracy: {tolerance: flips}}", "write from_flip_rate"),
        ("conditions: {accuracy: {tolerance: 5}}", "share from 0 to 1"),
        ("conditions: {accuracy: {level: run}}", "level cannot be 'run'"),
        ("conditions: {accuracy: maybe}", "must be true, false or a mapping"),
        ("conditions: {key_pairs: {pairs: [[a]]}}", r"write \[EXPECTED, OBSERVED\]"),
        ("conditions: {risk_floors: {floors: 0.9}}", "write {high: 0.95}"),
        ("conditions: {" + ", ".join(f"{name}: off" for name in known()) + "}", "every condition is off"),
    ],
)
def test_mistakes_in_a_policy_have_a_place(text: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message) as caught:
        policy(text)
    assert str(caught.value).startswith("gate.yaml:1:")
