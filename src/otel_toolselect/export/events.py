"""A decision as an event `gen_ai.evaluation.result` of OpenTelemetry's semantic conventions for GenAI.

    gen_ai.evaluation.name          the suite, or RULES/RULE
    gen_ai.evaluation.score.label   pass, fail, needs_review, n/a or excluded
    gen_ai.evaluation.score.value   1 for pass, 0 for fail, absent otherwise
    gen_ai.evaluation.explanation   which layers failed, what was expected and observed: names and labels only

The record bears the trace id and the span id of the run's root, so that it shows beside the trace. Attributes of our
own begin with `toolselect.`. `toolselect.decision.key` names the decision: of several events with one key (a run that
was judged again, a batch that was sent twice) the one with the greatest `toolselect.decision.version` counts. Nothing
of a trace's content is in it: no texts, no arguments, no results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from otel_toolselect.assemble import run_id
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.runs import TENANT
from otel_toolselect.model.values import digest
from otel_toolselect.store.judged_api import Kept

EVENT = "gen_ai.evaluation.result"
Value: TypeAlias = str | int | float | bool | Sequence[str]
_SCORES = {"pass": 1.0, "fail": 0.0}
_LONGEST = 1_000
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Event:
    """`key`: of the decision; `content`: a digest of everything but when it was kept. Ids are 0 where not known."""

    key: str
    content: str
    time_ns: int
    trace_id: int
    span_id: int
    attributes: Mapping[str, Value]


def event_of(kept: Kept, root: str | None) -> Event:
    """`root`: the id of the span that the run begins with."""
    decision = kept.decision
    key = key_of(decision)
    attributes = attributes_of(decision)
    content = digest([attributes, decision.trace_id, root])
    own: dict[str, Value] = {"toolselect.decision.key": key, "toolselect.decision.version": kept.version}
    trace_id = _number(decision.trace_id, 32)
    return Event(
        key, content, kept.version, trace_id, _number(root or "", 16) if trace_id else 0, {**attributes, **own}
    )


def is_judged(decision: Decision) -> bool:
    """Whether somebody expected something: a run under no expectation is no evaluation."""
    return bool(decision.suite)


def key_of(decision: Decision) -> str:
    return digest([decision.suite, decision.rule, decision.run_id]).removeprefix("sha256:")[:32]


def root_of(decision: Decision, span_ids: Sequence[str]) -> str | None:
    """Of the spans of a trace the one that the run's id is made of."""
    of, tenant = decision.trace_id, decision.tenant
    return next((span for span in span_ids if run_id(of, span, tenant) == decision.run_id), None)


def attributes_of(d: Decision) -> dict[str, Value]:
    """What is not known is left out."""
    found: dict[str, Value | None] = {
        "gen_ai.evaluation.name": f"{d.suite}/{d.rule}" if d.rule else d.suite,
        "gen_ai.evaluation.score.label": d.status,
        "gen_ai.evaluation.score.value": _SCORES.get(d.status),
        "gen_ai.evaluation.explanation": explanation(d),
        "gen_ai.agent.name": d.agent,
        "gen_ai.provider.name": d.provider,
        "gen_ai.request.model": d.model,
        "toolselect.suite": d.suite,
        "toolselect.rule": d.rule,
        "toolselect.run.id": d.run_id,
        "toolselect.case.id": d.case_id,
        "toolselect.label": d.label,
        "toolselect.service": d.service,
        TENANT: d.tenant,
        "toolselect.first_action": d.first_action,
        "toolselect.observed_class": d.observed_class,
        "toolselect.expected": [cell.expected for cell in d.cells],
        "toolselect.observed": [cell.observed for cell in d.cells],
        "toolselect.excluded": d.excluded,
        "toolselect.failure": d.failure,
        "toolselect.owner": d.owner,
        "toolselect.severity": d.severity,
        "toolselect.risk": d.risk,
        "toolselect.origin": d.origin,
        "toolselect.prompt_version": d.prompt_version,
        "toolselect.catalog_id": d.catalog_id,
        "toolselect.policy_version": d.policy_version,
    }
    found |= {f"toolselect.layer.{layer}": status for layer, status in d.layers.items()}
    return {name: _sendable(value) for name, value in found.items() if value is not None and value not in ("", [])}


def _sendable(value: Value) -> Value:
    """Names may come from traces: a lone surrogate, which is no UTF-8, becomes a question mark, a long one is cut."""
    if isinstance(value, str):
        return value[:_LONGEST].encode("utf-8", "replace").decode()
    return [str(_sendable(text)) for text in value] if isinstance(value, Sequence) else value


def explanation(d: Decision) -> str:
    """One line, of names and labels."""
    if d.excluded:
        return f"left out of the figures: {d.excluded}"
    failed = [layer for layer, status in d.layers.items() if status == "fail"]
    wrong = [
        f"expected {cell.expected}, observed {cell.observed}" for cell in d.cells if cell.expected != cell.observed
    ]
    named = [*([f"failed: {', '.join(failed)}"] if failed else []), *wrong, *([d.failure] if d.failure else [])]
    return "; ".join(named) or d.status


def _number(text: str, digits: int) -> int:
    """A trace or span id; 0 for what is none."""
    small = text.lower()
    return int(small, 16) if len(small) == digits and _HEX.issuperset(small) else 0
