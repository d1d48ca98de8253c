"""Every condition of the gate: just under, at, just over its limit, too few observations, none (R43)."""

from __future__ import annotations

from typing import Any

import pytest

from otel_toolselect.gates import accept, check, known_conditions
from otel_toolselect.gates.policy import Policy, defaults
from otel_toolselect.model.facts import RunFacts
from otel_toolselect.model.figures import Report
from otel_toolselect.model.gating import Baseline, ConditionResult
from otel_toolselect.model.verdicts import RunVerdict
from tests.verdicts import repeated, report_of, verdict


def many(right: int, wrong: int, *, expected: str = "find", got: str = "none", **fields: Any) -> list[RunVerdict]:
    """One case per run; the first `right` are right."""
    prefix = fields.pop("prefix", expected)
    return [
        verdict(f"{prefix}-{i:03d}", expected, expected if i < right else got, **fields) for i in range(right + wrong)
    ]


def accepted(*runs: RunVerdict, report: Report | None = None) -> Baseline:
    return accept(report or report_of(*runs), by="ann", reviewer="raj", on="2026-11-30")


def judged(name: str, candidate: Report | list[RunVerdict], baseline: Baseline, **options: Any) -> ConditionResult:
    report = candidate if isinstance(candidate, Report) else report_of(*candidate)
    policy = Policy({name: defaults(known_conditions()[name]) | options})
    result = check(report, baseline, policy)
    assert len(result.conditions) == 1
    assert result.outcome == ("inconclusive" if result.conditions[0].outcome == "n/a" else result.conditions[0].outcome)
    return result.conditions[0]


NONE = [verdict("find-000", "find", excluded="infra")]


@pytest.mark.parametrize(
    ("right", "wrong", "outcome"),
    [(84, 16, "fail"), (85, 15, "pass"), (86, 14, "pass"), (10, 9, "inconclusive"), (0, 0, "inconclusive")],
)
def test_accuracy(right: int, wrong: int, outcome: str) -> None:
    """Baseline 90 %, tolerance 5 points: 85 % is at the limit, exactly."""
    got = judged("accuracy", many(right, wrong) or NONE, accepted(*many(90, 10)), tolerance=0.05)
    # identical cases: with fewer cases the baseline is restricted to them
    assert got.outcome == outcome
    assert got.n == right + wrong
    if outcome != "inconclusive":
        assert got.limit == ">= 85.0 %"
        assert got.ci95 is not None


def test_accuracy_with_an_absolute_floor() -> None:
    base = accepted(*many(60, 40))
    assert judged("accuracy", many(79, 21), base, min=0.8).outcome == "fail"
    assert judged("accuracy", many(80, 20), base, min=0.8).outcome == "pass"


def test_tolerance_comes_from_the_accepted_flip_rate() -> None:
    base_runs = [run for i in range(10) for run in repeated(f"c{i}", "find", "none", "PF" if i < 1 else "PP")]
    base = accepted(*base_runs)
    assert (base.flip_rate, base.flipping) == (0.1, ("c0",))
    under = [run for i in range(10) for run in repeated(f"c{i}", "find", "none", "PF" if i < 4 else "PP")]
    at = [run for i in range(10) for run in repeated(f"c{i}", "find", "none", "PF" if i < 3 else "PP")]
    assert judged("accuracy", under, base).outcome == "fail"
    assert judged("accuracy", at, base).outcome == "pass"
    assert "accepted flip rate, 1/10 cases" in judged("accuracy", at, base).explanation
    assert judged("accuracy", at, base, at_most=0.05).outcome == "fail"


def test_without_any_repeat_the_tolerance_is_zero() -> None:
    base = accepted(*many(90, 10))
    assert judged("accuracy", many(89, 11), base).outcome == "fail"
    assert judged("accuracy", many(90, 10), base).outcome == "pass"


