"""What triage finds: failures in bundles, clustered and ranked (R51). The measures are defined in `triage.bundles`."""

from __future__ import annotations

from dataclasses import dataclass

from otel_toolselect.model.runs import Run
from otel_toolselect.model.verdicts import Finding, LayerVerdict, RunVerdict

FIRST_ACTION = "first action"


@dataclass(frozen=True, slots=True)
class ToolError:
    """A call that failed in the run."""

    tool: str
    error: str
    infra: bool


@dataclass(frozen=True, slots=True)
class Bundle:
    """Everything that somebody needs to look at one run, and to run it again.

    `offered`: whether the expected tool was offered, None where the trace holds no catalog or no tool was expected.
    `failed` are the layers that failed, `broken` what the checks that failed found; `rerun`: how to judge the run
    again, and how to make another one.
    """

    verdict: RunVerdict
    risk: str
    weight: float
    place: str
    failed: tuple[tuple[str, LayerVerdict], ...]
    broken: tuple[Finding, ...]
    errors: tuple[ToolError, ...]
    offered: bool | None
    rerun: tuple[str, ...]
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """`layer` is "first action" for a confusion pair, else the layer that failed. Bundles: riskiest first."""

    expected: str
    observed: str
    layer: str
    owner: str
    failures: tuple[tuple[str, int], ...]
    score: float
    cases: int
    bundles: tuple[Bundle, ...]


@dataclass(frozen=True, slots=True)
class Triage:
    suite: str
    judged: int
    failed: int
    clusters: tuple[Cluster, ...]
    review: tuple[Bundle, ...]
    passes: tuple[Bundle, ...]
    passed: int
