"""The report for programs, schema `toolselect.report/1` (design section 8).

Byte-identical for the same verdicts in whatever order they came: runs are sorted by case, attempt and run id,
cells by their labels, layers in their fixed order.
"""

from __future__ import annotations

from typing import Any

from otel_toolselect.model.figures import Confusion, Rate, Report, Summary
from otel_toolselect.model.verdicts import LAYERS, LayerVerdict, RunVerdict
from otel_toolselect.reports._plain import dumps, sorted_members

SCHEMA = "toolselect.report/1"


class JsonWriter:
    """Writes one JSON document, indented by two."""

    name = "json"

    def render(self, report: Report, *, colour: bool = False, width: int = 0) -> str:
        document = {
            "schema": SCHEMA,
            "suite": report.suite,
            "summary": _summary(report.summary),
            "confusion": _confusion(report.confusion),
            "runs": [_run(run) for run in report.runs],
        }
        return dumps(document, indent=2) + "\n"


def _summary(summary: Summary) -> dict[str, Any]:
    return {
        "runs": summary.runs,
        "judged": summary.judged,
        "excluded": {
            "infra": summary.infra,
            "catalog_gap": summary.catalog_gap,
            "incomplete": summary.incomplete,
        },
        **{layer: _rate(summary.layers[layer]) for layer in LAYERS if layer in summary.layers},
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {"passed": rate.passed, "n": rate.n, "rate": rate.rate, "ci95": rate.ci95}


def _confusion(confusion: Confusion) -> dict[str, Any]:
    worst = confusion.worst_recall
    return {
        "cells": [{"expected": c.expected, "observed": c.observed, "n": n} for c, n in confusion.cells],
        "tools": {
            name: {
                "recall": tool.recall,
                "precision": tool.precision,
                "f1": tool.f1,
                "support": tool.support,
                "chosen": tool.chosen,
            }
            for name, tool in confusion.tools.items()
        },
        "worst_recall": worst and {"tool": worst.tool, "recall": worst.recall, "support": worst.support},
    }


def _run(run: RunVerdict) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "parent_run_id": run.parent_run_id,
        "trace_id": run.trace_id,
        "case_id": run.case_id,
        "attempt": run.attempt,
        "first_action": run.first_action,
        "observed_class": run.observed_class,
        "layers": {layer: _layer(run.layers[layer]) for layer in LAYERS if layer in run.layers},
        "failure": run.failure,
        "owner": run.owner,
    }


def _layer(verdict: LayerVerdict) -> dict[str, Any]:
    return {
        "status": verdict.status,
        "evidence": sorted_members(verdict.evidence),
        "explanation": verdict.explanation,
    }


PLUGIN = JsonWriter()
