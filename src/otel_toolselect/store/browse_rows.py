"""What lists show, out of rows of `judgements`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_toolselect.store.browse_api import CaseHistory, CaseRun, RunSummary, Standing

# column -> attribute; "" stands for None
_TEXTS = {
    "RunId": "run_id", "TraceId": "trace_id", "FirstAction": "first_action", "ObservedClass": "observed_class",
    "ServiceName": "service", "Tenant": "tenant",
}  # fmt: skip
_OPTIONAL = {
    "Agent": "agent", "Model": "model", "Provider": "provider", "PromptVersion": "prompt_version",
    "CatalogId": "catalog_id", "CaseId": "case_id", "Label": "label",
}  # fmt: skip
_MEASURES = {
    "StartNs": "start_ns", "DurationNs": "duration_ns", "InputTokens": "input_tokens",
    "OutputTokens": "output_tokens", "CostUsd": "cost_usd", "CallCount": "calls",
}  # fmt: skip


def read_summaries(
    found: Mapping[str, list[Any]],
    standings: Mapping[str, list[Standing]],
    requests: Mapping[str, str | None],
) -> dict[str, RunSummary]:
    """By run id."""
    rows = [{name: values[i] for name, values in found.items()} for i in range(len(found.get("RunId", ())))]
    return {
        row["RunId"]: RunSummary(
            **_facts(row),
            request=requests.get(row["RunId"]),
            incomplete=row["Excluded"] == "incomplete",
            ghosts=tuple(row["Ghosts"]),
            standings=tuple(standings.get(row["RunId"], ())),
        )
        for row in rows
    }


def read_standings(found: Mapping[str, list[Any]]) -> dict[str, list[Standing]]:
    """By run id, in the order of the rows."""
    standings: dict[str, list[Standing]] = {}
    for i in range(len(found.get("RunId", ()))):
        row = {name: values[i] for name, values in found.items()}
        standings.setdefault(row["RunId"], []).append(_standing(row))
    return standings


def _facts(row: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: row[name] for name, key in (_TEXTS | _MEASURES).items()}
    return plain | {key: row[name] or None for name, key in _OPTIONAL.items()}


def _standing(row: Mapping[str, Any]) -> Standing:
    return Standing(
        suite=row["Suite"],
        rule=row["Rule"],
        status=row["Status"],
        expected=row["Wanted"],
        observed=row["Got"],
        failure=row["Failure"] or None,
        owner=row["Owner"] or None,
        excluded=row["Excluded"] or None,
        severity=row["Severity"],
        origin=row["Origin"],
    )


def read_case_runs(found: Mapping[str, list[Any]]) -> dict[str, list[CaseRun]]:
    """By case, in the order of the rows."""
    runs: dict[str, list[CaseRun]] = {}
    for i in range(len(found.get("RunId", ()))):
        row = {name: values[i] for name, values in found.items()}
        one = CaseRun(
            run_id=row["RunId"],
            start_ns=row["StartNs"],
            status=row["Status"],
            first_action=row["FirstAction"],
            selection=row["Selection"],
            expected=row["Wanted"],
            observed=row["Got"],
            excluded=row["Excluded"] or None,
            failure=row["Failure"] or None,
            owner=row["Owner"] or None,
            label=row["Label"] or None,
            model=row["Model"] or None,
        )
        runs.setdefault(row["CaseId"], []).append(one)
    return runs


def history(
    suite: str, row: Sequence[Any], recent: Sequence[CaseRun], older_failures: Sequence[CaseRun]
) -> CaseHistory:
    """`row`: name, runs, statuses, first and last start. `recent`, `older_failures`: newest first."""
    name, n, statuses, first, last = row
    failed = next((run for run in (*recent, *older_failures) if run.status == "fail"), None)
    return CaseHistory(suite, name, n, statuses, first, last, tuple(reversed(recent)), failed)
