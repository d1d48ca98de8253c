"""What judging says under a `rules:` file: one verdict per rule and run that the rule matches (R47)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from otel_toolselect.model.quick import quick
from otel_toolselect.model.verdicts import RunVerdict, Status


@quick
@dataclass(frozen=True, slots=True)
class Ruling:
    """One run under one rule. `verdict.suite` is the file's name and `verdict.case_id` the rule's id; its `owner` is
    the rule's, where the rule names one and the run failed.
    """

    rule: str
    severity: str
    owner: str | None
    verdict: RunVerdict

    @property
    def status(self) -> Status:
        return overall(self.verdict)


@dataclass(frozen=True, slots=True)
class Rulings:
    """All rulings of one file, in order of rule (as in the file), time and run id.

    `runs` were looked at, `unmatched_runs` of them are the business of no rule; `rules_without_run` saw no traffic,
    which is not the same as having passed.
    """

    rules: str
    rulings: tuple[Ruling, ...]
    runs: int = 0
    unmatched_runs: int = 0
    rules_without_run: tuple[str, ...] = ()
    policy_version: str = ""


def overall(verdict: RunVerdict) -> Status:
    """The one word for a verdict: excluded; else the worst of its layers; n/a when none applies."""
    if verdict.excluded is not None:
        return "excluded"
    return worst([layer.status for layer in verdict.layers.values()])


def worst(statuses: Collection[Status]) -> Status:
    """The worst of some layers' statuses; n/a when none applies."""
    for status in _WORST_FIRST:
        if status in statuses:
            return status
    return "n/a"


_WORST_FIRST: tuple[Status, ...] = ("fail", "needs_review", "pass")
