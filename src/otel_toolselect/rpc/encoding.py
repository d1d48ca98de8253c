"""Data of the model to messages. `decoding` is the way back: what it gives equals what went in, but that tuples in
evidence come back as lists, and that text which is no Unicode (half of a surrogate pair) shows a replacement character.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from otel_toolselect.model.alerting import Scope
from otel_toolselect.model.answers import Evaluation, LabelOutcome, ServedSuite, Windowed
from otel_toolselect.model.decisions import Decision
from otel_toolselect.model.figures import Confusion
from otel_toolselect.model.rulings import overall
from otel_toolselect.model.verdicts import Cell, RunVerdict
from otel_toolselect.rpc.gen import confusion_service_pb2 as confusion
from otel_toolselect.rpc.gen import evaluation_service_pb2 as evaluation
from otel_toolselect.rpc.gen import verdict_pb2 as messages
from otel_toolselect.rpc.words import EXCLUSION, KIND, LAYER, ORIGIN, SEVERITY, STATUS

_SAME_IN_VERDICT = ("run_id", "trace_id", "suite", "case_id", "first_action", "observed_class")
_OPTIONAL_IN_VERDICT = (
    "parent_run_id", "label", "request", "risk", "failure", "owner", "policy_version", "model", "prompt_version",
    "catalog_id",
)  # fmt: skip
SAME_IN_DECISION = (
    "suite", "rule", "run_id", "trace_id", "case_id", "first_action", "observed_class", "service", "tenant",
)  # fmt: skip
OPTIONAL_IN_DECISION = (
    "failure", "owner", "risk", "agent", "provider", "model", "prompt_version", "catalog_id", "label",
    "policy_version",
)  # fmt: skip
LISTS_IN_DECISION = ("ghosts", "forbidden", "unauthorized")
_INT64 = 2**63 - 1


def text(value: str) -> str:
    """Names come from traces, where JSON within JSON may hold half a surrogate pair, which no message can."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value


def json_text(value: Mapping[str, Any]) -> str:
    """ASCII, so that half a surrogate pair survives as an escape; no number loses a digit."""
    return json.dumps(value, separators=(",", ":"), default=str, skipkeys=True) if value else ""


def verdict(found: RunVerdict) -> messages.Verdict:
    made = messages.Verdict(
        status=STATUS.number(overall(found)),
        attempt=found.attempt,
        excluded=None if found.excluded is None else EXCLUSION.number(found.excluded),
        start_unix_nano=found.start_ns,
        cells=map(cell, found.cells),
        tags={text(key): text(value) for key, value in found.tags.items()},
    )
    _set_texts(made, found, _SAME_IN_VERDICT, _OPTIONAL_IN_VERDICT)
    for layer, one in found.layers.items():
        made.layers.add(
            layer=LAYER.number(layer),
            status=STATUS.number(one.status),
            explanation=text(one.explanation),
            evidence_json=json_text(one.evidence),
        )
    for score in found.call_scores:
        made.call_scores.add(seq=score.seq, name=text(score.name), passed=score.passed)
    for finding in found.findings:
        made.findings.add(
            check=text(finding.check),
            layer=LAYER.number(finding.layer),
            status=STATUS.number(finding.status),
            explanation=text(finding.explanation),
            evidence_json=json_text(finding.evidence),
        )
    return made


def _set_texts(made: Any, found: Any, same: Iterable[str], optional: Iterable[str]) -> None:
    for name in same:
        setattr(made, name, text(getattr(found, name)))
    for name in optional:
        value = getattr(found, name)
        if value is not None:
            setattr(made, name, text(value))


def cell(found: Cell) -> messages.Cell:
    return messages.Cell(expected=text(found.expected), observed=text(found.observed))


