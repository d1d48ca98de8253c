"""Findings -> one verdict per layer (R24): the worst status, one sentence, the evidence of all of them merged.

fail beats needs_review beats pass; a layer without a deciding finding is n/a. Evidence of several findings is merged
by key: lists are joined, a plain value is kept from the first finding that has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_toolselect.model.verdicts import LAYERS, Finding, Layer, LayerVerdict, Status

_RANK: Mapping[Status, int] = {"fail": 0, "needs_review": 1, "pass": 2, "n/a": 3, "excluded": 4}
_WHY_NOT: Mapping[Layer, str] = {
    "selection": "the case says nothing about which action to take",
    "arguments": "no call with the right tool has an argument expectation or a known schema",
    "sequencing": "no order constraint concerns this run",
    "abstention": "the case's class leaves open whether a tool is called",
    "clarification": "the case expects no question",
    "execution": "no call has a known outcome",
    "outcome": "the case says nothing about the final answer",
    "efficiency": "the case sets no budget",
}
NOT_APPLICABLE: Mapping[Layer, LayerVerdict] = {layer: LayerVerdict("n/a", _WHY_NOT[layer]) for layer in LAYERS}


def fold(findings: Sequence[Finding]) -> dict[Layer, LayerVerdict]:
    """Verdicts of all layers, in their fixed order."""
    by_layer: dict[Layer, list[Finding]] = {}
    for finding in findings:
        by_layer.setdefault(finding.layer, []).append(finding)
    return {layer: _verdict(layer, by_layer[layer]) if layer in by_layer else NOT_APPLICABLE[layer] for layer in LAYERS}


def exclude(why: str) -> dict[Layer, LayerVerdict]:
    """Verdicts of a run that left the denominators."""
    verdict = LayerVerdict("excluded", why)
    return dict.fromkeys(LAYERS, verdict)


def _verdict(layer: Layer, findings: Sequence[Finding]) -> LayerVerdict:
    evidence = _merged(findings) if len(findings) > 1 else dict(findings[0].evidence)
    # how checks tell exclusion what rests on absence; readers have `missing_required` and the sentence
    evidence.pop("missing", None)
    if layer == "selection":
        evidence = {"missing_required": [], "forbidden_observed": [], **evidence}
    if len(findings) == 1:
        return LayerVerdict(findings[0].status, findings[0].explanation, evidence)
    worst = min((f.status for f in findings), key=_RANK.__getitem__)
    said = "; ".join(dict.fromkeys(f.explanation for f in findings if f.status == worst))
    return LayerVerdict(worst, said, evidence)


def _merged(findings: Sequence[Finding]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for finding in findings:
        for key, value in finding.evidence.items():
            before = merged.get(key)
            if isinstance(before, list) and isinstance(value, list):
                merged[key] = before + [v for v in value if v not in before]
            elif key not in merged:
                merged[key] = value
    return merged
