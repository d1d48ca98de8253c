"""Rule tests: what was given and expected, and how it came out (design section 6, house habit 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from otel_toolselect.model.runs import Run

UNMATCHED = "unmatched"


@dataclass(frozen=True, slots=True)
class ExpectedVerdict:
    """What one rule (or case) must say of one run. What is not written is not compared.

    `status` is a status word, or `unmatched`: the rule is not about the run. `says` must be part of an explanation.
    """

    rule: str
    run: str | None = None
    status: str | None = None
    layers: Mapping[str, str] = field(default_factory=dict)
    failure: str | None = None
    owner: str | None = None
    first_action: str | None = None
    says: str | None = None
    line: int = 0


@dataclass(frozen=True, slots=True)
class RuleTest:
    """`runs` are given as events; or `span_files` (beside the test file) and `spans` (one OTLP/JSON request) are read
    as traces are. `judge` answers questions about free text: the first key that the question holds.
    """

    name: str
    line: int
    expect: tuple[ExpectedVerdict, ...]
    runs: tuple[Run, ...] = ()
    span_files: tuple[str, ...] = ()
    spans: Mapping[str, Any] | None = None
    judge: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TestFile:
    """`files` are the rule files and suites under test, relative to this file."""

    __test__ = False

    path: str
    files: tuple[str, ...]
    tests: tuple[RuleTest, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that came out otherwise. `why` is what the rule said."""

    rule: str
    what: str
    expected: str
    got: str
    why: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class TestOutcome:
    """`error`: the test could not be carried out at all (spans that cannot be read, a rule that is not there)."""

    __test__ = False

    path: str
    line: int
    name: str
    differences: tuple[Difference, ...] = ()
    error: str | None = None
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        return not self.differences and self.error is None
