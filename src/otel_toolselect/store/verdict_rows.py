"""Verdicts as rows of `verdicts` and back (sql/0004)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence, Sized
from itertools import chain
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
    """Columns for an insert into `verdicts`, without those that are null, and lists that are empty, in every row."""
    found = c.known(verdicts, _PLAIN)
    tags = [v.tags for v in verdicts]
    if any(tags):
        maps = c.Maps()
        for tagged in tags:
            maps.keys += tagged.keys()
            maps.texts += tagged.values()
            maps.end_row()
        found["Tags"] = maps.array()
    found |= {
        "Version": c.column([version] * len(verdicts), c.UINT64),
        "Start": c.column([v.start_ns for v in verdicts], c.TIME),
    }
    return found | _nested(verdicts)


def _nested(verdicts: Sequence[RunVerdict]) -> dict[str, pa.Array]:
    """The columns of `_NESTED`: the items of all verdicts in one list for each group, in the order of its columns."""
    evidence = _Evidence()
    layers = [v.layers for v in verdicts]
    found: dict[str, pa.Array] = {}
    said = c.attributes([layer for of in layers for layer in of.values()], ("status", "explanation", "evidence"))
    names = [name for of in layers for name in of]
    _add(found, "Layers", layers, (names, *_written(said, evidence)))
    for group, attribute, fields in _GROUPS:
        rows = [getattr(v, attribute) for v in verdicts]
        _add(found, group, rows, _written(c.attributes(list(chain.from_iterable(rows)), fields), evidence))
    return found


_GROUPS = (
    ("Cells", "cells", ("expected", "observed")),
    ("CallScores", "call_scores", ("seq", "name", "passed")),
    ("Findings", "findings", ("check", "layer", "status", "explanation", "evidence")),
)


def _written(values: Mapping[str, Sequence[Any]], evidence: _Evidence) -> list[Sequence[Any]]:
    return [list(map(evidence.text, found)) if name == "evidence" else found for name, found in values.items()]


def _add(found: dict[str, pa.Array], group: str, rows: Sequence[Sized], columns: Sequence[Sequence[Any]]) -> None:
    names = [name for name in _NESTED if name.startswith(group + ".")]
    if any(rows):
        for name, values in zip(names, columns, strict=True):
            found[name] = c.grouped(rows, c.column(values, _NESTED[name]))


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
