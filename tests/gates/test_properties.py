"""What holds for any report: a candidate equal to its baseline, the order of runs, two sides that are one."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from otel_toolselect.errors import TooFewError
from otel_toolselect.gates import accept, check, compare, diff, dump_baseline
from otel_toolselect.gates.baselines import parse_baseline
from otel_toolselect.gates.policy import Policy, defaults, known_conditions
from otel_toolselect.model.figures import Report
from otel_toolselect.model.gating import Baseline
from otel_toolselect.model.verdicts import RunVerdict
from tests.verdicts import report_of, verdict

LABELS = ["find", "refund", "none", "ask_followup"]
ABSOLUTE = {"unauthorized_mutation", "infra_rate"}
EVERYTHING = Policy({name: defaults(c, min_n=0) for name, c in known_conditions().items()})


def runs() -> st.SearchStrategy[list[RunVerdict]]:
    one = st.builds(
        verdict,
        st.sampled_from([f"case {i}" for i in range(8)]),
        st.sampled_from(LABELS),
        st.sampled_from(LABELS),
        excluded=st.sampled_from([None, None, None, "infra", "incomplete"]),
        clarified=st.sampled_from([None, True, False]),
        risk=st.sampled_from([None, "high", "low"]),
        model=st.sampled_from(["m-1", "m-2", None]),
    )
    return st.lists(one, max_size=30)


def accepted(report: Report) -> Baseline | None:
    try:
        return accept(report, by="ann", reviewer="raj", on="2026-11-30")
    except TooFewError:
        return None


@given(runs())
def test_a_candidate_equal_to_its_baseline_fails_nothing_relative(found: list[RunVerdict]) -> None:
    report = report_of(*found)
    base = accepted(report)
    if base is None:
        return
    base = parse_baseline(dump_baseline(base), "b.yaml")
    result = check(report, base, EVERYTHING)
    failed = {c.condition for c in result.conditions if c.outcome == "fail"}
    assert failed <= ABSOLUTE
    assert diff(base, base) == ()
    assert result.differences.moved == ()


@given(runs(), runs(), st.integers(0, 99))
def test_order_of_runs_is_irrelevant(before: list[RunVerdict], after: list[RunVerdict], seed: int) -> None:
    base = accepted(report_of(*before))
    if base is None:
        return
    shuffled = list(after)
    random.Random(seed).shuffle(shuffled)
    assert check(report_of(*after), base, EVERYTHING) == check(report_of(*shuffled), base, EVERYTHING)


@given(runs())
def test_a_report_beside_itself_differs_in_nothing(found: list[RunVerdict]) -> None:
    report = report_of(*found)
    try:
        got = compare([("a", report), ("b", report)])
    except TooFewError:
        assert all(run.excluded for run in found)
        return
    against = got.against[0]
    assert (against.lost, against.gained, against.rerouted, against.cells, against.p) == ((), (), (), (), 1.0)
    assert got.sides[0].accuracy == got.sides[1].accuracy


@given(runs(), runs())
def test_fewer_right_never_turns_a_failed_accuracy_into_a_pass(
    before: list[RunVerdict], after: list[RunVerdict]
) -> None:
    """Making a right run of the candidate wrong cannot help it."""
    base = accepted(report_of(*before))
    right = [i for i, run in enumerate(after) if not run.excluded and run.layers["selection"].status == "pass"]
    if base is None or not right:
        return
    policy = Policy({"accuracy": EVERYTHING.on["accuracy"] | {"tolerance": 0.1}})
    worse = list(after)
    run = worse[right[0]]
    worse[right[0]] = verdict(run.case_id, "find", "refund", model=run.model)
    order = {"pass": 2, "inconclusive": 1, "fail": 0}
    was, now = (check(report_of(*some), base, policy).outcome for some in (after, worse))
    assert order[now] <= order[was]
