"""Verdicts as rows of `verdicts` and back (sql/0004)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from otel_toolselect.model.values import writer
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


def _plain(value: Any) -> Any:
    return sorted(value, key=str) if isinstance(value, (set, frozenset)) else str(value)


# in the order given: a reader sees evidence as the check wrote it; what is no JSON is kept as its text
_write = writer(sort_keys=False, default=_plain)


class _Evidence:
    """Evidence as JSON text. The commonest findings are one object in many verdicts, whose text is made once."""

    def __init__(self) -> None:
        self._texts: dict[int, tuple[str, Mapping[str, Any]]] = {}

    def text(self, value: Mapping[str, Any]) -> str:
        if not value:
            return "{}"
        found = self._texts.get(id(value))
        if found is None:  # the value is kept with its text, so that no other object gets its id
            found = self._texts[id(value)] = _write(value), value
        return found[0]


_NESTED: dict[str, pa.DataType] = {
    "Layers.Layer": c.TEXT,
    "Layers.Status": c.TEXT,
    "Layers.Explanation": c.TEXT,
    "Layers.Evidence": c.TEXT,
    "Cells.Expected": c.TEXT,
    "Cells.Observed": c.TEXT,
    "CallScores.Seq": c.INT64,
    "CallScores.Name": c.TEXT,
    "CallScores.Passed": c.BOOL,
    "Findings.Check": c.TEXT,
    "Findings.Layer": c.TEXT,
    "Findings.Status": c.TEXT,
    "Findings.Explanation": c.TEXT,
    "Findings.Evidence": c.TEXT,
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
    return found | _nested(verdicts)


def _nested(verdicts: Sequence[RunVerdict]) -> dict[str, pa.Array]:
    """The columns of `_NESTED`: the items of all verdicts in one list for each group, in the order of its columns."""
    evidence = _Evidence()
    items: dict[str, list[tuple[Any, ...]]] = {
        "Layers": [
            (name, layer.status, layer.explanation, evidence.text(layer.evidence))
            for v in verdicts
            for name, layer in v.layers.items()
        ],
        "Cells": [(cell.expected, cell.observed) for v in verdicts for cell in v.cells],
        "CallScores": [(score.seq, score.name, score.passed) for v in verdicts for score in v.call_scores],
        "Findings": [
            (f.check, f.layer, f.status, f.explanation, evidence.text(f.evidence)) for v in verdicts for f in v.findings
        ],
    }
    counts = {
        "Layers": [len(v.layers) for v in verdicts],
        "Cells": [len(v.cells) for v in verdicts],
        "CallScores": [len(v.call_scores) for v in verdicts],
        "Findings": [len(v.findings) for v in verdicts],
    }
    found: dict[str, pa.Array] = {}
    for group, rows in items.items():
        lists = c.Lists()
        for count in counts[group]:
            lists.end_row(count)
        names = [name for name in _NESTED if name.startswith(group + ".")]
        columns = zip(*rows, strict=True) if rows else ((),) * len(names)
        for name, values in zip(names, columns, strict=True):
            found[name] = lists.of(c.column(list(values), _NESTED[name]))
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
