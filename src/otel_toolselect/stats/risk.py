"""Selection by risk: raw counts per class and one weighted rate beside the raw one, never instead of it (R40).

weighted = sum of weight x passed / sum of weight x n over the risk classes. Default weights double from class to class
(low 1, medium 2, high 4, critical 8); a case without a risk weighs 1. Observation level: over judged runs. The weights
are part of the result, because the figure means nothing without them; it has no interval, being no proportion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from otel_toolselect.model.figures import Rate
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.stats.rates import rate
from otel_toolselect.stats.repeats import selected

UNSTATED = "unstated"
WEIGHTS: Mapping[str, float] = {"critical": 8, "high": 4, "medium": 2, "low": 1, UNSTATED: 1}


@dataclass(frozen=True, slots=True)
class RiskView:
    """`classes`: riskiest first. `weighted` None when nothing was observed."""

    raw: Rate
    weighted: float | None
    classes: Mapping[str, Rate]
    weights: Mapping[str, float]


def risk_view(runs: Iterable[RunVerdict], weights: Mapping[str, float] = WEIGHTS) -> RiskView:
    """A class that `weights` does not name weighs like an unstated one."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for run in runs:
        passed = selected(run)
        if passed is not None:
            tally = counts[run.risk or UNSTATED]
            tally[0] += passed
            tally[1] += 1
    fallback = weights.get(UNSTATED, 1)
    used = {name: weights.get(name, fallback) for name in counts}
    names = sorted(counts, key=lambda name: (-used[name], name == UNSTATED, name))
    total = sum(used[name] * counts[name][1] for name in names)
    return RiskView(
        raw=rate(sum(c[0] for c in counts.values()), sum(c[1] for c in counts.values())),
        weighted=sum(used[name] * counts[name][0] for name in names) / total if total else None,
        classes={name: rate(*counts[name]) for name in names},
        weights={name: used[name] for name in names},
    )
