"""Findings -> one verdict per layer (R24): the worst status, one sentence, the evidence of all of them merged.

fail beats needs_review beats pass; a layer without a deciding finding is n/a. Evidence of several findings is merged
by key: lists are joined, a plain value is kept from the first finding that has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from otel_toolselect.model.rulings import worst
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


# Checks give the same read-only finding for run after run where they can (see `kinds._arguments`), so what several of
# them come to repeats as well. By identity: findings are kept beside, so that their ids name nothing else meanwhile.
# Only passes are kept: of what failed, evidence is each run's own.
_made: dict[tuple[Layer, tuple[int, ...]], tuple[Sequence[Finding], LayerVerdict]] = {}
_folded: dict[tuple[int, ...], tuple[Sequence[Finding], dict[Layer, LayerVerdict]]] = {}
_applying: dict[int, tuple[Mapping[Layer, LayerVerdict], dict[Layer, Status], Status]] = {}
_MOST = 8_192


def fold(findings: Sequence[Finding]) -> Mapping[Layer, LayerVerdict]:
    """Verdicts of all layers, in their fixed order. Read-only, as findings are: runs share what is the same."""
    key = tuple([id(f) for f in findings])
    known = _folded.get(key)
    if known is not None:
        return known[1]
    layers = _fold(findings)
    if all(f.status == "pass" for f in findings):
        if len(_folded) >= _MOST:
            _folded.clear()
            _applying.clear()
        _folded[key] = findings, layers
        _applying[id(layers)] = layers, *_words(layers)
    return layers


def applying(layers: Mapping[Layer, LayerVerdict]) -> tuple[Mapping[Layer, Status], Status]:
    """The statuses of layers that apply, and the one word for all of them (`model.rulings.overall`)."""
    known = _applying.get(id(layers))
    return known[1:] if known is not None and known[0] is layers else _words(layers)


def _words(layers: Mapping[Layer, LayerVerdict]) -> tuple[dict[Layer, Status], Status]:
    found: dict[Layer, Status] = {k: verdict.status for k, verdict in layers.items() if verdict.status != "n/a"}
    return found, worst(found.values())


def _fold(findings: Sequence[Finding]) -> dict[Layer, LayerVerdict]:
    by_layer: dict[Layer, list[Finding]] = {}
    for finding in findings:
        if finding.layer in by_layer:
            by_layer[finding.layer].append(finding)
        else:
            by_layer[finding.layer] = [finding]
    verdicts = dict(NOT_APPLICABLE)  # which has all layers, in their order
    for layer, found in by_layer.items():
        verdicts[layer] = _layer(layer, found)
    return verdicts


def _layer(layer: Layer, findings: Sequence[Finding]) -> LayerVerdict:
    for finding in findings:
        if finding.status != "pass":
            return _verdict(layer, findings)
    key = (layer, tuple([id(f) for f in findings]))
    known = _made.get(key)
    if known is None:
        if len(_made) >= _MOST:
            _made.clear()
        known = _made[key] = (findings, _verdict(layer, findings))
    return known[1]


def exclude(why: str) -> dict[Layer, LayerVerdict]:
    """Verdicts of a run that left the denominators."""
    verdict = LayerVerdict("excluded", why)
    return dict.fromkeys(LAYERS, verdict)


def _verdict(layer: Layer, findings: Sequence[Finding]) -> LayerVerdict:
    # an empty list of both is what a reader may rely on
    evidence: dict[str, Any] = {"missing_required": [], "forbidden_observed": []} if layer == "selection" else {}
    first = findings[0]
    evidence.update(first.evidence)
    status, said = first.status, first.explanation
    if len(findings) > 1:
        _merge(evidence, findings[1:])
        status = min((f.status for f in findings), key=_RANK.__getitem__)
        said = "; ".join(dict.fromkeys([f.explanation for f in findings if f.status == status]))
    # how checks tell exclusion what rests on absence; readers have `missing_required` and the sentence
    evidence.pop("missing", None)
    return LayerVerdict(status, said, evidence)


def _merge(evidence: dict[str, Any], findings: Sequence[Finding]) -> None:
    for finding in findings:
        for key, value in finding.evidence.items():
            before = evidence.get(key)
            if not isinstance(before, list) or not isinstance(value, list):
                evidence.setdefault(key, value)
            elif value:
                evidence[key] = before + [v for v in value if v not in before]
