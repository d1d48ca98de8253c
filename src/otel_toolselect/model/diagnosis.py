"""What a diagnosis of one confusion pair says, layer by layer (R52)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from otel_toolselect.model.figures import Rate

Answer: TypeAlias = Literal["yes", "no", "mixed", "unknown", "n/a"]


@dataclass(frozen=True, slots=True)
class Step:
    """One question about the pair. `unknown`: the data cannot tell, and the explanation says what would."""

    question: str
    answer: Answer
    explanation: str
    texts: tuple[tuple[str, str], ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`share`: runs of the pair / runs that wanted `expected`. `conclusion` is the likeliest reading of the steps."""

    suite: str
    expected: str
    observed: str
    share: Rate
    cases: tuple[str, ...]
    steps: tuple[Step, ...]
    conclusion: str
    then: str
