"""After a fix: which cases are run again (R53)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from otel_toolselect.errors import UsageError
from otel_toolselect.model.figures import Report
from otel_toolselect.rules import Suite
from otel_toolselect.triage.bundles import pair_of


@dataclass(frozen=True, slots=True)
class After:
    """What was before a fix: of its failures those in one of the `clusters` (expected, observed), all without any."""

    report: Report
    clusters: Sequence[tuple[str, str]] = ()


def affected(suite: Suite, after: After) -> Suite:
    """The cases of the suite that failed before, and those of the core set (tag `bucket: core`), which must not get
    worse (R53). Raises UsageError when nothing failed.
    """
    failed = [
        run
        for run in after.report.runs
        if run.excluded is None and any(verdict.status == "fail" for verdict in run.layers.values())
    ]
    pairs = {pair_of(run)[:2] for run in failed}
    unknown = [f"{a}:{b}" for a, b in after.clusters if (a, b) not in pairs]
    if unknown or not failed:
        known = ", ".join(sorted(f"{a}:{b}" for a, b in pairs)) or "none"
        raise UsageError(f"no failure there of {', '.join(unknown) or 'any kind'}; failures: {known}")
    wanted = set(after.clusters) or pairs
    ids = {run.case_id for run in failed if pair_of(run)[:2] in wanted}
    return replace(suite, cases=tuple(c for c in suite.cases if c.id in ids or c.tags.get("bucket") == "core"))
