"""Sides of a comparison: cost and time with their own n, identical cases, unequal repeats (R22, R45, R56)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from otel_toolselect.errors import InputError, UsageError
from otel_toolselect.gates import compare, labelled, split
from otel_toolselect.model.facts import RunFacts
from otel_toolselect.model.figures import Report
from otel_toolselect.model.verdicts import Cell
from tests.verdicts import repeated, report_of, verdict


def test_time_tokens_and_cost_have_their_own_n() -> None:
    runs = [verdict(f"c{i:02d}", "find") for i in range(20)]
    facts = {run.run_id: RunFacts(duration_ns=(i + 1) * 10**9) for i, run in enumerate(runs)}
    for i, run in enumerate(runs[:4]):
        facts[run.run_id] = replace(facts[run.run_id], input_tokens=i, cost_usd=0.1 if i < 2 else None)
    side = compare([("a", report_of(*runs, facts=facts)), ("b", report_of(*runs))]).sides[0]
    assert (side.seconds_median, side.seconds_p95, side.seconds_n) == (10.5, 19.0, 20)
    assert (side.tokens_mean, side.tokens_n) == (1.5, 4)
    assert (side.cost_mean, side.cost_n) == (0.1, 2)
    other = compare([("a", report_of(*runs)), ("b", report_of(*runs))]).sides[0]
    assert (other.seconds_median, other.tokens_mean, other.cost_mean) == (None, None, None)


def test_cases_must_be_on_every_side() -> None:
    sides = [
        ("a", report_of(verdict("x", "find"), verdict("y", "find"))),
        ("b", report_of(verdict("x", "find"), verdict("y", "find", request="otherwise"))),
        ("c", report_of(verdict("x", "find", "refund"), verdict("z", "find"))),
    ]
    got = compare(sides)
    assert got.cases == ("x",)
    assert got.outcomes == {"x": ((1, 1), (1, 1), (0, 1))}
    assert got.against[0].differences.changed_request == ("y",)
    assert got.against[1].differences.only_after == ("z",)
    assert [case.case_id for case in got.against[1].lost] == ["x"]


def test_unequal_repeats_are_no_displacement() -> None:
    once = report_of(*repeated("a", "find", "refund", "PF"))
    often = report_of(*repeated("a", "find", "refund", "PFPFPF"))
    more = report_of(*repeated("a", "find", "refund", "PFFF"))
    assert compare([("a", once), ("b", often)]).against[0].cells == ()
    grown = compare([("a", once), ("b", more)]).against[0].cells[0]
    assert (grown.cell, grown.before, grown.after, grown.kind) == (Cell("find", "refund"), (1, 2), (3, 4), "grown")


def test_what_moved_and_what_is_not_known() -> None:
    before = report_of(verdict("a", "find", prompt_version=None))
    after = report_of(verdict("a", "find", catalog_id="other"))
    found = compare([("a", before), ("b", after)]).against[0].differences
    assert {m.what: m.movement for m in found.identities} == {
        "model": "same", "prompt": "unknown", "catalog": "moved", "policy": "same",
    }  # fmt: skip


def test_splits_and_labels() -> None:
    runs = [verdict("a", "find", label="new", model="m-2"), verdict("a", "find")]
    whole: Report = report_of(*runs, facts={runs[0].run_id: RunFacts(agent="shop")})
    assert [name for name, _ in split(whole, "label")] == ["(none)", "new"]
    assert [name for name, _ in split(whole, "model")] == ["m-1", "m-2"]
    assert [name for name, _ in split(whole, "agent")] == ["(none)", "shop"]
    assert labelled(whole, "new").summary.runs == 1
    with pytest.raises(UsageError, match="known: new"):
        labelled(whole, "old")


def test_other_suites_cannot_be_compared() -> None:
    one = report_of(verdict("a", "find"))
    with pytest.raises(InputError, match="different suites"):
        compare([("a", one), ("b", replace(one, suite="t"))])
    with pytest.raises(UsageError, match="two reports"):
        compare([("a", one)])
