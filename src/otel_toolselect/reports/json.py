"""The report for programs, schema `toolselect.report/1` (design section 8; `_figures` has what was added to it).

Byte-identical for the same verdicts in whatever order they came: runs are sorted by case, attempt and run id,
cells by their labels, layers in their fixed order.
"""

from __future__ import annotations

from typing import Any

from otel_toolselect.model.figures import Confusion, Report, Summary
from otel_toolselect.model.verdicts import LAYERS, LayerVerdict, RunVerdict
from otel_toolselect.reports._figures import averages_record, rate_record, run_members, suite_members
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
            "confusion": confusion_record(report.confusion),
            "runs": [_run(run) | run_members(run, report.facts.get(run.run_id)) for run in report.runs],
            **suite_members(report),
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
        **{layer: rate_record(summary.layers[layer]) for layer in LAYERS if layer in summary.layers},
    }


def confusion_record(confusion: Confusion) -> dict[str, Any]:
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
        "averages": averages_record(confusion),
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
