"""Runs and events as JSON lines, the stable form of `toolselect events` (design section 8).

Keys of an event that do not apply are absent; arguments that cannot be known are absent too, with
`args_error` saying why. Every key of a run is present, null where the trace does not say (`tools_offered`
null: no catalog was recorded, which is not an empty one). Order: by start of the run, then by `seq`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from otel_toolselect.model.runs import AssistantText, Event, Run, ToolCall, Unknown
from otel_toolselect.reports._plain import dumps


def event_lines(runs: Iterable[Run]) -> Iterator[str]:
    """One line per event."""
    return (dumps(record) + "\n" for record in event_records(runs))


def run_lines(runs: Iterable[Run]) -> Iterator[str]:
    """One line per run."""
    return (dumps(record) + "\n" for record in run_records(runs))


def event_records(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    for run in in_order(runs):
        for event in sorted(run.events, key=lambda e: e.seq):
            yield event_record(run, event)


def run_records(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    return map(run_record, in_order(runs))


def in_order(runs: Iterable[Run]) -> list[Run]:
    return sorted(runs, key=lambda r: (r.start_ns, r.run_id))


def event_record(run: Run, event: Event) -> dict[str, Any]:
    record: dict[str, Any] = {
        "trace_id": run.trace_id,
        "run_id": run.run_id,
        "agent": event.agent or run.agent,
        "turn": event.turn,
        "seq": event.seq,
    }
    if isinstance(event, AssistantText):
        record |= {"kind": "assistant", "text": event.text}
    elif isinstance(event, ToolCall):
        record |= {"kind": "tool_call", "name": event.name}
        if isinstance(event.args, Unknown):
            record["args_error"] = event.args.reason
        else:
            record["args"] = event.args
        record |= {"call_id": event.call_id, "emitted": event.emitted, "executed": event.executed}
    else:
        record |= {"kind": "tool_result", "name": event.name, "call_id": event.call_id, "ok": event.ok}
        record |= {"error_type": event.error_type, "infra": event.infra}
    record = {key: value for key, value in record.items() if value is not None}
    if not isinstance(event, (AssistantText, ToolCall)) and not isinstance(event.value, Unknown):
        record["value"] = event.value  # null is a value
    return record | {"dialect": event.dialect}


def run_record(run: Run) -> dict[str, Any]:
    record: dict[str, Any] = {
        "run_id": run.run_id,
        "parent_run_id": run.parent_run_id,
        "trace_id": run.trace_id,
        "case_id": run.case_id,
        "suite": run.suite,
        "label": run.label,
        "attempt": run.attempt,
        "agent": run.agent,
        "provider": run.provider,
        "model": run.model,
        "prompt_version": run.prompt_version,
        "catalog_id": run.catalog_id,
        "tools_offered": run.tools_offered,
        "conversation_id": run.conversation_id,
        "request": run.request,
        "final_text": run.final_text,
        "first_action": run.first_action,
        "observed_class": run.observed_class,
        "start": timestamp(run.start_ns),
        "duration_s": None if run.duration_ns is None else run.duration_ns / 1e9,
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "cost_usd": run.cost_usd,
        "complete": run.incomplete is None,
        "dialects": run.dialects,
    }
    if run.incomplete is not None:
        record["incomplete"] = run.incomplete
    return record


def timestamp(ns: int) -> str | None:
    """RFC 3339 in UTC with all nine digits; None where the time is unset."""
    if not ns:
        return None
    seconds, rest = divmod(ns, 1_000_000_000)
    try:
        whole = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):  # beyond the year 9999: a broken clock is not our crash
        return None
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
