"""One run as the HTML report shows it: facts, layers with evidence, events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from otel_toolselect.model.runs import AssistantText, Event, Run, ToolCall, Unknown
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.reports._material import Material
from otel_toolselect.reports._plain import dumps, short, sorted_members
from otel_toolselect.reports._text import visible
from otel_toolselect.reports._worst import failed_layers

State: TypeAlias = Literal["fail", "review", "pass", "excluded"]
TEXT_LENGTH = 4000  # of one event; a tool may return a whole document
SUMMARY_LENGTH = 140
EVENTS_SHOWN = 200
_WORDS: dict[str, str] = {"fail": "fail", "review": "review", "pass": "pass", "excluded": "left out"}


@dataclass(frozen=True, slots=True)
class RunView:
    """Texts for the template. `haystack` is what the filter searches, in lower case."""

    anchor: str
    state: State
    word: str
    case: str
    kind: str
    owner: str
    request_short: str
    haystack: str
    facts: list[tuple[str, str]]
    layers: list[dict[str, str]]
    events: list[dict[str, Any]]
    note: str


def state_of(run: RunVerdict) -> State:
    """One word per run; what must be looked at outranks what passed."""
    if run.excluded:
        return "excluded"
    if failed_layers(run):
        return "fail"
    return "review" if any(v.status == "needs_review" for v in run.layers.values()) else "pass"


def view(run: RunVerdict, material: Material, *, told: bool) -> RunView:
    """`told`: with layers and events; else only the facts, and how to see the rest."""
    state = state_of(run)
    seen = material.runs.get(run.run_id)
    kind = f"{run.failure}, first to look: {run.owner}" if run.failure else ""
    case = run.case_id if run.attempt is None else f"{run.case_id} #{run.attempt}"
    searched = [run.case_id, run.request or "", run.failure or "", run.first_action, run.run_id, run.trace_id]
    if seen is not None and told:
        searched += [call.name for call in seen.calls]
    return RunView(
        anchor=f"run-{run.run_id}",
        state=state,
        word=_WORDS[state],
        case=visible(case),
        kind=visible(kind),
        owner=visible(run.owner or ""),
        request_short=visible(short(run.request or "", SUMMARY_LENGTH)),
        haystack=visible(" ".join(short(text, 300) for text in dict.fromkeys(searched)).lower()),
        facts=[(name, visible(value)) for name, value in _facts(run, material) if value],
        layers=list(_layers(run)) if told else [],
        events=list(_events(seen)) if seen is not None and told else [],
        note=_note(run, seen, told),
    )


def _facts(run: RunVerdict, material: Material) -> Iterator[tuple[str, str]]:
    yield "request", run.request or ""
    wrong = (f"wanted {c.expected}, got {c.observed}" for c in run.cells if c.expected != c.observed)
    yield "first action", "\n".join(wrong)
    yield "case", material.place(run.case_id)
    yield "risk", run.risk or ""
    yield "model", run.model or ""
    yield "run", run.run_id
    yield "trace", run.trace_id


def _layers(run: RunVerdict) -> Iterator[dict[str, str]]:
    words = {"fail": "fail", "needs_review": "review", "excluded": "excluded"}
    told = [(name, v) for name, v in run.layers.items() if v.status in words]
    for name, verdict in told[:1] if run.excluded else told:
        evidence = dumps(sorted_members(verdict.evidence), indent=1) if verdict.evidence else ""
        yield {
            "name": "left out" if run.excluded else name,
            "state": words[verdict.status],
            "word": run.excluded or verdict.status.replace("_", " "),
            "explanation": visible(verdict.explanation),
            "evidence": visible(evidence[:TEXT_LENGTH]),
        }


def _note(run: RunVerdict, seen: Run | None, told: bool) -> str:
    if not told:
        return "Passed. In a report of this size the events of passes are left out; `toolselect events` shows them."
    if seen is None:
        return "The events of this run are not at hand: judge with `score` or `eval` to see them here."
    return "" if seen.events else "The trace holds no event of this run."


def _events(run: Run) -> Iterator[dict[str, Any]]:
    ordered = sorted(run.events, key=lambda e: e.seq)
    for event in ordered[:EVENTS_SHOWN]:
        yield {"turn": event.turn, "bad": False, "name": "", "how": "", **_event(event)}
    if len(ordered) > EVENTS_SHOWN:
        left = f"and {len(ordered) - EVENTS_SHOWN} more events"
        yield {"turn": ordered[-1].turn, "bad": False, "name": "", "how": left, "kind": "...", "text": ""}


def _event(event: Event) -> dict[str, Any]:
    if isinstance(event, AssistantText):
        return {"kind": "text", "text": visible(event.text[:TEXT_LENGTH])}
    if isinstance(event, ToolCall):
        how = " ".join(word for word, seen in (("emitted", event.emitted), ("executed", event.executed)) if seen)
        return {"kind": "call", "name": visible(event.name), "how": how, "text": _value(event.args)}
    outcome = {True: "ok", False: "failed", None: "outcome not recorded"}[event.ok]
    parts = [outcome, visible(event.error_type or ""), "infrastructure" if event.infra else ""]
    if event.duration_ns is not None:
        parts.append(f"{event.duration_ns / 1e6:.1f} ms")
    how = " ".join(part for part in parts if part)
    return {
        "kind": "result",
        "name": visible(event.name),
        "how": how,
        "text": _value(event.value),
        "bad": event.ok is False,
    }


def _value(value: object) -> str:
    text = f"({value.reason})" if isinstance(value, Unknown) else dumps(value)
    cut = f" … ({len(text)} characters)" if len(text) > TEXT_LENGTH else ""
    return visible(text[:TEXT_LENGTH] + cut)