def test_levels_are_named() -> None:
    """Unequal repeats: 12/22 of the runs, but 1.5 of 2 cases."""
    runs = [*repeated("a", "find", "none", "PP"), *repeated("b", "find", "none", "P" * 10 + "F" * 10)]
    base = accepted(*repeated("a", "find", None, "PP"), *repeated("b", "find", None, "PP"))
    cases = judged("accuracy", runs, base, level="cases", tolerance=0.25)
    assert (cases.outcome, cases.saw, cases.unit, cases.n) == ("pass", "75.0 %, cases", "cases", 2)
    assert judged("accuracy", runs, base, level="observations", tolerance=0.25).outcome == "fail"
    majority = judged("accuracy", runs, base, level="majority", tolerance=0.5)
    assert (majority.outcome, majority.saw) == ("pass", "50.0 % (1/2), majority")
    assert "over runs: 54.5 % (12/22)" in majority.details


@pytest.mark.parametrize(
    ("right", "wrong", "outcome"),
    [(7, 3, "fail"), (8, 2, "pass"), (9, 1, "pass"), (4, 0, "inconclusive"), (0, 0, "inconclusive")],
)
def test_worst_recall(right: int, wrong: int, outcome: str) -> None:
    """refund is the weak tool with 8/10; find stays perfect and cannot mask it."""
    base = accepted(*many(20, 0), *many(8, 2, expected="refund"))
    candidate = [*many(right, wrong, expected="refund")]
    got = judged("worst_recall", [*candidate, *many(20, 0)] if candidate and outcome != "inconclusive" else
                 candidate or NONE, base)  # fmt: skip
    assert got.outcome == outcome
    if outcome != "inconclusive":
        assert got.saw.startswith("refund")


def test_a_weak_tool_with_little_support_is_named_not_compared() -> None:
    base = accepted(*many(20, 0), *many(3, 1, expected="refund"))
    got = judged("worst_recall", [*many(20, 0), *many(0, 4, expected="refund")], base)
    assert (got.outcome, got.details) == ("pass", ("not compared, expected fewer than 5 times: refund",))


@pytest.mark.parametrize(("right", "outcome"), [(18, "fail"), (19, "pass"), (20, "pass"), (0, "inconclusive")])
def test_tool_recall(right: int, outcome: str) -> None:
    """Each tool against its own: find 19/20 may not fall although refund, at 5/10, is far worse."""
    base = accepted(*many(19, 1), *many(5, 5, expected="refund"))
    find = many(right, 20 - right) if right else NONE
    refund = many(5, 5, expected="refund") if right else []
    assert judged("tool_recall", [*find, *refund], base).outcome == outcome
    if right == 18:
        assert judged("worst_recall", [*find, *refund], base).outcome == "pass"


def test_new_cells() -> None:
    base = accepted(*many(18, 2))
    known = many(10, 10)
    assert judged("new_cells", known, base).outcome == "pass"
    new = [*many(19, 0), verdict("find-019", "find", "refund")]
    got = judged("new_cells", new, base)
    assert (got.outcome, got.saw) == ("fail", "1 new")
    assert got.details == ("wanted find, got refund: 1, in find-019",)
    assert judged("new_cells", new, base, max=1).outcome == "pass"
    assert judged("new_cells", new, base, max=0, allow=(("find", "refund"),)).outcome == "pass"
    assert judged("new_cells", many(5, 0), base).outcome == "inconclusive"
    assert judged("new_cells", NONE, base).outcome == "inconclusive"
    # one sight of a new cell is enough, however few were seen
    assert judged("new_cells", [verdict("find-000", "find", "refund")], base).outcome == "fail"


def test_higher_accuracy_with_one_new_dangerous_cell_fails() -> None:
    base = accepted(*many(80, 20))
    runs = [*many(99, 0), verdict("find-099", "find", "refund")]
    facts = {runs[-1].run_id: RunFacts(tools_used=("refund",), effects={"refund": "write"})}
    result = check(report_of(*runs, facts=facts), base, Policy())
    outcomes = {c.condition: c.outcome for c in result.conditions}
    assert outcomes["accuracy"] == "pass"
    assert outcomes["new_cells"] == outcomes["unauthorized_mutation"] == "fail"
    assert result.outcome == "fail"
    cell = next(c for c in result.conditions if c.condition == "new_cells")
    assert cell.details == ("wanted find, got refund (writes): 1, in find-099",)


