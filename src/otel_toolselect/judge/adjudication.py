"""Adjudication of flagged failures (R37): real defect, or a legitimate alternative that the rule did not foresee?

A second look, never a verdict. Each layer that failed keeps its status whatever the judge says; its evidence gets an
`adjudication` with question, prompt, answer and model, and its sentence says that a judge disagrees, so that a person
reviews it. A crash, an exclusion and a forbidden call that was observed are not asked about: nothing excuses the last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from otel_toolselect.model.questions import Question
from otel_toolselect.model.runs import AssistantText, Run, ToolCall, ToolResult, Unknown
from otel_toolselect.model.values import canonical
from otel_toolselect.model.verdicts import LAYERS, Finding, Layer, LayerVerdict, RunVerdict, SuiteVerdicts
from otel_toolselect.rules.asking import Asker

CHECK = "adjudication"
_MAX_EVENT = 600
_MAX_EVENTS = 60


def adjudicate(verdicts: SuiteVerdicts, runs: Mapping[str, Run], asker: Asker) -> SuiteVerdicts:
    """The same verdicts, with the judge's opinion beside each failed layer."""
    seen = tuple(adjudicate_run(v, runs[v.run_id], asker) if v.run_id in runs else v for v in verdicts.runs)
    return replace(verdicts, runs=seen)


def adjudicate_run(verdict: RunVerdict, run: Run, asker: Asker) -> RunVerdict:
    failed = [] if verdict.excluded else [name for name in LAYERS if _open_to_opinion(verdict.layers.get(name))]
    if not failed:
        return verdict
    layers: dict[Layer, LayerVerdict] = dict(verdict.layers)
    findings: list[Finding] = []
    for name in failed:
        before = layers[name]
        question = question_of(run, name, before)
        answer = asker.ask(question)
        record: dict[str, Any] = {"question": question.asks, **answer.record}
        note = _NOTES[answer.yes].format(model=answer.model or "the judge", reason=answer.reason)
        layers[name] = replace(
            before,
            explanation=before.explanation if answer.yes else f"{before.explanation} [{note}]",
            evidence={**before.evidence, CHECK: record},
        )
        findings.append(Finding(CHECK, name, "fail" if answer.yes else "needs_review", note, {CHECK: record}))
    return replace(verdict, layers=layers, findings=(*verdict.findings, *findings))


_NOTES = {
    True: "adjudication: {model} calls it a real defect",
    False: "adjudication: {model} calls it a legitimate alternative; a person should look; the verdict stands",
    None: "adjudication: no answer ({reason})",
}


def _open_to_opinion(layer: LayerVerdict | None) -> bool:
    return layer is not None and layer.status == "fail" and not layer.evidence.get("forbidden_observed")


def question_of(run: Run, layer: Layer, failed: LayerVerdict) -> Question:
    """What a judge is asked about one failed layer: request, offered tools, what was done, the rule's complaint."""
    tools = "\n".join(f"{t.name}: {t.description[:200]}" for t in run.tools or ()) or "(not recorded)"
    return Question(
        f"A rule flagged this agent run ({layer}). Is it a real defect, rather than a legitimate alternative way to "
        "serve the request?",
        (
            ("request", run.request or "(not recorded)"),
            ("offered tools", tools),
            ("what the agent did", transcript(run)),
            ("the rule's complaint", failed.explanation),
        ),
    )


def transcript(run: Run) -> str:
    """The events of a run in one line each, long values cut."""
    lines = [_line(event) for event in run.events[:_MAX_EVENTS]]
    if len(run.events) > _MAX_EVENTS:
        lines.append(f"... and {len(run.events) - _MAX_EVENTS} more events")
    return "\n".join(lines) or "(nothing)"


def _line(event: AssistantText | ToolCall | ToolResult) -> str:
    if isinstance(event, AssistantText):
        text = f"says: {event.text}"
    elif isinstance(event, ToolCall):
        text = f"calls {event.name} with {_shown(event.args)}"
    else:
        outcome = {True: "ok", False: f"failed {event.error_type or ''}".strip(), None: "unknown outcome"}[event.ok]
        text = f"result of {event.name}: {outcome} {_shown(event.value)}"
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_EVENT else flat[: _MAX_EVENT - 1] + "…"


def _shown(value: Any) -> str:
    return f"({value.reason})" if isinstance(value, Unknown) else canonical(value)
