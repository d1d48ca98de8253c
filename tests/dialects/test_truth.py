"""What comes out of each capture is what happened (R7, R20, R21)."""

from __future__ import annotations

import pytest

from otel_toolselect.model.runs import Run, Unknown
from otel_toolselect.model.values import json_equal
from tests.dialects.captures import ALL, Scenario, runs


def roots(scenario: Scenario) -> list[Run]:
    found = runs(scenario)
    return [r for r in found if r.parent_run_id is None]


@pytest.mark.parametrize("scenario", [s for s in ALL if "calls" not in s.truth["not_in_the_spans"]], ids=str)
def test_calls_in_the_models_order(scenario: Scenario) -> None:
    calls = [c for r in runs(scenario) for c in r.calls]
    wanted = scenario.truth["tool_calls"]
    assert [c.name for c in calls] == [w["name"] for w in wanted]
    for call, want in zip(calls, wanted, strict=True):
        if "args" in scenario.truth["not_in_the_spans"]:
            assert isinstance(call.args, Unknown), "arguments that were not recorded must be unknown, never {}"
        else:
            assert not isinstance(call.args, Unknown), call
            assert json_equal(call.args, want["arguments"])


@pytest.mark.parametrize("scenario", [s for s in ALL if "oks" not in s.truth["not_in_the_spans"]], ids=str)
def test_outcomes(scenario: Scenario) -> None:
    results = [(e.name, e.ok) for r in runs(scenario) for e in r.results]
    assert sorted(results) == sorted((w["name"], w["ok"]) for w in scenario.truth["tool_calls"])


@pytest.mark.parametrize("scenario", [s for s in ALL if "oks" in s.truth["not_in_the_spans"]], ids=str)
def test_outcomes_that_were_not_recorded_are_unknown(scenario: Scenario) -> None:
    assert {e.ok for r in runs(scenario) for e in r.results} <= {None}


@pytest.mark.parametrize("scenario", [s for s in ALL if "final" not in s.truth["not_in_the_spans"]], ids=str)
def test_final_text(scenario: Scenario) -> None:
    wanted = (scenario.truth["final_text"] or "").strip()
    assert wanted in [(r.final_text or "").strip() for r in roots(scenario)]


@pytest.mark.parametrize("scenario", [s for s in ALL if "request" not in s.truth["not_in_the_spans"]], ids=str)
def test_request(scenario: Scenario) -> None:
    assert scenario.truth["user_prompt"].strip() in [(r.request or "").strip() for r in roots(scenario)]


@pytest.mark.parametrize("scenario", [s for s in ALL if "catalog" not in s.truth["not_in_the_spans"]], ids=str)
def test_catalog(scenario: Scenario) -> None:
    wanted = set(scenario.truth["tools_offered"])
    assert any(wanted <= set(r.tools_offered or ()) for r in roots(scenario))


@pytest.mark.parametrize("scenario", [s for s in ALL if s.name in ("s3",)], ids=str)
def test_a_clarifying_question_reads_as_one(scenario: Scenario) -> None:
    if "final" not in scenario.truth["not_in_the_spans"]:
        assert [r.observed_class for r in roots(scenario) if r.final_text] == ["ask_followup"]
