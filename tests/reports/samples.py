"""Reports with everything that can go wrong in one, for the tests of the formats."""

from __future__ import annotations

from collections.abc import Sequence

from otel_toolselect.model.figures import Report
from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import LAYERS, CallScore, Cell, LayerVerdict, RunVerdict, SuiteVerdicts
from otel_toolselect.reports import Material
from otel_toolselect.stats import report
from tests.builders import call, run

HOSTILE = (
    "<script>window.stolen = 1</script><img src=http://evil.example/x onerror='window.stolen=2'>"
    "\n::error::mine %0A @everyone [a](http://evil.example) ` `` | \x1b[2J \x00 \ud800 \u202eabc ]]> &amp;"
)


def verdict(index: int, expected: str, observed: str, **more: object) -> RunVerdict:
    good = expected == observed
    evidence = {"expected": [expected], "first_action": observed}
    said = f"the first action is {observed}" if good else f"unexpected {observed}; expected {expected}"
    facts: dict[str, object] = {
        "run_id": f"run-{index:04d}",
        "trace_id": f"{index:032x}",
        "suite": "shop",
        "case_id": f"case-{index:04d}",
        "request": f"request {index}",
        "first_action": observed,
        "observed_class": "call",
        "layers": {name: LayerVerdict("n/a", "does not apply") for name in LAYERS}
        | {"selection": LayerVerdict("pass" if good else "fail", said, evidence)},
        "cells": (Cell(expected, observed),),
        "failure": None if good else "intent_misread",
        "owner": None if good else "agent/prompt",
        "start_ns": 1_760_000_000_000_000_000 + index * 10**9,
    }
    return RunVerdict(**(facts | more))  # type: ignore[arg-type]


def crash(index: int) -> RunVerdict:
    review = {
        "selection": LayerVerdict("needs_review", "the check first crashed: KeyError", {"check crashed": "KeyError"})
    }
    return verdict(index, "find", "find", layers=review, failure="harness_defect", owner="evaluation", cells=())


def verdicts() -> list[RunVerdict]:
    left_out = {name: LayerVerdict("excluded", "find failed for an infrastructure reason") for name in LAYERS}
    unsure = {"selection": LayerVerdict("needs_review", "below the confidence limit")}
    return [
        verdict(0, "find", "find", attempt=1, case_id="twice", call_scores=(CallScore(1, "find", True),)),
        verdict(1, "find", "refund", attempt=2, case_id="twice", risk="high"),
        verdict(2, "refund", "find", request=HOSTILE, risk="high"),
        verdict(3, "ask_followup", "refund", failure="premature_action", owner="safety", risk="high"),
        verdict(4, "none", "none", observed_class="none"),
        verdict(
            5, "find", "find", layers=left_out, excluded="infra", cells=(), failure="infrastructure", owner="platform"
        ),
        verdict(6, "find", "find", layers=unsure, cells=()),
        crash(7),
        verdict(8, "refund", "find"),
        verdict(9, "find", "find", cells=(Cell("find", "find"), Cell("refund", "find"))),
    ]


def figures(found: Sequence[RunVerdict] | None = None) -> Report:
    runs = tuple(verdicts() if found is None else found)
    return report(SuiteVerdicts("shop", runs, unmatched_runs=2, cases_without_run=("never-run", "nor-this")))


def material(found: Sequence[RunVerdict] | None = None) -> Material:
    kept = verdicts() if found is None else found
    runs = {v.run_id: events_of(v) for v in kept}
    return Material(runs, "suites/shop.yaml", {v.case_id: 10 + i for i, v in enumerate(kept)})


def events_of(v: RunVerdict) -> Run:
    text = HOSTILE if v.request == HOSTILE else "done"
    calls = [
        call("find", {"q": text}, ok=False, error="timeout"),
        call(v.first_action, {"id": v.run_id}, ok=True, value={"note": text}),
    ]
    seen = run(*calls, final=text, run_id=v.run_id, trace_id=v.trace_id, request=v.request, duration_ns=1_500_000_000)
    return seen
