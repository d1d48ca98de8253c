"""Decisions as rows of `judgements` and back (sql/0007)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa

from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.verdicts import LAYERS, Cell
from otel_toolselect.store import columns as c

# column -> attribute; "" stands for None
_TEXTS: dict[str, str] = {
    "Suite": "suite",
    "Rule": "rule",
    "RunId": "run_id",
    "TraceId": "trace_id",
    "CaseId": "case_id",
    "Status": "status",
    "FirstAction": "first_action",
    "ObservedClass": "observed_class",
    "Severity": "severity",
    "Origin": "origin",
    "ServiceName": "service",
    "Tenant": "tenant",
}
_OPTIONAL: dict[str, str] = {
    "Excluded": "excluded",
    "Failure": "failure",
    "Owner": "owner",
    "Risk": "risk",
    "Agent": "agent",
    "Provider": "provider",
    "Model": "model",
    "PromptVersion": "prompt_version",
    "CatalogId": "catalog_id",
    "Label": "label",
    "PolicyVersion": "policy_version",
}
_COUNTS: dict[str, str] = {
    "FailedCalls": "failed_calls",
    "Loops": "loops",
}
_LISTS: dict[str, str] = {
    "Ghosts": "ghosts",
    "Forbidden": "forbidden",
    "Unauthorized": "unauthorized",
}
# (tool, yes or no) of some calls, as two columns
_FLAGGED: dict[str, tuple[str, str]] = {
    "calls": ("Calls", "CallsRedundant"),
    "scored": ("Scored", "ScoredRight"),
}
_MEASURES: dict[str, tuple[str, pa.DataType]] = {
    "DurationNs": ("duration_ns", c.INT64),
    "InputTokens": ("input_tokens", c.INT64),
    "OutputTokens": ("output_tokens", c.INT64),
    "CostUsd": ("cost_usd", c.DOUBLE),
}
_TEXTS_AND_OPTIONAL = _TEXTS | _OPTIONAL
_ATTRIBUTES = (
    *_TEXTS_AND_OPTIONAL.values(), *_COUNTS.values(), *_LISTS.values(), *_FLAGGED, "layers", "cells", "start_ns",
    "counts",
)  # fmt: skip
_LAYER_COLUMNS = {layer.capitalize(): layer for layer in LAYERS}
_HOUR_NS = 3_600 * 10**9
_LAST_HOUR = (2**32 - 2 * 86_400) // 3_600 * 3_600
"""A DateTime ends in 2106; two days before that, for a search looks a day further than where a run is filed."""

READ_COLUMNS: dict[str, str] = {
    name: name
    for name in (
        *_TEXTS, *_OPTIONAL, *_COUNTS, *_MEASURES, *_LAYER_COLUMNS, *_LISTS, "Expected", "Observed",
        *(name for pair in _FLAGGED.values() for name in pair), "StartNs", "Counts",
    )
}  # fmt: skip


def hour_of(start_ns: int) -> int:
    """The hour that a row is filed under: seconds since the epoch. All that is later is filed under the last hour."""
    return min(start_ns // _HOUR_NS * 3_600, _LAST_HOUR)


def decision_columns(decisions: Sequence[Decision], version: int) -> dict[str, pa.Array]:
    """Columns for an insert into `judgements`. What is "", 0, null or empty in every row is left out, as that is what
    the table has where nothing is given.
    """
    rows = c.attributes(decisions, _ATTRIBUTES)
    found = c.known(decisions, _MEASURES)
    for name, key in _TEXTS_AND_OPTIONAL.items():
        if any(rows[key]):
            found[name] = c.column([text or "" for text in rows[key]] if None in rows[key] else rows[key], c.TEXT)
    for name, key in _COUNTS.items():
        if any(rows[key]):
            found[name] = c.column(rows[key], c.UINT32)
    for name, key in _LISTS.items():
        if any(rows[key]):
            found[name] = c.nested(rows[key], c.TEXT)
    for name, layer in _LAYER_COLUMNS.items():
        said = [layers.get(layer, "") for layers in rows["layers"]]
        if any(said):
            found[name] = c.column(said, c.TEXT)
    for key, (names, flags) in _FLAGGED.items():
        if any(rows[key]):
            tools, marks = zip(*chain.from_iterable(rows[key]), strict=True)
            found[names] = c.grouped(rows[key], c.column(tools, c.TEXT))
            found[flags] = c.grouped(rows[key], c.column(marks, c.BOOL).cast(c.UINT8))
    if any(rows["cells"]):
        cells = c.attributes(list(chain.from_iterable(rows["cells"])), ("expected", "observed"))
        found["Expected"] = c.grouped(rows["cells"], c.column(cells["expected"], c.TEXT))
        found["Observed"] = c.grouped(rows["cells"], c.column(cells["observed"], c.TEXT))
    starts = rows["start_ns"]
    return found | {
        "Hour": c.column(list(map(hour_of, starts)), c.UINT32),
        "Version": c.column([version] * len(decisions), c.UINT64),
        "Start": c.column(starts, c.TIME),
        "StartNs": c.column(starts, c.UINT64),
        "Counts": c.column(rows["counts"], c.BOOL).cast(c.UINT8),
    }


def gone_columns(keys: Sequence[tuple[str, int, str, str]], version: int) -> dict[str, pa.Array]:
    """Rows that mark keys (suite, hour, run id, rule) as gone."""
    suites, hours, runs, rules = zip(*keys, strict=True)
    return {
        "Suite": c.column(suites, c.TEXT),
        "Hour": c.column(hours, c.UINT32),
        "RunId": c.column(runs, c.TEXT),
        "Rule": c.column(rules, c.TEXT),
        "Version": c.column([version] * len(keys), c.UINT64),
        "Gone": c.column([1] * len(keys), c.UINT8),
    }


def read_decisions(found: Mapping[str, list[Any]]) -> Iterator[Decision]:
    """Decisions of the columns of `READ_COLUMNS`."""
    for i in range(len(found.get("RunId", ()))):
        row = {name: values[i] for name, values in found.items()}
        plain: dict[str, Any] = {key: row[name] for name, key in (_TEXTS | _COUNTS).items()}
        plain |= {key: row[name] or None for name, key in _OPTIONAL.items()}
        plain |= {key: row[name] for name, (key, _) in _MEASURES.items()}
        plain |= {key: tuple(row[name]) for name, key in _LISTS.items()}
        plain |= {key: _flagged(row[names], row[flags]) for key, (names, flags) in _FLAGGED.items()}
        yield Decision(
            **plain,
            start_ns=row["StartNs"],
            counts=bool(row["Counts"]),
            layers={layer: row[name] for name, layer in _LAYER_COLUMNS.items() if row[name]},
            cells=tuple(map(Cell, row["Expected"], row["Observed"])),
        )


def _flagged(names: Sequence[str], flags: Sequence[int]) -> tuple[tuple[str, bool], ...]:
    return tuple((name, bool(flag)) for name, flag in zip(names, flags, strict=True))
