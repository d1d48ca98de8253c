"""Members that `toolselect.report/1` has beyond the fixed form of design section 8: added, never renamed.

They are what a baseline, a gate and a comparison need to work from a report alone: per run its cells, label, identities
(R22), risk, cost and tools; for the suite the averages, the risk view, the figures on repeats and the groups.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from otel_toolselect.model.facts import RunFacts
from otel_toolselect.model.figures import Confusion, Rate, Report
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.reports._records import timestamp
from otel_toolselect.stats import (
    agency,
    group_stability,
    of_labels,
    of_tools,
    redundancy,
    repeats,
    right_pairs,
    risk_view,
    stable_groups,
)


def rate_record(rate: Rate) -> dict[str, Any]:
    return {"passed": rate.passed, "n": rate.n, "rate": rate.rate, "ci95": rate.ci95}


def averages_record(confusion: Confusion) -> dict[str, Any]:
    """Macro and weighted averages; `undefined` names what could not go in."""
    return {"tools": of_tools(confusion), "labels": of_labels(confusion)}


def suite_members(report: Report) -> dict[str, Any]:
    found = group_stability(report.runs, report.groups)
    return {
        "risk": _risk(report),
        "repeats": repeats_record(report.runs),
        "groups": {
            "stable": rate_record(stable_groups(found)),
            "right_pairs": rate_record(right_pairs(found)),
            "groups": found,
            "of_cases": dict(sorted(report.groups.items())),
        },
        "redundancy": rate_record(redundancy(known_facts(report))),
        "agency": [{**_fields(row), "gap": rate_record(row.gap)} for row in agency(known_facts(report))],
        "unmatched_runs": report.unmatched_runs,
        "cases_without_run": report.cases_without_run,
    }


def known_facts(report: Report) -> Iterable[RunFacts]:
    """Facts of the judged runs."""
    return (report.facts[r.run_id] for r in report.runs if r.excluded is None and r.run_id in report.facts)


def _fields(row: Any) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__slots__}


def _risk(report: Report) -> dict[str, Any]:
    view = risk_view(report.runs)
    return {
        "raw": rate_record(view.raw),
        "weighted": view.weighted,
        "classes": {name: rate_record(known) for name, known in view.classes.items()},
        "weights": view.weights,
    }


def repeats_record(runs: Iterable[RunVerdict]) -> dict[str, Any]:
    """Observation level and case level apart, each by its name (R41)."""
    found = repeats(runs)
    return {
        "observation_level": rate_record(found.observations),
        "case_level": {
            "mean": found.mean,
            "majority": rate_record(found.majority),
            "flip_rate": rate_record(found.flips),
            "one_flip": found.one_flip,
            "pass_hat_k": found.pass_hat,
            "flipping": [{"case_id": case.case_id, "actions": dict(case.actions)} for case in found.flipping],
        },
    }


def run_members(run: RunVerdict, facts: RunFacts | None) -> dict[str, Any]:
    """Null where the trace does not say."""
    fact = facts or RunFacts()
    return {
        "label": run.label,
        "excluded": run.excluded,
        "request": run.request,
        "risk": run.risk,
        "tags": dict(sorted(run.tags.items())),
        "cells": run.cells,
        "call_scores": run.call_scores,
        "policy_version": run.policy_version,
        "model": run.model,
        "prompt_version": run.prompt_version,
        "catalog_id": run.catalog_id,
        "start": timestamp(run.start_ns),
        "agent": fact.agent,
        "provider": fact.provider,
        "duration_s": None if fact.duration_ns is None else fact.duration_ns / 1e9,
        "input_tokens": fact.input_tokens,
        "output_tokens": fact.output_tokens,
        "cost_usd": fact.cost_usd,
        "tools_offered": fact.tools_offered,
        "tools_used": fact.tools_used if facts else None,
        "effects": fact.effects if facts else None,
        "calls": fact.calls if facts else None,
        "redundant": fact.redundant if facts else None,
    }