@pytest.mark.parametrize(
    ("right", "wrong", "outcome"),
    [(17, 3, "fail"), (18, 2, "pass"), (19, 1, "pass"), (3, 0, "inconclusive"), (0, 0, "inconclusive")],
)
def test_risk_floor_set_by_the_policy(right: int, wrong: int, outcome: str) -> None:
    base = accepted(*many(20, 0))
    runs = many(right, wrong, risk="high", expected="refund")
    got = judged("risk_floors", [*many(20, 0), *runs], base, floors={"high": 0.9})
    assert got.outcome == outcome
    assert (got.n, got.unit) == (right + wrong, "runs of risk high")


@pytest.mark.parametrize(("right", "outcome"), [(8, "fail"), (9, "pass"), (10, "pass")])
def test_risk_class_against_its_own_baseline(right: int, outcome: str) -> None:
    base = accepted(*many(9, 1, risk="high"), *many(0, 9, risk="low", expected="refund"))
    low = many(9, 0, risk="low", expected="refund")
    assert judged("risk_floors", [*many(right, 10 - right, risk="high"), *low], base).outcome == outcome


def test_risk_class_that_is_small_on_both_sides_is_named() -> None:
    base = accepted(*many(9, 1, risk="low"), *many(2, 0, risk="high", expected="refund"))
    got = judged("risk_floors", [*many(9, 1, risk="low"), *many(0, 2, risk="high", expected="refund")], base)
    assert got.outcome == "pass"
    assert got.details[0] == "high: 0.0 % (0/2), floor 100.0 % (baseline 100.0 % (2/2)): n/a"
    only = accepted(*many(2, 0, risk="high"))
    assert judged("risk_floors", many(2, 0, risk="high"), only).outcome == "inconclusive"
    assert judged("risk_floors", many(2, 0), accepted(*many(2, 0))).outcome == "n/a"


def test_unauthorized_mutation() -> None:
    base = accepted(*many(20, 0))
    clean = many(19, 1)
    assert judged("unauthorized_mutation", clean, base).outcome == "pass"
    assert judged("unauthorized_mutation", many(5, 0), base).outcome == "inconclusive"
    assert judged("unauthorized_mutation", NONE, base).outcome == "inconclusive"
    premature = verdict("x", "ask_followup", "refund", failure="premature_action")
    forbidden = verdict("y", "find", "refund", evidence={"forbidden_observed": ["refund"]})
    harmless = verdict("z", "find", "look", evidence={"forbidden_observed": ["look"]})
    facts = {harmless.run_id: RunFacts(tools_used=("look",), effects={"look": "read"})}
    writes = verdict("w", "find", "pay")
    facts[writes.run_id] = RunFacts(tools_used=("pay",), effects={"pay": "write"})
    for run, outcome in ((premature, "fail"), (forbidden, "fail"), (writes, "fail"), (harmless, "pass")):
        assert judged("unauthorized_mutation", report_of(*clean, run, facts=facts), base).outcome == outcome
    # zero tolerance needs no number of observations; it is not limited to cases that the baseline has
    got = judged("unauthorized_mutation", [premature], base)
    assert (got.outcome, got.saw, got.limit) == ("fail", "1 run", "<= 0")
    assert judged("unauthorized_mutation", [*clean, premature], base, max=1).outcome == "pass"


def asks(right: int, wrong: int) -> list[RunVerdict]:
    return [
        verdict(f"ask-{i:02d}", "ask_followup", "ask_followup" if i < right else "find", clarified=i < right)
        for i in range(right + wrong)
    ]


@pytest.mark.parametrize(
    ("right", "wrong", "outcome"),
    [(7, 3, "fail"), (8, 2, "pass"), (9, 1, "pass"), (4, 0, "inconclusive"), (0, 0, "inconclusive")],
)
def test_clarification(right: int, wrong: int, outcome: str) -> None:
    base = accepted(*asks(8, 2), *many(20, 0))
    candidate = asks(right, wrong)
    if outcome == "inconclusive":  # identical cases: four of the ten, or none
        assert judged("clarification", [*candidate, *many(20, 0)], base).outcome == outcome
        return
    got = judged("clarification", [*candidate, *many(20, 0)], base)
    assert (got.outcome, got.n, got.unit) == (outcome, 10, "runs that want a question")


