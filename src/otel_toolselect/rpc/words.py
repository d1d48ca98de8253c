"""Words of the model and the numbers that stand for them on the wire, in both directions.

A number that this version does not know reads as "unknown": a client may be older than its server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from otel_toolselect.model.verdicts import LAYERS
from otel_toolselect.rpc.gen import evaluation_service_pb2 as evaluation
from otel_toolselect.rpc.gen import verdict_pb2 as verdict

UNKNOWN = "unknown"


class Words:
    """One enum. `number` raises KeyError for a word that is none of the model's."""

    def __init__(self, enum: Any, prefix: str, words: Mapping[str, str]) -> None:
        """`words`: of the model -> the end of the name on the wire."""
        self._numbers: dict[str, int] = {word: enum.Value(f"{prefix}_{name}") for word, name in words.items()}
        self._words = {number: word for word, number in self._numbers.items()}

    def number(self, word: str) -> Any:
        return self._numbers[word]

    def word(self, number: int) -> Any:
        return self._words.get(number, UNKNOWN)

    def optional(self, number: int) -> Any:
        """As `word`; "" for the number of nothing."""
        return self.word(number) if number else ""

    def __contains__(self, word: object) -> bool:
        return word in self._numbers


STATUS = Words(
    verdict.Status,
    "STATUS",
    {
        "pass": "PASS",
        "fail": "FAIL",
        "n/a": "NOT_APPLICABLE",
        "excluded": "EXCLUDED",
        "needs_review": "NEEDS_REVIEW",
    },
)
LAYER = Words(verdict.Layer, "LAYER", {layer: layer.upper() for layer in LAYERS})
EXCLUSION = Words(
    verdict.Exclusion, "EXCLUSION", {word: word.upper() for word in ("infra", "catalog_gap", "incomplete")}
)
ORIGIN = Words(
    verdict.Origin, "ORIGIN", {word: word.upper() for word in ("suite", "rule", "attribute", "person", "judge")}
)
SEVERITY = Words(verdict.Severity, "SEVERITY", {word: word.upper() for word in ("info", "warning", "critical")})
KIND = Words(evaluation.SuiteKind, "SUITE_KIND", {"suite": "SUITE", "rules": "RULES"})
