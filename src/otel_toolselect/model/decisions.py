"""Decisions: one flat record per judged run and expectation, what windows, signals and metrics count (R4, R48).

A verdict explains one run to a person; a decision is what is left of it for counting, with everything that figures are
cut by. It is worked out once, when the run is judged, so that no query has to open evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from otel_toolselect.model.quick import quick
from otel_toolselect.model.verdicts import Cell, Exclusion, Layer, Status

Origin: TypeAlias = Literal["suite", "rule", "attribute", "person", "judge"]
"""Who said what was expected: a case of a suite, a rule on unlabelled traffic, the trace itself
(`toolselect.expected`), a person, a judge.
"""


LABELS = "labels"
"""The `suite` of decisions on labelled traffic; their `rule` is the origin, so that each has a decision of its own."""


@quick
@dataclass(frozen=True, slots=True)
class Decision:
    """One run under one suite (`rule` ""), under one rule of a rule file, under a label (`suite` `LABELS`), or (`suite`
    "") under no expectation at all. Times in nanoseconds UTC. `counts` False: another origin has precedence for this
    run (`model.labels.PRECEDENCE`), so that this decision is left out of figures that are not cut by origin.

    `status` is the one word for the verdict (`model.rulings.overall`); `layers` holds those that apply. `cells` as in
    the verdict: none for an excluded run. `calls`: (tool, redundant or not) of each call in order; `scored`: (tool,
    right or not) of each whose arguments were judged. `ghosts`, `forbidden`, `unauthorized` name a tool once for each
    such call: not offered; ruled out by an expectation and may have changed something; the same or a change that
    nothing asked for (as the gate counts them). `failed_calls` counts calls, `loops` identical ones that failed again
    and again. What the trace does not say is None or "".
    """

    suite: str
    rule: str
    run_id: str
    trace_id: str
    case_id: str
    start_ns: int
    status: Status
    first_action: str
    observed_class: str
    cells: tuple[Cell, ...] = ()
    layers: Mapping[Layer, Status] = field(default_factory=dict)
    excluded: Exclusion | None = None
    failure: str | None = None
    owner: str | None = None
    severity: str = ""
    risk: str | None = None
    origin: Origin = "suite"
    service: str = ""
    agent: str | None = None
    provider: str | None = None
    model: str | None = None
    prompt_version: str | None = None
    catalog_id: str | None = None
    tenant: str = ""
    label: str | None = None
    policy_version: str | None = None
    calls: tuple[tuple[str, bool], ...] = ()
    scored: tuple[tuple[str, bool], ...] = ()
    ghosts: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    unauthorized: tuple[str, ...] = ()
    failed_calls: int = 0
    loops: int = 0
    duration_ns: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    counts: bool = True
