"""Verdicts as rows of `verdicts` and back (sql/0004)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from otel_toolselect.model.verdicts import CallScore, Cell, Finding, LayerVerdict, RunVerdict
from otel_toolselect.store import columns as c

_PLAIN: dict[str, tuple[str, pa.DataType]] = {
    "Suite": ("suite", c.TEXT),
    "RunId": ("run_id", c.TEXT),
    "TraceId": ("trace_id", c.TEXT),
    "CaseId": ("case_id", c.TEXT),
    "FirstAction": ("first_action", c.TEXT),
    "ObservedClass": ("observed_class", c.TEXT),
    "ParentRunId": ("parent_run_id", c.TEXT),
    "Attempt": ("attempt", c.INT64),
    "Label": ("label", c.TEXT),
    "Request": ("request", c.TEXT),
    "Risk": ("risk", c.TEXT),
    "Excluded": ("excluded", c.TEXT),
    "Failure": ("failure", c.TEXT),
    "Owner": ("owner", c.TEXT),
    "PolicyVersion": ("policy_version", c.TEXT),
    "Model": ("model", c.TEXT),
    "PromptVersion": ("prompt_version", c.TEXT),
    "CatalogId": ("catalog_id", c.TEXT),
    "StartNs": ("start_ns", c.UINT64),
}


def _evidence(value: Mapping[str, Any]) -> str:
    # in the order given: a reader sees evidence as the check wrote it; what is no JSON is kept as its text
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: Any) -> Any:
    return sorted(value, key=str) if isinstance(value, (set, frozenset)) else str(value)


# nested column -> (the run's list, Arrow type)
_NESTED: dict[str, tuple[Callable[[RunVerdict], list[Any]], pa.DataType]] = {
    "Layers.Layer": (lambda v: list(v.layers), c.TEXT),
    "Layers.Status": (lambda v: [x.status for x in v.layers.values()], c.TEXT),
    "Layers.Explanation": (lambda v: [x.explanation for x in v.layers.values()], c.TEXT),
    "Layers.Evidence": (lambda v: [_evidence(x.evidence) for x in v.layers.values()], c.TEXT),
    "Cells.Expected": (lambda v: [x.expected for x in v.cells], c.TEXT),
    "Cells.Observed": (lambda v: [x.observed for x in v.cells], c.TEXT),
    "CallScores.Seq": (lambda v: [x.seq for x in v.call_scores], c.INT64),
    "CallScores.Name": (lambda v: [x.name for x in v.call_scores], c.TEXT),
    "CallScores.Passed": (lambda v: [x.passed for x in v.call_scores], c.BOOL),
    "Findings.Check": (lambda v: [x.check for x in v.findings], c.TEXT),
    "Findings.Layer": (lambda v: [x.layer for x in v.findings], c.TEXT),
    "Findings.Status": (lambda v: [x.status for x in v.findings], c.TEXT),
    "Findings.Explanation": (lambda v: [x.explanation for x in v.findings], c.TEXT),
    "Findings.Evidence": (lambda v: [_evidence(x.evidence) for x in v.findings], c.TEXT),
}

READ_COLUMNS: dict[str, str] = {name: name for name in (*_PLAIN, "Tags", *_NESTED)}


def verdict_columns(verdicts: Sequence[RunVerdict], version: int) -> dict[str, pa.Array]:
    """Columns for an insert into `verdicts`."""
    found = {
        name: c.column([getattr(v, attribute) for v in verdicts], kind) for name, (attribute, kind) in _PLAIN.items()
    }
    tags = c.Maps()
    for verdict in verdicts:
        tags.keys += verdict.tags.keys()
        tags.texts += verdict.tags.values()
        tags.end_row()
    found |= {
        "Version": c.column([version] * len(verdicts), c.UINT64),
        "Start": c.column([v.start_ns for v in verdicts], c.TIME),
        "Tags": tags.array(),
    }
    for name, (get, kind) in _NESTED.items():
        found[name] = c.nested([get(v) for v in verdicts], kind)
    return found


def read_verdicts(found: Mapping[str, list[Any]]) -> Iterator[RunVerdict]:
    """Verdicts of the columns of `READ_COLUMNS`."""
    for i in range(len(found.get("RunId", ()))):
        row = {name: values[i] for name, values in found.items()}
        yield RunVerdict(
            **{attribute: row[name] for name, (attribute, _) in _PLAIN.items()},
            tags=row["Tags"],
            layers={
                layer: LayerVerdict(status, explanation, json.loads(evidence))
                for layer, status, explanation, evidence in _zip(row, "Layers")
            },
            cells=tuple(Cell(*cell) for cell in _zip(row, "Cells")),
            call_scores=tuple(CallScore(seq, name, bool(ok)) for seq, name, ok in _zip(row, "CallScores")),
            findings=tuple(
                Finding(check, layer, status, explanation, json.loads(evidence))
                for check, layer, status, explanation, evidence in _zip(row, "Findings")
            ),
        )


def _zip(row: Mapping[str, Any], group: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(row[name] for name in _NESTED if name.startswith(group + ".")), strict=True)
