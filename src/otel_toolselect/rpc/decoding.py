"""Messages to data of the model: see `encoding`. Never raises for a message that the other side made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from otel_toolselect.model.alerting import Scope, Window
from otel_toolselect.model.answers import Evaluation, Judgement, LabelOutcome, ServedSuite, Windowed
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.figures import Confusion, Rate, ToolFigures, WorstRecall
from otel_toolselect.model.verdicts import CallScore, Cell, Finding, LayerVerdict, RunVerdict
from otel_toolselect.rpc.encoding import LISTS_IN_DECISION, OPTIONAL_IN_DECISION, SAME_IN_DECISION
from otel_toolselect.rpc.gen import confusion_service_pb2 as confusion
from otel_toolselect.rpc.gen import evaluation_service_pb2 as evaluation
from otel_toolselect.rpc.gen import verdict_pb2 as messages
from otel_toolselect.rpc.words import EXCLUSION, KIND, LAYER, ORIGIN, SEVERITY, STATUS


def evidence(text: str) -> Mapping[str, Any]:
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _set(message: Any, name: str) -> Any:
    """The value of an optional field, None when it is not set."""
    return getattr(message, name) if message.HasField(name) else None


def _excluded(message: Any) -> Any:
    return EXCLUSION.word(message.excluded) if message.HasField("excluded") else None


def verdict(found: messages.Verdict) -> RunVerdict:
    return RunVerdict(
        run_id=found.run_id,
        trace_id=found.trace_id,
        suite=found.suite,
        case_id=found.case_id,
        first_action=found.first_action,
        observed_class=found.observed_class,
        layers={
            LAYER.word(one.layer): LayerVerdict(STATUS.word(one.status), one.explanation, evidence(one.evidence_json))
            for one in found.layers
        },
        parent_run_id=_set(found, "parent_run_id"),
        attempt=_set(found, "attempt"),
        label=_set(found, "label"),
        request=_set(found, "request"),
        risk=_set(found, "risk"),
        tags=dict(found.tags),
        cells=_cells(found.cells),
        call_scores=tuple(CallScore(one.seq, one.name, one.passed) for one in found.call_scores),
        findings=tuple(map(_finding, found.findings)),
        excluded=_excluded(found),
        failure=_set(found, "failure"),
        owner=_set(found, "owner"),
        policy_version=_set(found, "policy_version"),
        model=_set(found, "model"),
        prompt_version=_set(found, "prompt_version"),
        catalog_id=_set(found, "catalog_id"),
        start_ns=found.start_unix_nano,
    )


def _finding(found: messages.Finding) -> Finding:
    return Finding(
        found.check,
        LAYER.word(found.layer),
        STATUS.word(found.status),
        found.explanation,
        evidence(found.evidence_json),
    )


def _cells(found: Iterable[messages.Cell]) -> tuple[Cell, ...]:
    return tuple(Cell(one.expected, one.observed) for one in found)


def decision(found: messages.Decision) -> Decision:
    plain: dict[str, Any] = {name: getattr(found, name) for name in SAME_IN_DECISION}
    plain |= {name: _set(found, name) for name in OPTIONAL_IN_DECISION}
    plain |= {name: tuple(getattr(found, name)) for name in LISTS_IN_DECISION}
    return Decision(
        **plain,
        start_ns=found.start_unix_nano,
        status=STATUS.word(found.status),
        cells=_cells(found.cells),
        layers={LAYER.word(one.layer): STATUS.word(one.status) for one in found.layers},
        excluded=_excluded(found),
        severity=SEVERITY.optional(found.severity),
        origin=ORIGIN.word(found.origin),
        calls=tuple((one.tool, one.flag) for one in found.calls),
        scored=tuple((one.tool, one.flag) for one in found.scored),
        failed_calls=found.failed_calls,
        loops=found.loops,
        duration_ns=_set(found, "duration_nano"),
        input_tokens=_set(found, "input_tokens"),
        output_tokens=_set(found, "output_tokens"),
        cost_usd=_set(found, "cost_usd"),
        counts=found.counts,
    )


def evaluation_of(found: evaluation.Evaluation) -> Evaluation:
    return Evaluation(
        suite=found.suite,
        kind=KIND.word(found.kind),
        judgements=tuple(Judgement(verdict(one.verdict), SEVERITY.optional(one.severity)) for one in found.judgements),
        runs=found.runs,
        unmatched_runs=found.unmatched_runs,
        warnings=tuple(found.warnings),
    )


def served(found: evaluation.ListSuitesResponse) -> tuple[ServedSuite, ...]:
    return tuple(ServedSuite(one.name, KIND.word(one.kind), one.version, one.cases) for one in found.suites)


def label_outcome(found: evaluation.EvaluateLabelResponse) -> LabelOutcome:
    return LabelOutcome(
        run_id=found.run_id,
        accepts=found.accepts,
        verdict=verdict(found.verdict),
        decisions=tuple(map(decision, found.decisions)),
        stored=found.stored,
        changed=found.changed,
    )


def scope(found: confusion.Scope) -> Scope:
    return Scope(
        suite=tuple(found.suites),
        policy=tuple(found.policies),
        tool=tuple(found.tools),
        agent=tuple(found.agents),
        service=tuple(found.services),
        model=tuple(found.models),
        prompt=tuple(found.prompts),
        catalog=tuple(found.catalogs),
        tenant=tuple(found.tenants),
        origin=tuple(ORIGIN.word(number) for number in found.origins),
        pair=(found.pair.expected, found.pair.observed) if found.HasField("pair") else None,
    )


def windowed(found: confusion.WindowFigures) -> Windowed:
    right = found.right
    low, high = _set(right, "ci95_low"), _set(right, "ci95_high")
    worst = found.worst_recall
    return Windowed(
        window=Window(found.start_unix_nano, found.end_unix_nano),
        series=tuple((one.name, one.value) for one in found.by),
        right=Rate(right.passed, right.n, _set(right, "rate"), None if low is None else (low, high)),
        confusion=Confusion(
            cells=tuple((Cell(one.cell.expected, one.cell.observed), one.n) for one in found.cells),
            tools={one.tool: _figures(one) for one in found.tools},
            worst_recall=WorstRecall(worst.tool, worst.recall, worst.support)
            if found.HasField("worst_recall")
            else None,
        ),
    )


def _figures(found: confusion.ToolFigures) -> ToolFigures:
    return ToolFigures(
        recall=_set(found, "recall"),
        precision=_set(found, "precision"),
        f1=_set(found, "f1"),
        support=found.support,
        chosen=found.chosen,
        correct=found.correct,
    )
