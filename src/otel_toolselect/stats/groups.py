"""Metamorphic groups and paired cases (R16, R17).

The *route* of a case is its most frequent first action over the judged runs (the first by name of equals).

- A group `same` (paraphrase, reorder, noise) is stable when every run of every member took one and the same first
  action: a member that flips breaks it too.
- A group `different` (describe -> update; with and without the identifier) is stable when no two members share a route.
- share = runs that took the group's most frequent action / runs of the group; it tells a wobble from a split.
- A group with fewer than two observed members is not judged: stable is None.
- right: every observed member passes by majority. A group can be stable and wrong. None when a member has no outcome.

Group level: stable groups / judged groups. A pair is a group with exactly two members.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from otel_toolselect.model.facts import CaseGroup
from otel_toolselect.model.figures import Rate
from otel_toolselect.model.verdicts import RunVerdict
from otel_toolselect.stats.rates import rate
from otel_toolselect.stats.repeats import CaseRepeats, repeats


@dataclass(frozen=True, slots=True)
class GroupStability:
    """`routes`: by case, in order of case id; `missing`: members without a judged run."""

    id: str
    relation: str
    routes: Mapping[str, str]
    missing: tuple[str, ...]
    stable: bool | None
    share: float | None
    right: bool | None

    @property
    def pair(self) -> bool:
        return len(self.routes) + len(self.missing) == 2


def group_stability(runs: Iterable[RunVerdict], groups: Mapping[str, CaseGroup]) -> tuple[GroupStability, ...]:
    """Stability of every group, by id."""
    cases = {case.case_id: case for case in repeats(runs).cases}
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for case_id, group in sorted(groups.items()):
        members[group.id, group.relation].append(case_id)
    return tuple(_group(*key, names, cases) for key, names in sorted(members.items()))


def stable_groups(found: Iterable[GroupStability]) -> Rate:
    """Stable groups of those that could be judged."""
    judged = [group.stable for group in found if group.stable is not None]
    return rate(sum(judged), len(judged))


def right_pairs(found: Iterable[GroupStability]) -> Rate:
    """Pairs of which both cases are right (R17): one without the other may be luck."""
    judged = [group.right for group in found if group.pair and group.right is not None]
    return rate(sum(judged), len(judged))


def _group(name: str, relation: str, members: list[str], cases: Mapping[str, CaseRepeats]) -> GroupStability:
    observed = [cases[case_id] for case_id in members if case_id in cases]
    missing = tuple(case_id for case_id in members if case_id not in cases)
    actions: Counter[str] = Counter()
    for case in observed:
        actions.update(dict(case.actions))
    routes = {case.case_id: case.actions[0][0] for case in observed}
    stable: bool | None = None
    if len(observed) > 1:
        stable = len(actions) == 1 if relation == "same" else len(set(routes.values())) == len(routes)
    outcomes = [case.majority for case in observed]
    known = len(observed) > 1 and not missing and None not in outcomes
    return GroupStability(
        id=name,
        relation=relation,
        routes=routes,
        missing=missing,
        stable=stable,
        share=max(actions.values()) / actions.total() if actions else None,
        right=all(outcomes) if known else None,
    )
