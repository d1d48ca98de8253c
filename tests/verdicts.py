"""Verdicts for tests in one line: `verdict("c1", "refund", "invoice")` is a run that took the wrong tool."""

from __future__ import annotations

from itertools import count
from typing import Any

from otel_toolselect.model.facts import RunFacts
from otel_toolselect.model.figures import Report
from otel_toolselect.model.verdicts import LAYERS, Cell, LayerVerdict, RunVerdict, Status, SuiteVerdicts
from otel_toolselect.stats import report

_numbers = count(1)


def verdict(case: str, expected: str, observed: str | None = None, **fields: Any) -> RunVerdict:
    """A judged run; `observed` None means as expected. `clarified` True or False sets the clarification layer."""
    observed = expected if observed is None else observed
    excluded = fields.get("excluded")
    clarified = fields.pop("clarified", None)
    statuses: dict[str, Status] = {"selection": "pass" if observed == expected else "fail"}
    if clarified is not None:
        statuses["clarification"] = "pass" if clarified else "fail"
    evidence = {"first_action": observed, "allowed": [expected], **fields.pop("evidence", {})}
    layers = {
        layer: LayerVerdict(
            "excluded" if excluded else statuses.get(layer, "n/a"), "why", evidence if layer == "selection" else {}
        )
        for layer in LAYERS
    }
    number = next(_numbers)
    facts: dict[str, Any] = {
        "run_id": f"run-{number:05d}",
        "trace_id": f"{number:032x}",
        "suite": "s",
        "case_id": case,
        "first_action": observed,
        "observed_class": "call",
        "layers": layers,
        "cells": () if excluded else (Cell(expected, observed),),
        "request": f"do {case}",
        "model": "m-1",
        "prompt_version": "p-1",
        "catalog_id": "sha256:" + "c" * 64,
        "policy_version": "1@abc",
    }
    return RunVerdict(**(facts | fields))


def report_of(*runs: RunVerdict, facts: dict[str, RunFacts] | None = None, **fields: Any) -> Report:
    """The report on these verdicts; `facts` by run id."""
    return report(SuiteVerdicts("s", runs, facts=facts or {}, **fields))


def repeated(case: str, expected: str, wrong: str | None, marks: str, **fields: Any) -> list[RunVerdict]:
    """Runs of one case: P right, F wrong, I infrastructure failure."""
    kinds: dict[str, dict[str, Any]] = {"P": {}, "F": {"observed": wrong}, "I": {"excluded": "infra"}}
    return [verdict(case, expected, attempt=i, **kinds[mark], **fields) for i, mark in enumerate(marks, start=1)]


def bug_33() -> list[RunVerdict]:
    """Six cases, five repeats each; two runs of c5 failed for the platform's sake."""
    return [
        *repeated("c1", "search", None, "PPPPP"),
        *repeated("c2", "search", "ask_followup", "FFFFF"),
        *repeated("c3", "none", "search", "PPPPF"),
        *repeated("c4", "refund", None, "PPPPP"),
        *repeated("c5", "search", None, "PIPPI"),
        *repeated("c6", "search", "refund", "FPFFP"),
    ]