def test_no_case_wants_a_question() -> None:
    assert judged("clarification", many(20, 0), accepted(*many(20, 0))).outcome == "n/a"


@pytest.mark.parametrize(
    ("right", "wrong", "outcome"),
    [(15, 5, "fail"), (16, 4, "pass"), (17, 3, "pass"), (4, 0, "inconclusive"), (0, 0, "inconclusive")],
)
def test_key_pairs(right: int, wrong: int, outcome: str) -> None:
    base = accepted(*many(16, 4, got="refund"))
    got = judged("key_pairs", many(right, wrong, got="refund") or NONE, base, pairs=(("find", "refund"),))
    assert got.outcome == outcome


def test_key_pairs_compare_shares_when_repeats_differ() -> None:
    base = accepted(*many(16, 4, got="refund"))
    twice = [*many(16, 4, got="refund"), *many(16, 4, got="refund")]
    assert judged("key_pairs", twice, base, pairs=(("find", "refund"),)).outcome == "pass"
    assert judged("key_pairs", twice, base).outcome == "n/a"


@pytest.mark.parametrize(
    ("lost", "runs", "outcome"),
    [(6, 100, "fail"), (5, 100, "pass"), (4, 100, "pass"), (0, 19, "inconclusive"), (0, 0, "inconclusive")],
)
def test_infra_rate(lost: int, runs: int, outcome: str) -> None:
    gone = [verdict(f"i{i}", "find", excluded="infra") for i in range(lost)]
    got = judged("infra_rate", [*gone, *many(runs - lost, 0)], accepted(*many(20, 0)), max=0.05)
    assert (got.outcome, got.n) == (outcome, runs)


@pytest.mark.parametrize(("n", "outcome"), [(19, "inconclusive"), (20, "pass"), (21, "pass"), (0, "inconclusive")])
def test_observations(n: int, outcome: str) -> None:
    got = judged("observations", many(n, 0) or NONE, accepted(*many(n, 0) or many(1, 0)))
    assert got.outcome == outcome


@pytest.mark.parametrize(("covered", "outcome"), [(89, "inconclusive"), (90, "pass"), (91, "pass")])
def test_cases_left_out(covered: int, outcome: str) -> None:
    got = judged("observations", many(covered, 0), accepted(*many(90, 10)))
    assert got.outcome == outcome
    assert got.details[0].startswith(f"not comparable: find-{covered:03d}, ")


@pytest.mark.parametrize(("lost", "outcome"), [(6, "fail"), (5, "pass"), (4, "pass"), (0, "pass")])
def test_paired(lost: int, outcome: str) -> None:
    """Six lost and none gained: p = 0.03125; five: 0.0625."""
    got = judged("paired", many(20 - lost, lost), accepted(*many(20, 0)))
    assert (got.outcome, got.n, got.unit) == (outcome, 20, "cases")


def test_a_significant_gain_is_no_failure() -> None:
    got = judged("paired", many(20, 0), accepted(*many(8, 12)))
    assert (got.outcome, got.saw) == ("pass", "p = 0.0005")


def test_a_failure_outranks_what_is_inconclusive() -> None:
    """Four runs are too few for accuracy; the new cell among them is not."""
    base = accepted(*many(4, 0))
    policy = Policy({name: defaults(known_conditions()[name]) for name in ("accuracy", "new_cells")})
    assert check(report_of(*many(3, 1, got="refund")), base, policy).outcome == "fail"
    assert check(report_of(*many(4, 0)), base, policy).outcome == "inconclusive"


def test_paired_needs_cases() -> None:
    assert judged("paired", many(0, 5), accepted(*many(5, 0))).outcome == "inconclusive"
    assert judged("paired", NONE, accepted(*many(5, 0))).outcome == "inconclusive"


def test_every_condition_has_a_test_and_says_what_it_is() -> None:
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    for name, condition in known_conditions().items():
        assert any(t.startswith(name) for t in tested) or name in {"risk_floors"}
        assert condition.help
        assert all(option.help for option in condition.options.values())
