"""Which failures to show first (R51): those that could do harm, then those that are part of a pattern.

Order: a forbidden or premature action before anything else, then the case's risk, then how many layers
failed, then how often the same confusion pair occurs, then case and run id. Of runs that failed alike (same
pair, same failure label) one is shown before a second one is, because three copies of one mistake teach less
than three mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from otel_toolselect.model.figures import Report
from otel_toolselect.model.verdicts import Layer, RunVerdict

RISKS = {"critical": 0, "high": 1, "medium": 2, "low": 4}
UNSTATED_RISK = 3


def failed_layers(run: RunVerdict) -> list[Layer]:
    """The layers that failed; empty for an excluded run."""
    return [] if run.excluded else [name for name, verdict in run.layers.items() if verdict.status == "fail"]


def worst_failures(report: Report, limit: int) -> list[RunVerdict]:
    """At most `limit` failed runs, worst first."""
    failed = [run for run in report.runs if failed_layers(run)]
    pairs: Counter[tuple[str, str]] = Counter((cell.expected, cell.observed) for run in failed for cell in run.cells)
    ranked = sorted(failed, key=lambda run: _rank(run, pairs))
    return _varied(ranked)[:limit]


def _rank(run: RunVerdict, pairs: Counter[tuple[str, str]]) -> tuple[int, int, int, int, str, str]:
    misses = [pairs[c.expected, c.observed] for c in run.cells if c.expected != c.observed]
    return (
        0 if _acted_wrongly(run) else 1,
        RISKS.get(run.risk or "", UNSTATED_RISK),
        -len(failed_layers(run)),
        -max(misses, default=0),
        run.case_id,
        run.run_id,
    )


def _acted_wrongly(run: RunVerdict) -> bool:
    if run.failure in ("premature_action", "unauthorized_mutation"):
        return True
    return any(f.check == "never" and f.status == "fail" for f in run.findings)


def _varied(ranked: Sequence[RunVerdict]) -> list[RunVerdict]:
    """The same runs, the first of each kind of failure before the second of any."""
    seen: Counter[object] = Counter()
    rounds: list[tuple[int, int]] = []
    for index, run in enumerate(ranked):
        kind = (run.failure, tuple((c.expected, c.observed) for c in run.cells))
        rounds.append((seen[kind], index))
        seen[kind] += 1
    return [ranked[index] for _, index in sorted(rounds)]