def decision(found: Decision) -> messages.Decision:
    made = messages.Decision(
        start_unix_nano=found.start_ns,
        status=STATUS.number(found.status),
        cells=map(cell, found.cells),
        excluded=None if found.excluded is None else EXCLUSION.number(found.excluded),
        severity=_severity(found.severity),
        origin=ORIGIN.number(found.origin),
        failed_calls=found.failed_calls,
        loops=found.loops,
        duration_nano=_bounded(found.duration_ns),
        input_tokens=_bounded(found.input_tokens),
        output_tokens=_bounded(found.output_tokens),
        cost_usd=found.cost_usd,
        counts=found.counts,
    )
    _set_texts(made, found, SAME_IN_DECISION, OPTIONAL_IN_DECISION)
    for layer, status in found.layers.items():
        made.layers.add(layer=LAYER.number(layer), status=STATUS.number(status))
    for tool, flag in found.calls:
        made.calls.add(tool=text(tool), flag=flag)
    for tool, flag in found.scored:
        made.scored.add(tool=text(tool), flag=flag)
    for name in LISTS_IN_DECISION:
        getattr(made, name).extend(map(text, getattr(found, name)))
    return made


def _severity(word: str) -> Any:
    return SEVERITY.number(word) if word in SEVERITY else messages.SEVERITY_UNSPECIFIED


def _bounded(number: int | None) -> int | None:
    """What a trace claims may be any number; a message holds 64 bits."""
    return None if number is None else max(-_INT64, min(number, _INT64))


def evaluation_of(found: Evaluation) -> evaluation.Evaluation:
    made = evaluation.Evaluation(
        suite=text(found.suite),
        kind=KIND.number(found.kind),
        runs=found.runs,
        unmatched_runs=found.unmatched_runs,
        warnings=map(text, found.warnings),
    )
    for one in found.judgements:
        made.judgements.add(verdict=verdict(one.verdict), severity=_severity(one.severity))
    return made


def served(found: Iterable[ServedSuite]) -> evaluation.ListSuitesResponse:
    made = evaluation.ListSuitesResponse()
    for one in found:
        made.suites.add(
            name=text(one.name), kind=KIND.number(one.kind), version=text(one.version), cases=one.cases
        )  # fmt: skip
    return made


def label_outcome(found: LabelOutcome) -> evaluation.EvaluateLabelResponse:
    return evaluation.EvaluateLabelResponse(
        run_id=found.run_id,
        accepts=found.accepts,
        verdict=verdict(found.verdict),
        decisions=map(decision, found.decisions),
        stored=found.stored,
        changed=found.changed,
    )


def scope(found: Scope) -> confusion.Scope:
    return confusion.Scope(
        suites=found.suite,
        policies=found.policy,
        tools=found.tool,
        agents=found.agent,
        services=found.service,
        models=found.model,
        prompts=found.prompt,
        catalogs=found.catalog,
        tenants=found.tenant,
        origins=[ORIGIN.number(word) for word in found.origin],
        pair=None if found.pair is None else messages.Cell(expected=found.pair[0], observed=found.pair[1]),
    )


def windowed(found: Windowed) -> confusion.WindowFigures:
    low, high = found.right.ci95 if found.right.ci95 is not None else (None, None)
    made = confusion.WindowFigures(
        start_unix_nano=found.window.start_ns,
        end_unix_nano=found.window.end_ns,
        by=[confusion.Dimension(name=name, value=text(value)) for name, value in found.series],
        right=confusion.Rate(
            passed=found.right.passed, n=found.right.n, rate=found.right.rate, ci95_low=low, ci95_high=high
        ),
    )
    _set_confusion(made, found.confusion)
    return made


def _set_confusion(made: confusion.WindowFigures, found: Confusion) -> None:
    for one, n in found.cells:
        made.cells.add(cell=cell(one), n=n)
    for name, figures in found.tools.items():
        made.tools.add(
            tool=text(name),
            recall=figures.recall,
            precision=figures.precision,
            f1=figures.f1,
            support=figures.support,
            chosen=figures.chosen,
            correct=figures.correct,
        )
    worst = found.worst_recall
    if worst is not None:
        made.worst_recall.CopyFrom(
            confusion.WorstRecall(tool=text(worst.tool), recall=worst.recall, support=worst.support)
        )
