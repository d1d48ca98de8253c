"""The agency gap: tools that an agent can reach against tools that it uses (R49); redundant calls (R32).

Per agent, over its runs: offered = tools of any recorded catalog; used = tools that some run called. gap = offered
tools that no run used / offered tools. `ghosts` were called without being offered in that run's catalog. Runs without a
recorded catalog say nothing about what was offered: they are counted in `unknown`, their calls count as used.

redundancy (call level) = redundant calls / all calls, over runs; `rules.repeats` says which call is redundant.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from otel_toolselect.model.facts import RunFacts
from otel_toolselect.model.figures import Rate
from otel_toolselect.stats.rates import rate


@dataclass(frozen=True, slots=True)
class Agency:
    agent: str
    runs: int
    unknown: int
    offered: tuple[str, ...]
    used: tuple[str, ...]
    unused: tuple[str, ...]
    ghosts: tuple[str, ...]
    gap: Rate


def agency(facts: Iterable[RunFacts]) -> tuple[Agency, ...]:
    """One row per agent, by name; runs without an agent's name are the agent ""."""
    by_agent: dict[str, list[RunFacts]] = defaultdict(list)
    for fact in facts:
        by_agent[fact.agent or ""].append(fact)
    return tuple(_agency(name, found) for name, found in sorted(by_agent.items()))


def redundancy(facts: Iterable[RunFacts]) -> Rate:
    """Redundant calls of all calls."""
    kept = list(facts)
    return rate(sum(fact.redundant for fact in kept), sum(fact.calls for fact in kept))


def _agency(name: str, facts: list[RunFacts]) -> Agency:
    offered = {tool for fact in facts for tool in fact.tools_offered or ()}
    used = {tool for fact in facts for tool in fact.tools_used}
    ghosts = {t for f in facts if f.tools_offered is not None for t in f.tools_used if t not in f.tools_offered}
    unused = offered - used
    return Agency(
        agent=name,
        runs=len(facts),
        unknown=sum(fact.tools_offered is None for fact in facts),
        offered=tuple(sorted(offered)),
        used=tuple(sorted(used)),
        unused=tuple(sorted(unused)),
        ghosts=tuple(sorted(ghosts)),
        gap=rate(len(unused), len(offered)),
    )
