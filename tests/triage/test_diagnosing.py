"""Each layer of R52, what it could not know, and the reading that follows."""

from __future__ import annotations

import json

import pytest

from otel_toolselect.model.diagnosis import Diagnosis
from otel_toolselect.model.runs import Run, ToolDefinition
from otel_toolselect.model.verdicts import RunVerdict, SuiteVerdicts
from otel_toolselect.reports import diagnosis_json, diagnosis_table
from otel_toolselect.rules import Suite, parse_suite
from otel_toolselect.stats import report
from otel_toolselect.triage.diagnosing import diagnose
from tests.builders import call, run
from tests.reports.samples import verdict

FAR = (ToolDefinition("refund", "Give money back."), ToolDefinition("find", "Search orders of a customer by date."))
NEAR = (ToolDefinition("refund", "Pay an order back."), ToolDefinition("find", "Pay an order back again."))
SUITE = parse_suite(
    "suite: shop\ncases:\n"
    + "".join(
        f"  - {{id: {name}, prompt: {name}, group: {{id: g, relation: same}}, expect: {{first: [refund]}}}}\n"
        for name in ("a", "b")
    )
    + "  - {id: c, prompt: c, expect: {first: [refund]}}\n",
    path="shop.yaml",
)


def found(
    *outcomes: tuple[str, str], tools: tuple[ToolDefinition, ...] | None = FAR, suite: Suite = SUITE
) -> Diagnosis:
    """One judged run per (case, first action)."""
    verdicts: list[RunVerdict] = []
    runs: dict[str, Run] = {}
    for i, (case, action) in enumerate(outcomes):
        verdicts.append(verdict(i, "refund", action, case_id=case, attempt=i))
        runs[verdicts[-1].run_id] = run(call(action), run_id=verdicts[-1].run_id, tools=tools)
    return diagnose(report(SuiteVerdicts("shop", tuple(verdicts))), runs, suite, "refund", "find")


def answers(got: Diagnosis) -> list[str]:
    return [step.answer for step in got.steps]


@pytest.mark.parametrize(
    ("got", "expected", "reading"),
    [
        (found(("c", "find"), tools=(FAR[1],)), ["no", "unknown", "unknown", "unknown"], "catalog gap"),
        (found(("c", "find"), ("c", "refund")), ["yes", "no", "no", "unknown"], "sampling variance"),
        (found(("c", "find"), ("c", "find"), tools=NEAR), ["yes", "yes", "yes", "unknown"], "boundary ambiguity"),
        (found(("a", "find"), ("a", "find"), ("b", "refund")), ["yes", "no", "yes", "no"], "wording"),
        (found(("a", "find"), ("a", "find"), ("b", "find")), ["yes", "no", "yes", "yes"], "intent misread: nothing"),
        (found(("c", "find"), tools=None), ["unknown", "unknown", "unknown", "unknown"], "intent misread"),
        (found(("c", "refund")), ["unknown", "no", "n/a", "n/a"], "refund was never answered by find"),
    ],
)
def test_layers(got: Diagnosis, expected: list[str], reading: str) -> None:
    assert answers(got) == expected
    assert got.conclusion.startswith(reading)


def test_unknowns_say_what_would_tell() -> None:
    got = found(("c", "find"), tools=None)
    assert "doctor" in got.steps[0].explanation
    assert "three to five times" in got.steps[2].explanation
    assert "relation: same" in got.steps[3].explanation
    assert "not known: was the expected tool on offer" in got.conclusion


def test_share_and_texts() -> None:
    got = found(("c", "find"), ("a", "refund"), ("b", "refund"))
    assert (got.share.passed, got.share.n) == (1, 3)
    text = diagnosis_table(got, colour=False, width=100)
    assert "33.3 % (1/3) of the runs that wanted refund" in text
    assert "find: Search orders of a customer by date." in text
    document = json.loads(diagnosis_json(got))
    assert document["share"]["n"] == 3
    assert [step["answer"] for step in document["steps"]] == answers(got)


def test_labels_without_a_tool() -> None:
    verdicts = (verdict(1, "ask_followup", "find"),)
    got = diagnose(report(SuiteVerdicts("shop", verdicts)), {}, SUITE, "ask_followup", "find")
    assert answers(got)[:2] == ["n/a", "n/a"]
